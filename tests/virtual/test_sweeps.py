"""Sweeps on the virtual clock: the runs that single commands make, and nothing left behind."""

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from virtual_runs import BETWEEN_TWO, Longhaul, Ran, Run

from longhaul.analysis.metrics import metrics
from longhaul.results.divergence import first_difference
from longhaul.scenario.model.metrics import is_swept
from longhaul.subprocesses import python_command

TRAFFIC = BETWEEN_TWO.replace("delay: 10ms, rate: 100Mbit", "delay: $delay, loss: $loss, rate: 10Mbit") + (
    "params: {delay: 5ms, loss: 0%}\n"
    "programs:\n  p: {run: python3 -c 'raise SystemExit(0)', hosts: [a]}\n"
    "traffic:\n"
    "  bulk: {kind: tcp, from: a, to: b, start: 100ms, stop: 500ms, cc: cubic}\n"
    "  probe: {kind: ping, from: b, to: a, every: 50ms}\n"
    "expect:\n  - {metric: probes.probe.a.rtt.min, max: 15ms}\n"
)
AXES = ("--axis", "delay=5ms,10ms", "--axis", "loss=0%,2%")


SWEEP = ("sweep", "two.yaml", "--clock", "virtual", "--no-report")


def start(place: Path, environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*python_command("longhaul.cli.main"), *SWEEP, *arguments],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_runs_of_a_sweep_are_those_of_single_commands(
    run: Run, longhaul: Longhaul, work: Path, environment: dict[str, str], kernels: Callable[[], list[int]]
) -> None:
    def single() -> Ran:
        return run(TRAFFIC, "--set", "delay=5ms", "--set", "loss=2%", "--no-report", duration="600ms")

    alone = single()
    assert alone.code == 0, alone.stderr
    done = longhaul(*SWEEP, *AXES, "--metric", "*", "--metric", "links.*", "--json")

    # Both runs over 10 ms each way fail their expectation, and are measured nevertheless.
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["points"], summary["failed"]) == (4, 2)
    assert {each["variant"] for each in summary["errors"]} == {2, 3}
    assert all("expected at most 15 ms" in each["error"] for each in summary["errors"])
    directory = work / summary["directory"]
    rows = pq.read_table(directory / "parts").to_pylist()
    digests = {row["variant"]: row["digest"] for row in rows if row["digest"]}
    measured = {row["metric"]: row["mean"] for row in summary["metrics"] if row["variant"] == 1}
    known = {
        name: value
        for name, value in metrics(alone.summary).items()
        if value is not None and is_swept(name, programs=[], live=True)
    }
    apart = {name: (measured.get(name), known.get(name)) for name in measured.keys() | known.keys()}
    apart = {name: pair for name, pair in apart.items() if pair[0] != pair[1]}
    assert digests[1] == alone.digest, (apart, first_difference(alone.directory, single().directory))
    assert len(set(digests.values())) == 4
    assert not apart
    assert {"programs.p.exit", "links.a-b.forward.peak_rate", "fidelity.lateness.p99"} < measured.keys()
    assert kernels() == []
    assert list(Path(environment["TMPDIR"]).iterdir()) == []


def test_an_interrupted_sweep_leaves_nothing_and_resumes(
    longhaul: Longhaul, work: Path, environment: dict[str, str], kernels: Callable[[], list[int]]
) -> None:
    (work / "two.yaml").write_text(TRAFFIC.replace("duration: 2s", "duration: 600ms"))
    place = Path(environment["TMPDIR"])
    running = start(work, environment, "--axis", "loss=0%,2%", "--workers", "1")
    directory = work / "runs" / "two" / "latest"
    try:
        deadline = time.monotonic() + 60
        # One run is done, and the next one is under way.
        while not (kernels() and list(directory.glob("parts/*"))) and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    finally:
        running.kill()
        running.wait()

    assert running.returncode == 130, output
    assert kernels() == []
    assert list(place.iterdir()) == []
    parts = {path.name for path in directory.glob("parts/*")}
    again = longhaul("sweep", "--resume", str(directory), "--no-report", cwd=place.parent)
    assert again.returncode == 0, again.stderr
    assert len(parts) == 1
    assert parts < {path.name for path in directory.glob("parts/*")}


def test_a_killed_sweep_leaves_nothing(
    work: Path, environment: dict[str, str], kernels: Callable[[], list[int]]
) -> None:
    (work / "two.yaml").write_text(TRAFFIC.replace("duration: 2s", "duration: 1000s"))
    place = Path(environment["TMPDIR"])
    running = start(work, environment, *AXES)
    try:
        deadline = time.monotonic() + 60
        while not list(place.glob("*/two/*/raw/started.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert kernels()
    finally:
        running.kill()
        running.communicate()
    deadline = time.monotonic() + 30
    while (kernels() or list(place.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.1)

    assert kernels() == []
    assert list(place.iterdir()) == []
