"""A Slurm of one node or several, started here without systemd, and ended again."""

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
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool/%n
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=2
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
"""
NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
    "CPUs={cpus} RealMemory=4000 State=UNKNOWN"
)


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
def running(place: Path, *, cpus: int, nodes: int = 1) -> Iterator[dict[str, str]]:
    """A Slurm whose files are in ``place``; gives the environment in which its commands find it.

    Each of its nodes is a daemon of its own on this machine, and has ``cpus`` CPUs.
    """
    host = socket.gethostname().split(".")[0]
    names = [f"node{number}" for number in range(nodes)]
    for folder in ("state", *(f"spool/{name}" for name in names)):
        (place / folder).mkdir(parents=True)
    place.chmod(0o755)
    key = place / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    configuration = place / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=host,
            place=place,
            controller=free_port(),
            nodes="\n".join(NODE.format(name=name, host=host, port=free_port(), cpus=cpus) for name in names),
        )
    )
    environment = {**os.environ, "PATH": path_with_sbin(), "SLURM_CONF": str(configuration)}
    munged = [
        "munged", "--foreground", "--force", f"--socket={place}/munge.socket", f"--key-file={key}",
        f"--pid-file={place}/munge.pid", f"--log-file={place}/munge.log", f"--seed-file={place}/munge.seed",
    ]  # fmt: skip
    daemons = [munged, ["slurmctld", "-D", "-c"], *(["slurmd", "-D", "-N", name] for name in names)]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for argv in daemons:
            with (place / f"{argv[0]}-{len(processes)}.out").open("wb") as out:
                processes.append(subprocess.Popen(argv, env=environment, stdout=out, stderr=out))
            time.sleep(0.5)
        for _ in range(100):
            state = subprocess.run(
                ["sinfo", "-h", "-N", "-o", "%T"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            ).stdout.split()
            if state == ["idle"] * nodes:
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
