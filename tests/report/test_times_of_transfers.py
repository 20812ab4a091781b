"""How long transfers of a size have taken is in the report and in the table of the command."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from longhaul.cli.main import longhaul as command

TEXT = """
version: 1
name: sized
duration: 3s
nodes: {a: {kind: host}, b: {kind: host}}
links: {l: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
traffic:
  short: {kind: tcp, from: a, to: b, bytes: 100kB, cc: reno}
  long: {kind: tcp, from: a, to: b, bytes: 50MB, cc: reno}
"""
UNSIZED = "  more: {kind: tcp, from: b, to: a, cc: reno}\n"


@pytest.mark.parametrize("more", ["", UNSIZED])
def test_the_time_of_a_transfer_is_shown_and_a_dash_for_one_that_goes_on(
    tmp_path: Path, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sized.yaml").write_text(TEXT + more)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shown = CliRunner().invoke(command, ["sim", "sized.yaml"], catch_exceptions=False).output
    directory = tmp_path / "runs/sized/latest"
    done = CliRunner().invoke(command, ["report", "--format", "md", str(directory)], catch_exceptions=False)
    assert done.exit_code == 0
    lines = (directory / "report.md").read_text().splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    heads = next(row for row in table if "took" in row)
    took = {row[0]: row[heads.index("took")] for row in table if len(row) == len(heads)}
    summary = json.loads((directory / "summary.json").read_text())
    times = {flow["name"]: flow["end_ns"] for flow in summary["flows"]}
    assert took["short"] == f"{times['short'] / 1e6:.0f} ms"
    assert times["long"] is None
    assert took["long"] == "-"
    assert more == "" or took["more"] == "-"
    # A table of the command has the times where all flows have a size.
    assert (took["short"] in shown) == (more == "")


@pytest.mark.parametrize(("more", "explained"), [("", True), (UNSIZED, False)])
def test_times_are_explained_where_they_are_shown(
    tmp_path: Path, more: str, explained: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = TEXT if explained else TEXT[: TEXT.index("  short")] + more
    (tmp_path / "sized.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["sim", "sized.yaml"], catch_exceptions=False).exit_code == 0
    report = (tmp_path / "runs/sized/latest/report.html").read_text()
    assert ("of a transfer with a size" in report) is explained
