"""What programs of a live run print is in results, expectations and the report."""

from pathlib import Path

import pytest

import longhaul

pytestmark = pytest.mark.waiting

SCENARIO = """\
version: 1
name: printing
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 100Mbit}}
programs:
  solver:
    host: a
    run: ["sh", "-c", "echo residual = 0.5; echo residual = 0.25; echo '{\\"speed\\": 12.5}'; echo '<b>'"]
    metrics:
      residual: 'residual = (.*)'
      speed: {json: speed, unit: GFLOP/s}
      absent: 'absent (.*)'
  next: {host: b, run: echo 7, start: after solver, metrics: {lucky: '([0-9]+)'}}
expect:
  - {metric: programs.solver.residual, max: 0.3}
  - {metric: programs.next.lucky, equals: 7}
  - {metric: programs.solver.absent, min: 1}
"""


def test_printed_metrics_are_in_results_expectations_and_the_report(tmp_path: Path) -> None:
    (tmp_path / "printing.yaml").write_text(SCENARIO)
    result = longhaul.run_live(tmp_path / "printing.yaml", runs=tmp_path / "runs")
    solver = next(each for each in result.summary["programs"] if each["name"] == "solver")
    assert solver["metrics"] == {
        "residual": {"value": 0.25, "unit": "", "values": 2},
        "speed": {"value": 12.5, "unit": "GFLOP/s", "values": 1},
        "absent": {"value": None, "unit": "", "values": 0},
    }
    assert [each["met"] for each in result.summary["expectations"]] == [True, True, False]
    report = (result.directory / "report.html").read_text()
    assert "<td>12.5 GFLOP/s" in report or ">12.5 GFLOP/s<" in report
    assert "Output of solver" in report
    assert "&lt;b&gt;" in report, "output is text, not HTML"
