"""The certificate of a cluster reaches the workers of every batch system, and nobody else."""

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from longhaul.sweeps import kubernetes
from longhaul.sweeps.cluster import Cluster
from longhaul.sweeps.place import JOBQUEUE, Place, place_of
from longhaul.sweeps.tls import FILES, Certificates, job_options, module, secured

distributed = pytest.importorskip("distributed", reason="clusters need longhaul[dask]")
pytest.importorskip("cryptography", reason="clusters need longhaul[dask]")
if find_spec("dask_jobqueue") is None:
    pytest.skip("clusters need longhaul[dask]", allow_module_level=True)
jobqueue = module("dask_jobqueue")

OPTIONS = {"cores": 1, "memory": "1GB", "interface": "lo"}


def test_packages_of_clusters_leave_the_handler_of_interrupts_alone() -> None:
    code = (
        "import signal; from longhaul.sweeps.tls import module; module('dask_jobqueue');"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize("kind", [each for each in JOBQUEUE if each != "htcondor"])
def test_jobs_of_every_batch_system_have_the_certificate_in_files_and_not_in_their_script(
    kind: str, tmp_path: Path
) -> None:
    place = Place(kind, 1, {**OPTIONS, "shared_temp_directory": str(tmp_path), "walltime": "00:10"})
    with Certificates(str(tmp_path)) as certificates:
        made = secured(getattr(jobqueue, JOBQUEUE[kind]), certificates)
        with made(**job_options(place, certificates)) as cluster:
            script = cluster.job_script()
            assert cluster.scheduler_address.startswith("tls://")
        for part, name in FILES.items():
            path = certificates.directory / name
            assert f"--tls-{part.replace('_', '-')} {path}" in script
            assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.parent == tmp_path
        assert "BEGIN" not in script
        assert "--no-dashboard --dashboard-address 127.0.0.1:0" in script
        assert "export PYTHONSAFEPATH='1'" in script
    assert list(tmp_path.iterdir()) == []


CONDOR_SUBMIT = """\
#!{python}
# As HTCondor does: brings the files to a directory of the job's own, and starts the command there.
import os, shutil, subprocess, sys, tempfile
sys.path[:0] = {path!r}
import htcondor2
submit = htcondor2.Submit(open(sys.argv[-1]).read())
place = tempfile.mkdtemp(dir={scratch!r})
for name in submit["transfer_input_files"].split(","):
    shutil.copy(name.strip(), place)
import classad2
words = submit["arguments"].strip('"')
assert words.startswith("-c '") and words.endswith("'"), words
command = words[4:-1].replace("''", "'").replace('""', '"')
subprocess.Popen(["/bin/sh", "-c", command], cwd=place, start_new_session=True,
                 stdout=open(place + ".out", "w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
print("1 job(s) submitted to cluster 7.")
"""


def test_a_job_of_htcondor_finds_the_certificate_among_the_files_that_were_brought_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch system is played by a script that reads the submit file with HTCondor's own library."""
    pytest.importorskip("htcondor2", reason="the HTCondor bindings are not installed")
    programs, scratch = tmp_path / "bin", tmp_path / "scratch"
    programs.mkdir()
    scratch.mkdir()
    submit = programs / "condor_submit"
    submit.write_text(CONDOR_SUBMIT.format(python=sys.executable, path=sys.path, scratch=str(scratch)))
    (programs / "condor_rm").write_text("#!/bin/sh\n")
    for path in programs.iterdir():
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    place = place_of({"kind": "htcondor", "disk": "1GB", "death_timeout": 30, **OPTIONS})
    with Cluster(place) as cluster:
        assert cluster._client.submit(os.getcwd).result(timeout=60).startswith(str(scratch))
        job = next(scratch.glob("*/"))
        assert {each.name for each in job.iterdir()} >= {*FILES.values()}
    deadline_s = time.monotonic() + 40
    while subprocess.run(["pgrep", "-f", str(scratch)], capture_output=True, check=False).returncode == 0:
        assert time.monotonic() < deadline_s, "the worker ends with its scheduler"
        time.sleep(0.2)


def environment_of(container: Any, secret: Any) -> dict[str, str]:
    """What Kubernetes gives a container, with what it takes from the Secret."""
    found = {}
    for each in container["env"]:
        reference = each.get("valueFrom", {}).get("secretKeyRef")
        if reference:
            assert reference["name"] == secret["metadata"]["name"]
        found[each["name"]] = secret["stringData"][reference["key"]] if reference else each["value"]
    return found


def test_pods_of_kubernetes_talk_tls_as_their_description_says(tmp_path: Path) -> None:
    """Scheduler and worker run here with the arguments and the environment that their pods would have."""
    spec = {
        "metadata": {"name": "sweep"},
        "spec": {
            part: {"spec": {"containers": [{"args": [f"dask-{part}"], "env": env}]}}
            for part, env in (("scheduler", {"MINE": "1"}), ("worker", None))
        },
    }
    with Certificates(str(tmp_path)) as certificates:
        secret = kubernetes.secret_of(certificates, "sweep")
        made = kubernetes.secured_spec(spec, namespace="here", dashboard=False)
        scheduler, worker = (made["spec"][part]["spec"]["containers"][0] for part in ("scheduler", "worker"))
        assert {"name": "MINE", "value": "1"} in scheduler["env"]
        assert spec["spec"]["worker"]["spec"]["containers"][0]["env"] is None
        address = environment_of(worker, secret)["DASK_SCHEDULER_ADDRESS"]
        assert address == "tls://sweep-scheduler.here.svc.cluster.local:8786"
        security = certificates.security

        def start(name: str, container: Any, *more: str, **env: str) -> "subprocess.Popen[bytes]":
            variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
            command = [sys.executable, "-P", "-m", f"distributed.cli.dask_{name}", *more]
            with (tmp_path / f"{name}.log").open("wb") as log:
                return subprocess.Popen(
                    command,
                    env={**variables, **environment_of(container, secret), **env},
                    stdout=log,
                    stderr=log,
                    cwd=tmp_path,
                )

        place = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        file = tmp_path / "scheduler.json"
        processes = [start("scheduler", scheduler, *place, "--scheduler-file", str(file))]
        try:
            deadline_s = time.monotonic() + 60
            while not file.exists() or not file.stat().st_size:
                assert time.monotonic() < deadline_s, (tmp_path / "scheduler.log").read_text()
                time.sleep(0.1)
            time.sleep(0.2)
            with distributed.Client(scheduler_file=str(file), security=security, timeout=30) as client:
                here = client.scheduler.address
                assert here.startswith("tls://127.0.0.1:")
                processes.append(
                    start("worker", worker, "--host", "127.0.0.1", "--no-nanny", DASK_SCHEDULER_ADDRESS=here)
                )
                assert client.submit(lambda: 6 * 7).result(timeout=60) == 42
            with pytest.raises(OSError):  # noqa: PT011 (of several kinds)
                distributed.Client(here.replace("tls", "tcp"), timeout=3)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def test_a_cluster_that_is_refused_leaves_neither_keys_nor_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = dict(os.environ), tempfile.tempdir, distributed.Client
    with pytest.raises(Exception, match="slurm: "), Cluster(Place("slurm")):
        pass
    assert (dict(os.environ), tempfile.tempdir, distributed.Client) == before
    assert list((tmp_path / "longhaul").iterdir()) == []


@pytest.mark.parametrize(
    ("content", "port"),
    [({}, None), ({"dashboard": False}, None), ({"dashboard": True}, 0), ({"dashboard": 8787}, 8787)],
)
def test_the_dashboard_is_off_unless_it_is_asked_for(content: dict[str, Any], port: int | None) -> None:
    assert place_of({"kind": "local", **content}).dashboard == port


def test_a_dashboard_that_is_not_a_port_is_refused() -> None:
    with pytest.raises(Exception, match=r"dashboard: :8787 is not a port; write true for any free port"):
        place_of({"kind": "local", "dashboard": ":8787"})
