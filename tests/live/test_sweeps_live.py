"""Sweeps of live runs: one at a time on a machine, and nothing left behind."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import slurm

import longhaul
from longhaul.errors import LonghaulError
from longhaul.subprocesses import python_command

TIMES = "times"
LIVE = ("--clock", "real", "--axis", "delay=5ms")
CLUSTER = ("--cluster", "cluster.yaml")
SCENARIO = f"""\
version: 1
name: pair
duration: 2s
params: {{delay: 5ms}}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links: {{wan: {{endpoints: [a, b], delay: $delay, rate: 100Mbit}}}}
traffic: {{echo: {{kind: ping, from: a, to: b, every: 50ms}}}}
programs:
  work: {{run: "sh -c 'echo begin >> {TIMES}; sleep 0.5; echo end >> {TIMES}'", host: a}}
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a sweep, with its scenario."""
    (tmp_path / "pair.yaml").write_text(SCENARIO)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*python_command("longhaul.cli.main"), "sweep", "pair.yaml", *LIVE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def supervisors() -> Iterator[int]:
    """Processes of runs whose files are in the working directory."""
    mine = str(Path.cwd() / "temporary").encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mine in (process / "cmdline").read_bytes():
                yield int(process.name)
        except OSError:
            continue


@pytest.mark.light
def test_runs_measure_what_their_variants_say_and_name_their_machine(work: Path) -> None:
    swept = longhaul.sweep(
        work / "pair.yaml", axes={"delay": ["5ms", "20ms"]}, repeat=2, metrics=("rtt.min",), clock="real"
    )
    rows = pq.read_table(swept.directory / "summary.parquet").to_pylist()
    found = {row["axis_delay_ns"]: row["mean"] for row in rows}
    assert swept.exit_code == 0, swept.summary
    assert swept.summary["points"] == sum(swept.summary["verdicts"].values()) == 4
    assert [(row["runs"], row["repeats"]) for row in rows] == [(2, 2), (2, 2)]
    for delay_ns, rtt_ns in found.items():
        assert 2 * delay_ns <= rtt_ns < 2 * delay_ns + 1_000_000
    parts = pq.read_table(swept.directory / "parts").to_pylist()
    assert {row["machine"] for row in parts} == {os.uname().nodename}
    assert {row["kernel"] for row in parts} == {os.uname().release}
    assert {row["digest"] for row in parts} == {None}
    assert list((work / "temporary").iterdir()) == []
    # Nothing is left to be done.
    assert longhaul.resume(swept.directory).summary == swept.summary


@pytest.mark.waiting
def test_two_sweeps_take_turns(work: Path) -> None:
    both = [start("--repeat", "2", "--runs", name, "--no-report") for name in ("one", "two")]
    outputs = [each.communicate(timeout=120)[0] for each in both]
    assert [each.returncode for each in both] == [0, 0], outputs
    assert (work / TIMES).read_text().split() == ["begin", "end"] * 4
    assert any("the runs of both take turns" in each for each in outputs)


@pytest.mark.waiting
def test_a_machine_with_more_than_one_worker_is_refused(work: Path) -> None:
    with pytest.raises(LonghaulError, match="take turns, since they would slow each other; leave --workers"):
        longhaul.sweep(work / "pair.yaml", axes={"delay": ["5ms"]}, workers=2, clock="real")
    with pytest.raises(LonghaulError, match="hosts have the kernel of this machine"):
        longhaul.sweep(work / "pair.yaml", axes={"delay": ["5ms"]}, kernel="6.12", clock="real")
    assert not (work / "runs").exists()


@pytest.mark.waiting
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_ends_early_leaves_nothing_and_resumes(work: Path, number: signal.Signals) -> None:
    running = start("--repeat", "2", "--no-report")
    directory = work / "runs/pair/latest"
    deadline = time.monotonic() + 60
    (work / TIMES).touch()
    while time.monotonic() < deadline and (work / TIMES).read_text().count("begin") < 2:
        time.sleep(0.05)
    assert list(supervisors())
    os.kill(running.pid, number)
    output, _ = running.communicate(timeout=60)
    assert running.returncode == (130 if number == signal.SIGINT else -number), output
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (list(supervisors()) or list((work / "temporary").iterdir())):
        time.sleep(0.1)
    assert list(supervisors()) == []
    assert list((work / "temporary").iterdir()) == []
    assert len(list(directory.glob("parts/*.parquet"))) == 1
    again = longhaul.resume(directory.resolve())
    assert (again.summary["points"], again.exit_code) == (2, 0)
    assert json.loads((directory / "sweep.json").read_text())["clock"] == "real"


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm.running(tmp_path_factory.mktemp("slurm"), cpus=1, nodes=2) as environment:
        yield environment


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="clusters need longhaul[dask]")
@pytest.mark.skipif(slurm.missing() is not None, reason=str(slurm.missing()))
@pytest.mark.light
def test_nodes_of_slurm_run_live_and_those_on_one_machine_take_turns(
    work: Path, environment: dict[str, str]
) -> None:
    (work / "cluster.yaml").write_text(slurm.cluster(death_timeout_s=20))
    command = [*python_command("longhaul.cli.main"), "sweep", "pair.yaml", "--clock", "real", "--json"]
    running = subprocess.Popen(
        [*command, "--axis", "delay=5ms,20ms", "--repeat", "2", "--metric", "rtt.min", *CLUSTER],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    used: set[str] = set()
    while running.poll() is None:
        asked = ["squeue", "-h", "-t", "R", "-o", "%N"]
        found = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
        used |= set(found.stdout.split())
        time.sleep(0.5)
    out, errors = running.communicate()
    assert running.returncode == 0, errors
    assert used == {"node0", "node1"}
    summary = json.loads(out)
    assert (summary["points"], summary["failed"]) == (4, 0)
    for row in summary["metrics"]:
        assert 2 * row["axis_delay_ns"] <= row["mean"] < 2 * row["axis_delay_ns"] + 1_000_000
    # Both nodes are this machine.
    assert (work / TIMES).read_text().split() == ["begin", "end"] * 4
    rows = pq.read_table(work / summary["directory"] / "parts").to_pylist()
    assert {row["machine"] for row in rows} == {os.uname().nodename}
