"""Equal runs are equal bit by bit, whatever else the machine does."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from virtual_runs import BETWEEN_TWO, Longhaul, Ran, Run

TRANSFER = BETWEEN_TWO + (
    "traffic:\n"
    "  bulk: {kind: tcp, from: a, to: b, start: 100ms, stop: 900ms, cc: cubic}\n"
    "  probe: {kind: ping, from: b, to: a, every: 50ms}\n"
)


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes compute within the block."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def test_a_loaded_machine_and_one_processor_change_nothing(run: Run) -> None:
    quiet = run(TRANSFER, duration="1s")
    with load(4):
        loaded = run(TRANSFER, duration="1s")
    alone = run(TRANSFER, duration="1s", before=("taskset", "-c", "0"))

    assert [quiet.code, loaded.code, alone.code] == [0, 0, 0], quiet.stderr
    assert quiet.digest == loaded.digest == alone.digest
    assert quiet.summary["fidelity"]["verdict"] == loaded.summary["fidelity"]["verdict"] == "faithful"


def test_how_deep_the_directory_is_changes_nothing(run: Run, longhaul: Longhaul, work: Path) -> None:
    # iperf3 sends random bytes, which are drawn after the files that hosts make on the way to the directory.
    here = run(TRANSFER, duration="1s")
    deep = work / "a/b/c/d/e/f/g/h"
    deep.mkdir(parents=True)
    done = longhaul("run", str(work / "two.yaml"), "--clock", "virtual", cwd=deep)
    there = Ran(done, (deep / "runs" / "two" / "latest").resolve())

    assert (here.code, there.code) == (0, 0), there.stderr
    assert here.digest == there.digest


def test_another_seed_is_another_run(run: Run) -> None:
    first, second = run(TRANSFER, duration="1s"), run(TRANSFER, "--seed", "8", duration="1s")

    assert (first.code, second.code) == (0, 0), second.stderr
    assert first.digest != second.digest


def test_two_runs_are_equal_up_to_where_they_differ(run: Run, longhaul: Longhaul) -> None:
    first = run(TRANSFER, duration="1s")
    second = run(
        TRANSFER + "events:\n  - {at: 500ms, link: a-b, set: {delay: 12ms}}\n",
        duration="1s",
    )

    assert (first.code, second.code) == (0, 0), second.stderr
    done = longhaul("compare", str(first.directory), str(second.directory))
    # What was under way keeps its delay; what is sent from then on comes 12 ms later.
    found = re.search(r"packets differ first between (\S+) and \S+ s; packets of a, b differ", done.stdout)
    assert found, done.stdout + done.stderr
    assert 0.5 <= float(found[1]) <= 0.513
