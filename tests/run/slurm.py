"""A Slurm of one node, started here without systemd, and ended again."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel")

CONFIGURATION = """\
ClusterName=longhaul
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
"""


def cluster(*, death_timeout_s: int) -> str:
    """The cluster file of a sweep on it: two jobs of one core."""
    return f"""
kind: slurm
jobs: 2
cores: 1
memory: 1GB
walltime: "00:20:00"
interface: lo
death_timeout: {death_timeout_s}
log_directory: logs
"""


def path_with_sbin() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def missing() -> str | None:
    """Why there can be no Slurm here; ``None`` if there can."""
    if os.geteuid() != 0:
        return "a Slurm of one's own wants root"
    absent = [each for each in (*PROGRAMS, "munged") if shutil.which(each, path=path_with_sbin()) is None]
    return f"Slurm is not installed (apt install slurm-wlm munge): {', '.join(absent)}" if absent else None


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(place: Path, *, cpus: int) -> Iterator[dict[str, str]]:
    """A Slurm whose files are in ``place``; gives the environment in which its commands find it."""
    host = socket.gethostname().split(".")[0]
    for folder in ("state", "spool"):
        (place / folder).mkdir(parents=True)
    place.chmod(0o755)
    key = place / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    configuration = place / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(host=host, place=place, controller=free_port(), daemon=free_port(), cpus=cpus)
    )
    environment = {**os.environ, "PATH": path_with_sbin(), "SLURM_CONF": str(configuration)}
    munged = [
        "munged", "--foreground", "--force", f"--socket={place}/munge.socket", f"--key-file={key}",
        f"--pid-file={place}/munge.pid", f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed",
    ]  # fmt: skip
    daemons = [munged, ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", host]]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for argv in daemons:
            with (place / f"{argv[0]}.out").open("wb") as out:
                processes.append(subprocess.Popen(argv, env=environment, stdout=out, stderr=out))
            time.sleep(0.5)
        for _ in range(100):
            state = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True, check=False
            ).stdout.strip()
            if state == "idle":
                break
            time.sleep(0.2)
        else:
            logs = "\n".join(path.read_text(errors="replace")[-1500:] for path in place.glob("*.[lo]*[gt]"))
            raise RuntimeError(f"Slurm did not start: {state}\n{logs}")
        yield environment
    finally:
        subprocess.run(["scancel", "--full", "--user=root"], env=environment, check=False)
        time.sleep(0.5)
        for process in reversed(processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
