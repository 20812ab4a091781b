"""Directories that are no whole run: one error that names the file, and nothing that is left half-written."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import longhaul
from longhaul.cli.main import longhaul as command
from longhaul.errors import LonghaulError
from longhaul.report.html import charts
from longhaul.report.page import write_page

SHORT = """
version: 1
name: short
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 2ms, rate: 1Mbit}}
traffic: {load: {kind: udp, from: a, to: b, rate: 500kbit}}
measure: {packets: {links: [wan]}}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("whole")
    (place / "short.yaml").write_text(SHORT)
    return longhaul.run_sim(place / "short.yaml", runs=place / "runs").directory


@pytest.fixture
def broken(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "broken")


def report(*arguments: object) -> str:
    """What is printed; an error is only ever one of the user's."""
    result = CliRunner().invoke(command, ["report", *map(str, arguments)])
    if result.exit_code:
        assert isinstance(result.exception, LonghaulError), result.exception
        assert result.exception.exit_code == 2
        return str(result.exception)
    return result.output


def files(place: Path) -> dict[str, bytes]:
    return {str(each.relative_to(place)): each.read_bytes() for each in place.rglob("*") if each.is_file()}


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:40])


@pytest.mark.parametrize("spoil", [cut, Path.unlink])
@pytest.mark.parametrize(
    "name", ["run.json", "plan.json", "scenario.yaml", "raw/traffic.json", "summary.json"]
)
def test_a_comparison_names_what_is_missing_or_damaged(
    broken: Path, whole: Path, tmp_path: Path, name: str, spoil: Callable[[Path], None]
) -> None:
    spoil(broken / name)
    said = report("--compare", broken, whole, "--output", tmp_path / "out.html")
    if (name, spoil) == ("summary.json", Path.unlink):
        # Results that are missing are made again.
        assert said == f"{tmp_path / 'out.html'}\n"
    elif (name, spoil) == ("plan.json", Path.unlink):
        assert f"{broken} is not a run directory" in said
    else:
        assert str(broken / name) in said
        assert not list(tmp_path.glob("*.html"))
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["links", "packets"])
def test_a_damaged_table_is_an_error_not_a_missing_figure(broken: Path, name: str) -> None:
    cut(broken / f"{name}.parquet")
    with pytest.raises(
        LonghaulError, match=f"{name}.parquet is damaged: .*; write it again: longhaul report"
    ):
        charts(broken)
    assert report(broken) == f"{broken / 'report.html'}\n"
    assert "throughput" in {chart.name for chart in charts(broken)}


@pytest.mark.parametrize("name", ["run.json", "plan.json", "scenario.yaml", "raw/engine.json"])
def test_a_report_names_what_is_damaged(broken: Path, name: str) -> None:
    if name == "scenario.yaml":
        (broken / name).unlink()
    else:
        (broken / name).write_bytes(b"link\n1\n")
    assert str(broken / name) in report(broken)


@pytest.mark.parametrize("has_manifest", [True, False])
def test_damaged_samples_cost_what_is_over_time_alone(broken: Path, has_manifest: bool) -> None:
    (broken / "raw" / "samples.csv").write_bytes(b"link\n1\n")
    if not has_manifest:
        (broken / "manifest.json").unlink()
    assert report(broken) == f"{broken / 'report.html'}\n"
    drawn = {chart.name for chart in charts(broken)}
    assert "throughput" not in drawn
    assert "packet-delays" in drawn
    fidelity = json.loads((broken / "fidelity.json").read_text())
    found = [each["what"] for each in fidelity["reasons"]]
    assert "2 damaged lines of raw/samples.csv left out" in found
    assert fidelity["verdict"] == ("invalid" if has_manifest else "degraded")
    assert has_manifest == any("raw/samples.csv is damaged: it has 7 of" in each for each in found)
    page = (broken / "report.html").read_text()
    assert has_manifest != ("the timing exceeded a limit or records are incomplete" in page)


def test_results_without_records_stay_as_they_are(broken: Path) -> None:
    shutil.rmtree(broken / "raw")
    before = files(broken)
    assert "has no raw/ that results could be made from" in report(broken)
    assert files(broken) == before


def test_a_run_that_was_cut_short_has_a_report_and_says_that_it_is_invalid(broken: Path, whole: Path) -> None:
    for name in ("summary.json", "fidelity.json", "report.html", "manifest.json", "raw/engine.json"):
        (broken / name).unlink()
    for name in ("samples", "packets"):
        path = broken / "raw" / f"{name}.csv"
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = json.loads((broken / "run.json").read_text())
    (broken / "run.json").write_text(json.dumps({**run, "status": "running"}))
    assert "has not ended" in report("--compare", broken, whole)
    assert report(broken) == f"{broken / 'report.html'}\n"
    assert "Invalid." in (broken / "report.html").read_text()
    assert "the runs have no metric in common" in report("--compare", broken, whole)


def test_a_live_run_that_was_killed_has_the_drops_that_its_links_counted(broken: Path) -> None:
    for name in ("summary.json", "fidelity.json", "report.html", "manifest.json", "raw/engine.json"):
        (broken / name).unlink()
    (broken / "raw" / "started.json").write_text(json.dumps({"t0_unix_ns": 1}))
    samples = broken / "raw" / "samples.csv"
    head, *rows = samples.read_text().splitlines()
    last = dict(zip(head.split(","), rows[-1].split(","), strict=True))
    rows[-1] = ",".join({**last, "overflowed_packets": "162", "lost_packets": "0"}.values())
    samples.write_text("\n".join([head, *rows, ""]))
    assert report(broken) == f"{broken / 'report.html'}\n"
    summary = json.loads((broken / "summary.json").read_text())
    assert "162 by a full queue" in summary["drops"]["text"]
    assert summary["drops"]["packets"] == sum(link["undelivered_packets"] for link in summary["links"])
    assert "162 by a full queue" in (broken / "report.html").read_text()


def test_counters_of_hosts_stand_beside_the_verdict_on_hosts(broken: Path) -> None:
    counted = {"a": {"RcvPruned": 7}, "b": {"RcvPruned": 5}}
    (broken / "raw" / "hosts.json").write_text(json.dumps(counted))
    (broken / "manifest.json").unlink()
    report(broken)
    fidelity = json.loads((broken / "fidelity.json").read_text())
    assert fidelity["host_counters"] == counted
    assert fidelity["hosts"] == json.loads((broken / "summary.json").read_text())["fidelity"]["hosts"]
    assert re.search(r"RcvPruned</td>\s*<td[^>]*>12<", (broken / "report.html").read_text())


def test_a_page_that_cannot_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "page.html").mkdir()
    (tmp_path / "page.part").write_text("somebody's own")
    with pytest.raises(OSError, match="directory"):
        write_page(tmp_path / "page.html", "content")
    assert files(tmp_path) == {"page.part": b"somebody's own"}
