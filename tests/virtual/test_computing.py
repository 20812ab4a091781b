"""The processors of hosts: computing is free, or takes the time that it takes here."""

from virtual_runs import BETWEEN_TWO, Run, program

SUMS = "import time\nbegin = time.monotonic()\nsum(range(5_000_000))\nprint(time.monotonic() - begin)"


def test_computing_takes_no_time_by_default(run: Run) -> None:
    ran = run(program(SUMS))

    assert ran.code == 0, ran.stderr
    assert float(ran.log("p.out")) == 0
    assert ran.summary["virtual_clock"]["cpu_speed"] is None
    assert ran.digest in ran.stdout


def test_computing_takes_its_time_on_processors_with_a_speed(run: Run) -> None:
    slow = run(program(SUMS) + "cpu: {speed: 0.5}\n", duration="20s")
    fast = run(program(SUMS) + "cpu: {speed: 4}\n")

    assert (slow.code, fast.code) == (0, 0), slow.stderr + fast.stderr
    assert 2.5 < float(slow.log("p.out")) / float(fast.log("p.out")) < 25, "8 times, on a quiet machine"
    assert fast.summary["virtual_clock"]["cpu_speed"] == 4
    assert "runs differ" in fast.stdout


def test_packets_are_on_time_while_a_host_computes(run: Run) -> None:
    traffic = "traffic: {probe: {kind: ping, from: b, to: a, every: 50ms, size: 56B}}\ncpu: {speed: 1}\n"
    ran = run(BETWEEN_TWO + program(SUMS).removeprefix(BETWEEN_TWO) + traffic)

    assert ran.code == 0, ran.stderr
    (probe,) = ran.summary["probes"]
    # ping(8) prints a tenth of a millisecond.
    assert 20 <= probe["rtt_min_ns"] / 1e6 < 20.2
    assert ran.summary["fidelity"]["verdict"] == "faithful"


def test_memory_that_is_freed_is_kept(run: Run) -> None:
    begin, end = "import time\nbegin = time.monotonic()\n", "\nprint(time.monotonic() - begin)"
    blocks = begin + "for _ in range(200): bytearray(b'x') * (1 << 20)" + end
    returned = "import ctypes\nctypes.CDLL(None).mallopt(-4, 65536)\nctypes.CDLL(None).mallopt(-3, 65536)\n"
    kept = run(program(blocks) + "cpu: {speed: 1}\n")
    taken_anew = run(program(returned + blocks) + "cpu: {speed: 1}\n")

    assert (kept.code, taken_anew.code) == (0, 0), kept.stderr + taken_anew.stderr
    assert 3 * float(kept.log("p.out")) < float(taken_anew.log("p.out"))
