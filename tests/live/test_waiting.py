"""What is told of hosts whose programs had no processor."""

import os
from pathlib import Path

import pytest

from longhaul import _longhaul
from longhaul.analysis.fidelity import judge
from longhaul.measure import plans
from longhaul.measure.probe import measure

LOOP = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"
SPIN = ["sh", "-c", f"end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do {LOOP}; done"]


def test_more_programs_than_processors_wait() -> None:
    own = _longhaul.own_cgroup()
    if own is None or not (Path(own) / "cpu.pressure").is_file() or not os.access(own, os.W_OK):
        pytest.skip("no control groups, or no PSI: nobody counts who waits")
    many = 3 * (os.cpu_count() or 1)
    busy = [plans.program(f"spin{number}", 0, SPIN) for number in range(many)]
    idle = plans.program("idle", 1, ["sleep", "2"])
    run = measure(plans.pair(programs=[*busy, idle]))
    waiting = judge(run.engine, run.hosts).waiting
    assert waiting["near"] > 0.5
    assert waiting.get("far", 0.0) < waiting["near"] / 4
