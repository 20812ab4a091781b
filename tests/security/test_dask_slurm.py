"""The same on a real Slurm of one node, whose workers read the certificate from files."""

import os
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import slurm

from .dask_attack import attack, family, http, listening, sweeping

if find_spec("dask_jobqueue") is None:
    pytest.skip("clusters need longhaul[dask]", allow_module_level=True)
pytest.importorskip("cryptography", reason="clusters need longhaul[dask]")
pytestmark = pytest.mark.skipif(slurm.missing() is not None, reason=str(slurm.missing()))


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm.running(tmp_path_factory.mktemp("slurm"), cpus=2) as environment:
        yield environment


def test_jobs_of_slurm_run_nothing_for_a_process_without_their_certificate(
    work: Path, environment: dict[str, str], batch: dict[str, str], tmp_path: Path
) -> None:
    (work / "cluster.yaml").write_text(slurm.cluster(death_timeout_s=60))
    with sweeping(work, {**environment, **batch, **_ours(environment)}, "cluster.yaml") as process:
        workers = _workers()
        places = listening(family(process.pid)) | listening(workers)
        assert workers
        assert len(places) > len(workers), "the scheduler and each worker listen somewhere"
        assert {host for host, _port in places} <= {"127.0.0.1"}, "here the network of the jobs is lo"
        told = attack(places)
        assert told, "the attack has run"
        assert not [line for line in told if not line.startswith("refused")]
        assert not [place for place in places if b" 200 " in http(*place)]
        secrets = list((Path(environment["XDG_STATE_HOME"]) / "longhaul").glob("cluster-*"))
        assert [each.stat().st_mode & 0o777 for each in secrets] == [0o700]
        for pid in workers:
            # Every user can read command lines.
            assert b"PRIVATE KEY" not in Path(f"/proc/{pid}/cmdline").read_bytes()
    assert not secrets[0].exists(), "nothing is left"
    script = subprocess.run(
        ["scontrol", "show", "job"], env=batch, capture_output=True, text=True, check=True
    ).stdout
    assert "PRIVATE KEY" not in script


def _ours(environment: dict[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME")}


def _workers() -> set[int]:
    """Dask's workers that are no descendants of ours, but of Slurm's daemon."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"distributed.cli.dask_worker" in words:
                found |= family(int(entry.name))
    return found - {os.getpid()}
