"""What a guest kernel does with time and randomness. Skipped where no kernel has been built."""

import os
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from longhaul.errors import LonghaulError
from longhaul.kernels.cache import Kernel, find

from .guests import measure, start

MS = 1_000_000


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    try:
        return find()
    except LonghaulError as error:
        pytest.skip(str(error))


def test_reads_of_the_clock_in_a_row_return_the_same_time(kernel: Kernel, tmp_path: Path) -> None:
    found = measure(kernel, tmp_path, "reads", "sleeps")
    assert len(set(found["reads"])) == 1
    # The slack of a timer is 50 us (prctl(2), PR_SET_TIMERSLACK), and equal each time.
    assert len(set(found["sleeps"])) == 1
    assert 1 * MS <= found["sleeps"][0] <= 1.06 * MS


def test_loops_that_wait_without_sleeping_end(kernel: Kernel, tmp_path: Path) -> None:
    found = measure(
        kernel,
        tmp_path,
        "wait_by_reads",
        "wait_long_by_reads",
        "wait_by_yield",
        "wait_by_errors",
        "two_that_wait_by_reads",
        "wait_by_polls_of_what_is_ready",
        "wait_by_polls_alone",
    )
    # The read that ends the loop and the one after it are charged 1 us and 1/1024 of 1 ms each.
    assert MS <= found["wait_by_reads"] <= MS + 4000
    long, reads = found["wait_long_by_reads"]
    assert 1000 * MS <= long <= 1001 * MS
    assert reads < 20_000
    assert 100 * MS <= found["wait_by_yield"] <= 101 * MS
    assert 100 * MS <= found["wait_by_errors"] <= 101 * MS
    assert 10 * MS <= found["two_that_wait_by_reads"] <= 10.1 * MS
    assert 100 * MS <= found["wait_by_polls_of_what_is_ready"] <= 101 * MS
    assert 100 * MS <= found["wait_by_polls_alone"] <= 101 * MS


def test_a_program_that_polls_sees_a_message_at_the_time_of_one_that_sleeps(
    kernel: Kernel, tmp_path: Path
) -> None:
    polling, sleeping = measure(kernel, tmp_path, "arrival_seen_by_polling_and_by_sleeping").popitem()[1]
    # The least slack of a timer is 1 ns; polling or not, a tick may take it away.
    assert abs(polling - sleeping) <= 1
    assert 50 * MS <= polling <= 50 * MS + 1


def test_costs_of_calls_can_be_set(kernel: Kernel, tmp_path: Path) -> None:
    found = measure(kernel, tmp_path, "reads", parameters="tt-free=10 tt-cost=500")["reads"]
    assert found[-1] - found[0] >= 80 * 500
    found = measure(kernel, tmp_path, "reads", parameters="tt-syscall=700")["reads"]
    assert {after - before for before, after in pairwise(found)} == {700}


def test_floating_point_registers_are_kept(kernel: Kernel, tmp_path: Path) -> None:
    program = tmp_path / "registers"
    source = Path(__file__).with_name("registers.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Werror", "-pthread", "-o", program, source], check=True)
    assert measure(kernel, tmp_path, "registers", environment={"REGISTERS": str(program)}) == {
        "registers": "kept\n"
    }


def test_computing_takes_time_if_it_is_to(kernel: Kernel, tmp_path: Path) -> None:
    free = measure(kernel, tmp_path, "computing")["computing"]
    whole = measure(kernel, tmp_path, "computing", parameters="tt-cpu=1000")["computing"]
    double = measure(kernel, tmp_path, "computing", parameters="tt-cpu=2000")["computing"]
    assert free == [0, 0, 0]
    # The sum of three million numbers takes 30 ms on a processor of 2024, or 300 on a slow one.
    assert 5 * MS < whole[1] < 1000 * MS
    assert 1.2 < double[1] / whole[1] < 3.5
    # The kernel's own entry is not computing.
    assert whole[2] < 3 * MS


def test_two_programs_of_a_host_share_its_processor(kernel: Kernel, tmp_path: Path) -> None:
    first, second, own = measure(kernel, tmp_path, "two_that_compute", parameters="tt-cpu=1000")[
        "two_that_compute"
    ]
    assert 1.4 < second / own < 3
    assert first > 0.7 * second, "they take turns"


def test_the_time_stamp_counter_counts_virtual_nanoseconds(kernel: Kernel, tmp_path: Path) -> None:
    begin, first, last, end = measure(kernel, tmp_path, "counter")["counter"]
    assert begin == first
    assert last == end


def test_randomness_is_a_function_of_the_seed(kernel: Kernel, tmp_path: Path) -> None:
    def with_seed(seed: int, place: str) -> list[str]:
        found: list[str] = measure(kernel, tmp_path / place, "randomness", parameters=f"tt-seed={seed}")[
            "randomness"
        ]
        return found

    first, again, other = with_seed(7, "a"), with_seed(7, "longer"), with_seed(8, "c")
    assert first == again
    assert all(ours != theirs for ours, theirs in zip(first, other, strict=True))


def test_a_guest_has_all_congestion_control_algorithms(kernel: Kernel, tmp_path: Path) -> None:
    assert {"bbr", "bic", "cdg", "cubic", "dctcp", "htcp", "illinois", "reno", "vegas", "westwood"} <= set(
        measure(kernel, tmp_path, "algorithms")["algorithms"]
    )


def test_no_process_of_a_guest_survives_its_kernel(kernel: Kernel, tmp_path: Path) -> None:
    with start(kernel, tmp_path, "forks_then_sleeps") as guest:
        assert guest.stdout is not None
        line = b""
        while b"ready" not in line:
            line = guest.stdout.readline()
            assert line
        assert len(processes_of(guest.pid)) > 3
        guest.kill()
        guest.wait()
        deadline = time.monotonic() + 10
        while processes_of(guest.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert processes_of(guest.pid) == []


def processes_of(session: int) -> list[int]:
    """The processes of a session that have not ended."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(name))
    return found
