"""Sweeps on a real Slurm of one node: a worker is cancelled, the client is killed, the parts are the same."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import slurm

import longhaul

from .test_sweeps import SCENARIO, rows_of

if find_spec("dask_jobqueue") is None:
    pytest.skip("clusters need longhaul[dask]", allow_module_level=True)
pytestmark = pytest.mark.skipif(slurm.missing() is not None, reason=str(slurm.missing()))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm.running(tmp_path_factory.mktemp("slurm"), cpus=2) as environment:
        yield environment


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "pair.yaml").write_text(
        SCENARIO.replace("duration: 2s", "duration: 30s").replace("stop: 1500ms", "stop: 29s")
    )
    (tmp_path / "cluster.yaml").write_text(slurm.cluster(death_timeout_s=20))
    return tmp_path


def start(work: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "longhaul.cli.main", "sweep", *arguments]
    return subprocess.Popen(
        [*command, "--cluster", "cluster.yaml", "--json"],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def parts_there(work: Path, *, least: int, client: subprocess.Popen[str]) -> set[str]:
    """Wait until a sweep has so many parts."""
    for _ in range(1200):
        found = {path.name for path in work.glob("runs/pair/latest/parts/*.parquet")}
        if len(found) >= least:
            return found
        assert client.poll() is None, client.communicate()
        time.sleep(0.05)
    raise AssertionError(f"only {len(found)} parts after a minute")


def workers(environment: dict[str, str]) -> list[str]:
    command = ["squeue", "-h", "-t", "R", "-o", "%i"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def test_slurm_survives_a_cancelled_worker_and_a_killed_client_and_gives_the_same(
    work: Path, environment: dict[str, str]
) -> None:
    client = start(work, environment, "pair.yaml", "--repeat", "50")
    parts_there(work, least=2, client=client)
    subprocess.run(["scancel", "--full", workers(environment)[0]], env=environment, check=True)
    parts_there(work, least=8, client=client)
    client.send_signal(signal.SIGKILL)
    client.wait()
    directory = (work / "runs/pair/latest").resolve()
    before = {path.name: path.stat().st_mtime_ns for path in (directory / "parts").glob("*.parquet")}

    again = start(work, environment, "--resume", str(directory))
    out, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    summary = json.loads(out)
    assert (summary["status"], summary["points"], summary["failed"]) == ("done", 200, 0)
    after = {path.name: path.stat().st_mtime_ns for path in (directory / "parts").glob("*.parquet")}
    assert before.items() <= after.items(), "what was done was done again"
    assert len(after) > len(before)

    local = longhaul.sweep(work / "pair.yaml", repeat=50, runs=work / "local")
    assert rows_of(local.directory) == rows_of(directory)
    assert os.environ.get("SLURM_CONF") is None
