"""Results of runs and sweeps in Markdown, for appendices of papers."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.report import report
from longhaul.errors import LonghaulError
from longhaul.report.markdown import escaped, markdown
from longhaul.report.tables import Cell, Column, Row, Table

TEXT = """\
version: 1
name: pair
duration: 1s
params: {cc: cubic}
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 10Mbit}}
traffic: {bulk: {kind: tcp, from: a, to: b, cc: $cc}, other: {kind: tcp, from: a, to: b}}
expect: [{metric: fairness.jain, min: 0.5}]
"""


def written(directory: Path) -> str:
    done = CliRunner().invoke(report, [str(directory), "--format", "md"], catch_exceptions=False)
    assert done.output.splitlines()[-1] == str(directory / "report.md")
    return (directory / "report.md").read_text()


def test_a_run_has_its_tables_conditions_and_scenario(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(TEXT)
    result = longhaul.run_sim(
        tmp_path / "pair.yaml", params={"cc": "reno"}, runs=tmp_path / "runs", report=False
    )
    text = written(result.directory)
    lines = text.splitlines()
    assert lines[0] == "# pair"
    heads = [line for line in lines if line.startswith("## ")]
    assert heads[:3] == ["## Expectations", "## Traffic", "## Links: configured and measured"]
    assert heads[-1] == "## Scenario"
    assert "| parameters | cc=reno |" in lines
    assert any(line.startswith("| bulk |") and "Mbit/s" in line for line in lines)
    assert "Total goodput: " in text
    assert text.endswith(f"```yaml\n{TEXT}```\n")
    widths = {line.replace("\\|", "").count("|") for line in lines if line.startswith("| bulk |")}
    assert len(widths) == 1, "a row has a cell for each column"
    assert not (result.directory / "figures").exists()


def test_a_sweep_has_a_row_for_each_variant(tmp_path: Path) -> None:
    (tmp_path / "pair.yaml").write_text(TEXT)
    swept = longhaul.sweep(
        tmp_path / "pair.yaml", axes={"cc": ["cubic", "reno"]}, runs=tmp_path / "runs", report=False
    )
    lines = written(swept.directory).splitlines()
    assert "| axes | cc: cubic, reno |" in lines
    assert [line.split(" | ")[0] for line in lines if line.startswith(("| cubic", "| reno"))] == [
        "| cubic",
        "| reno",
    ]


def test_a_comparison_is_not_written_in_markdown(tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match="one run, relay, sweep or benchmark"):
        CliRunner().invoke(report, [str(tmp_path), "--compare", "--format", "md"], catch_exceptions=False)


def test_characters_with_a_meaning_are_escaped_and_html_is_text() -> None:
    table = Table(
        [Column("a|b", is_number=False), Column("n", is_number=True)],
        [Row([Cell("<code>x &lt; y</code>", is_html=True), "*1*"]), Row([Cell("both", columns=2)])],
    )
    assert markdown(table).splitlines() == [
        "| a\\|b | n |",
        "| --- | ---: |",
        "| x \\< y | \\*1\\* |",
        "| both |  |",
    ]
    assert escaped("two\nlines") == "two lines"
