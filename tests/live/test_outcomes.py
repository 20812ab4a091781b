"""A run in which something failed says so on every surface, and where its log is."""

import json

import pytest

import longhaul
from longhaul.analysis.outcome import Outcome
from longhaul.cli.terminal.run import print_summary
from longhaul.page import run_list
from longhaul.report.console import Console
from longhaul.results.outcomes import read_outcome

pytestmark = pytest.mark.waiting

SCENARIO = """\
version: 1
name: failing
duration: 1s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 100Mbit}}
traffic: {probe: {kind: ping, from: a, to: b, every: 100ms}}
programs:
  crash: {run: sh -c 'echo the disk is gone >&2; exit 3', host: a}
  absent: {run: no-such-command --here, host: b}
  brittle: {run: sh -c 'sleep 0.3; exit 7', host: b, service: true}
  fickle: {run: sh -c 'sleep 0.3; exit 7', host: b, service: true, expect_exit: any}
  steady: {run: sleep 60, host: a, service: true}
  long: {run: sleep 60, host: a}
expect: [{metric: probes.probe.b.rtt.p50, max: 1ms}]
"""
FAILED = {
    ("service", "brittle", "b", 7),
    ("program", "crash", "a", 3),
    ("program", "absent", "b", None),
    ("expectation", "probes.probe.b.rtt.p50", None, None),
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> longhaul.Result:
    folder = tmp_path_factory.mktemp("failing")
    (folder / "failing.yaml").write_text(SCENARIO)
    return longhaul.run_live(folder / "failing.yaml", runs=folder / "runs")


def test_python_names_everything_that_failed_with_its_place(result: longhaul.Result) -> None:
    assert (result.good, result.exit_code) == (False, 1)
    assert {(each.kind, each.name, each.host, each.exit) for each in result.failed} == FAILED
    (crash,) = (each for each in result.failed if each.name == "crash")
    assert (crash.reason, crash.lines) == ("exit code 3, expected 0", ("the disk is gone",))
    (absent,) = (each for each in result.failed if each.name == "absent")
    assert "cannot run it" in absent.reason


def test_the_file_the_terminal_the_report_and_the_page_say_the_same(
    result: longhaul.Result, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = json.loads((result.directory / "summary.json").read_text())
    assert Outcome.from_dict(summary["outcome"]) == result.outcome
    assert read_outcome(result.directory) == result.outcome
    print_summary(summary, Console())
    printed = capsys.readouterr().out
    report = (result.directory / "report.html").read_text()
    details = run_list.details(result.directory)
    assert details["outcome"] == {"state": "failed", "detail": result.outcome.detail}
    assert details["outcome"] == run_list.row(result.directory)["outcome"]
    assert [each["text"] for each in details["failures"]] == [each.text for each in result.failed]
    for each in result.failed:
        assert each.text in printed
        assert each.text in report
    for text in ("the disk is gone",):
        assert text in printed
        assert text in report
    ends = {each["name"]: each for each in details["ended_programs"]}
    assert ends["crash"] == {
        "name": "crash",
        "host": "a",
        "ending": "exit 3",
        "failure": "exit code 3, expected 0",
    }
    assert ends["long"]["ending"] == "stopped at the end"
    assert ends["long"]["failure"] is None
    assert (ends["fickle"]["ending"], ends["fickle"]["failure"]) == ("exit 7", None)


def test_the_log_of_what_failed_can_be_read_on_the_page(result: longhaul.Result) -> None:
    assert run_list.log(result.directory, "crash", stream="err", tail=1000)["text"] == "the disk is gone\n"
