"""Time per iteration of a simulated program: on the terminal, in the report, expectations and sweeps."""

import json
from pathlib import Path

import pytest

from .conftest import Command

SCENARIO = """
version: 1
name: sums
nodes:
  r: {kind: router}
  s: {kind: router}
  a1..2: {kind: host, attach: r}
  b1..2: {kind: host, attach: s}
links: {wan: {endpoints: [r, s], delay: 5ms, rate: 100Mbit}}
programs: {sum: {simulate: {kind: allreduce, bytes: 8B, repeat: 200}, hosts: [a1..2, b1..2]}}
expect: [{metric: programs.sum.iteration.p99, max: 6ms}, {metric: programs.sum.iteration.first, min: 15ms}]
sweep: {axes: {links.wan.delay: [5ms, 20ms]}, metrics: [iteration.p50]}
"""


def test_iterations_take_the_delay_and_the_first_one_the_handshake_too(longhaul: Command, work: Path) -> None:
    (work / "sums.yaml").write_text(SCENARIO)
    ended = longhaul("sim", "sums.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    run = work / "runs/sums/latest"
    (program,) = json.loads((run / "summary.json").read_text())["programs"]
    found = program["iteration"]
    # Recursive doubling crosses the link once; before, a SYN, its answer and the ACK do.
    assert found["count"] == program["iterations"] == 200
    assert found["p50_ns"] == pytest.approx(5e6, rel=0.02)
    assert found["first_ns"] == pytest.approx(20e6, rel=0.02)
    assert (found["warm_up"], found["warm_up_ns"]) == (1, found["first_ns"])
    assert "iterations" in ended.stdout
    assert "warm-up iterations" in (run / "report.html").read_text()


def test_a_sweep_measures_iterations(longhaul: Command, work: Path) -> None:
    (work / "sums.yaml").write_text(SCENARIO)
    ended = longhaul("sweep", "sums.yaml", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "programs.sum.iteration.p50" in ended.stdout
