"""How fast runs on the virtual clock are: real seconds for a second of the run.

Times are of the run without the start of its hosts: the difference of a longer and a shorter run. Needs a
guest kernel; without one nothing is measured. Writes ``bench/virtual.json``.
"""

import sys
import tempfile
from pathlib import Path
from statistics import median

from figures import Row, measure_all, row

import longhaul
from longhaul.errors import LonghaulError
from longhaul.kernels.cache import find

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mpi_installations import HINT, INSTALLATIONS

MOST_S = {1_000: 0.3, 10_000: 3.0}
"""Real seconds for a second of a transfer, by Mbit/s."""
LEAST_IDLE_SPEED = 10_000
IDLE_S = {2: (1_000, 101_000), 8: (1_000, 51_000), 32: (1_000, 31_000), 64: (1_000, 31_000)}
"""Durations of idle runs by number of hosts."""
PING_S = (10, 110)
TCP_S = {100: (1, 5), 1_000: (1, 3), 10_000: (1, 3)}
"""Durations of transfers by Mbit/s."""
COALESCE = ("10us", "200us")
HEAD = """
version: 1
name: virtual
seed: 1
{duration}addresses: ipv4
coalesce: {coalesce}
measure: {{every: {every}s}}
"""
PAIR = """
nodes: {{near: {{kind: host}}, far: {{kind: host}}}}
links: {{wan: {{endpoints: [near, far], delay: 10ms, rate: {mbit}Mbit, queue: 1bdp}}}}
"""
STAR = """
profiles: {lan: {delay: 10ms}}
nodes:
  "h1..HOSTS": {kind: host, attach: core, profile: lan}
  core: {kind: router}
"""
PING = "traffic: {probe: {kind: ping, from: near, to: far, every: 10ms}}\n"
EXCHANGES = 20, 80
TCP = "traffic: {copy: {kind: tcp, from: near, to: far, cc: cubic}}\n"


def run(seconds: int | None, network: str, *, coalesce: str = "10us") -> longhaul.Result:
    """One run on the virtual clock; without ``seconds``, until its programs end."""
    duration = "" if seconds is None else f"duration: {seconds}s\n"
    head = HEAD.format(duration=duration, coalesce=coalesce, every=max(1, (seconds or 1) // 10))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "virtual.yaml"
        path.write_text(head + network, encoding="utf-8")
        return longhaul.run_live(path, runs=Path(directory) / "runs", report=False, clock="virtual")


def wall_s_per_s(durations: tuple[int, int], network: str, *, coalesce: str = "10us") -> float:
    """Real seconds for a second of the run, without the start of the hosts."""
    short, long = (
        run(seconds, network, coalesce=coalesce).summary["virtual_clock"]["wall_s"] for seconds in durations
    )
    return (long - short) / (durations[1] - durations[0])


def idle(rounds: int) -> list[Row]:
    """Hosts on which nothing runs."""
    rows = []
    for hosts, durations in IDLE_S.items():
        network = STAR.replace("HOSTS", str(hosts))
        times_real = 1 / median(wall_s_per_s(durations, network) for _ in range(rounds))
        target = f"at least {LEAST_IDLE_SPEED:,}" if hosts == 64 else ""
        met = not target or times_real >= LEAST_IDLE_SPEED
        rows.append(row(f"{hosts} idle hosts", times_real, "x real time", target, met))
        # Its start, its end and a second.
        start_s = median(run(1, network).summary["virtual_clock"]["wall_s"] for _ in range(rounds))
        rows.append(row("  start and end", start_s, "s", "", True))
    return rows


def ping(rounds: int) -> list[Row]:
    """A hundred pings a second."""
    taken = median(wall_s_per_s(PING_S, PAIR.format(mbit=100) + PING) for _ in range(rounds))
    return [row("100 pings/s", taken, "s per virtual s", "", True)]


def transfers(rounds: int) -> list[Row]:
    """One TCP flow (cubic) over 20 ms, there and back."""
    rows = []
    for mbit, durations in TCP_S.items():
        # Alone, the segments of 10 Gbit/s take minutes.
        for coalesce in COALESCE[-1:] if mbit == 10_000 else COALESCE:
            network = PAIR.format(mbit=mbit) + TCP
            taken = median(wall_s_per_s(durations, network, coalesce=coalesce) for _ in range(rounds))
            most = MOST_S.get(mbit)
            target = "" if most is None else f"at most {most:g}"
            what = f"TCP at {mbit:,} Mbit/s, segments joined within {coalesce.replace('us', ' us')}"
            rows.append(row(what, taken, "s per virtual s", target, most is None or taken <= most))
        flows = run(durations[1], network, coalesce=COALESCE[-1]).summary["flows"]
        rows.append(
            row("  its goodput with slow start", flows[0]["goodput_bits_per_s"] / 1e6, "Mbit/s", "", True)
        )
    return rows


def alltoall(rounds: int) -> list[Row]:
    """Ranks of MPICH on four hosts, 20 ms apart: 64 KiB from each to each, again and again."""
    launcher, library = found = INSTALLATIONS["mpich"]
    if not found.exists:
        print(f"no MPI: {HINT}", file=sys.stderr)
        return []
    program = Path(__file__).with_name("alltoall.py")
    start = f"MPI4PY_LIBMPI={library} {launcher} -n 4 {sys.executable} {program}"
    network = STAR.replace("HOSTS", "4").replace("delay: 10ms", "delay: 10ms, rate: 1Gbit")
    taken = []
    for _ in range(rounds):
        wall_s, run_s = [], []
        for times in EXCHANGES:
            ranks = f"programs:\n  ranks: {{hosts: [h1..4], run: [sh, -c, '{start} {times}']}}\n"
            summary = run(None, network + ranks, coalesce=COALESCE[-1]).summary
            assert summary["outcome"]["state"] == "passed", summary["outcome"]
            wall_s.append(summary["virtual_clock"]["wall_s"])
            run_s.append(summary["duration_ns"] / 1e9)
        taken.append((wall_s[1] - wall_s[0]) / (run_s[1] - run_s[0]))
    what = "MPI alltoall of 4 hosts over 1 Gbit/s each, segments joined within 200 us"
    return [row(what, median(taken), "s per virtual s", "", True)]


if __name__ == "__main__":
    try:
        find()
    except LonghaulError as error:
        print(f"bench/virtual.py measures nothing: {error}", file=sys.stderr)
        sys.exit(0)
    measure_all(
        __doc__,
        {"idle": idle, "ping": ping, "transfers": transfers, "alltoall": alltoall},
        Path(__file__).parent / "virtual.json",
        rounds=1,
    )
