"""Hosts of several machines under one controller of the virtual clock: namespaces with an sshd each."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import slurm
from machine_room import MachineRoom, machine_room, missing
from mpi_installations import HINT, INSTALLATIONS
from virtual_runs import Longhaul, Ran

from longhaul.subprocesses import python_command

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

FOUR = """\
version: 1
name: four
seed: 5
duration: 2s
nodes:
  ra: {kind: router}
  rb: {kind: router}
  a1..2: {kind: host, attach: ra}
  b1..2: {kind: host, attach: rb}
links:
  wan: {endpoints: [ra, rb], rate: 50Mbit, delay: 10ms, loss: 0.1%, queue: 1bdp}
"""
TRAFFIC = """\
traffic:
  bulk: {kind: tcp, from: a1, to: b1, cc: cubic}
  probe: {kind: ping, from: b2, to: a2, every: 50ms}
programs:
  note: {hosts: [b2], run: [sh, -c, "hostname; echo $$LONGHAUL_HOST > note.txt; cat note.txt"]}
"""
HOW = ("--clock", "virtual")
MACHINES = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineRoom]:
    # A clock of its own makes no difference: nobody asks it.
    with machine_room(tmp_path_factory.mktemp("room"), 2, monotonic_s=(0, 1_000)) as found:
        yield found


@pytest.fixture
def on_two(room: MachineRoom, longhaul: Longhaul) -> MACHINES:
    """Runs a command beside the two machines, with options that lead to them."""

    def call(command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        where = ("--on", str(room.hostfile), "--ssh", room.ssh)
        return longhaul(command, *arguments, *HOW, *where, before=tuple(room.at_switch()))

    return call


def left_on(room: MachineRoom) -> str:
    """What runs on the machines beside their sshd."""
    deadline = time.monotonic() + 10
    while True:
        found = [
            pid
            for name in room.names
            for pid in subprocess.run(
                ["ip", "netns", "pids", room.namespace(name)], capture_output=True, text=True, check=True
            ).stdout.split()
        ]
        lines = []
        for pid in found:
            try:
                line = (Path("/proc") / pid / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except FileNotFoundError:
                continue
            if "sshd" not in line:
                lines.append(line[:120])
        if not lines or time.monotonic() > deadline:
            return "\n".join(lines)
        time.sleep(0.1)


def ran(done: "subprocess.CompletedProcess[str]", work: Path, name: str = "four") -> Ran:
    return Ran(done, (work / "runs" / name / "latest").resolve())


def test_a_run_is_the_same_bit_by_bit_on_one_machine_and_on_two(
    room: MachineRoom, on_two: MACHINES, longhaul: Longhaul, work: Path
) -> None:
    (work / "four.yaml").write_text(FOUR + TRAFFIC)
    alone = ran(longhaul("run", "four.yaml", *HOW), work)
    assert alone.code == 0, alone.stderr
    divided = ran(on_two("run", "four.yaml"), work)

    assert divided.code == 0, divided.stderr
    assert "machines: m1 (2 hosts), m2 (2 hosts); the network is on this one" in divided.stderr
    assert divided.digest == alone.digest
    assert divided.summary["fidelity"]["verdict"] == "faithful"
    for what in ("flows", "probes", "links", "packets", "programs"):
        assert divided.summary[what] == alone.summary[what], what
    # What programs wrote there is here, and the report names the machines.
    assert divided.log("note.out") == "b2\nb2\n"
    assert divided.log("probe.out") == alone.log("probe.out")
    found = json.loads((divided.directory / "run.json").read_text())["host_machines"]
    assert [(each["name"], each["hosts"]) for each in found] == [("m1", ["a1", "a2"]), ("m2", ["b1", "b2"])]
    assert "with the hosts on m1, m2;" in " ".join(divided.stdout.split())
    report = (divided.directory / "report.html").read_text()
    assert "Machines of the hosts" in report
    assert "a1, a2" in report
    assert not list((divided.directory / "raw").glob("machine-*"))
    assert left_on(room) == ""


def test_place_decides_and_kernel_and_messages_go_by_ssh_where_they_must(
    room: MachineRoom, longhaul: Longhaul, work: Path
) -> None:
    # Hosts are with their router.
    placed = FOUR.replace("ra: {kind: router", "ra: {kind: router, place: m2")
    placed = placed.replace("rb: {kind: router", "rb: {kind: router, place: m1")
    (work / "four.yaml").write_text(placed + TRAFFIC)
    python = work / "python-without-kernels"
    python.write_text(f'#!/bin/sh\nXDG_CACHE_HOME=/nonexistent exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    hosts = work / "hosts"
    # No connection leads to this address of the second machine: messages take that of ssh.
    hosts.write_text(f"m1 address=10.77.1.1\nm2 address=10.77.2.9 python={python} cores=4\n")

    where = ("--on", str(hosts), "--ssh", room.ssh)
    divided = ran(longhaul("run", "four.yaml", *HOW, *where, before=tuple(room.at_switch())), work)

    assert divided.code == 0, divided.stderr
    found = json.loads((divided.directory / "run.json").read_text())["host_machines"]
    assert [each["hosts"] for each in found] == [["b1", "b2"], ["a1", "a2"]]
    assert "machine m2: no connection to 10.77.2.9" in divided.stderr
    assert "machine m1: no connection" not in divided.stderr


@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_ranks_are_on_the_hosts_of_both_machines(kind: str, on_two: MACHINES, work: Path) -> None:
    installation = INSTALLATIONS[kind]
    if not installation.exists:
        pytest.skip(HINT)
    (work / "four.yaml").write_text(
        FOUR.replace("duration: 2s\n", "")
        + f"programs:\n  ranks: {{hosts: [a1, b2], run: '{installation.launcher} -n 2 hostname'}}\n"
    )

    done = ran(on_two("run", "four.yaml"), work)

    assert done.code == 0, done.stderr + done.log("ranks.err")
    assert sorted(done.log("ranks.out").split()) == ["a1", "b2"]


@contextmanager
def running(room: MachineRoom, environment: dict[str, str], work: Path) -> "Iterator[subprocess.Popen[str]]":
    """A long run on the two machines, from the start of its clock on."""
    (work / "four.yaml").write_text(FOUR.replace("duration: 2s", "duration: 1000s") + TRAFFIC)
    command = [*room.at_switch(), *python_command("longhaul.cli.main"), "run", "four.yaml", *HOW]
    command += ["--on", str(room.hostfile), "--ssh", room.ssh]
    with subprocess.Popen(
        command, cwd=work, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            started = work / "runs" / "four" / "latest" / "raw" / "samples.csv"
            deadline = time.monotonic() + 60
            while not (started.is_file() and started.stat().st_size > 1_000):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def agent_on(room: MachineRoom, name: str) -> int:
    """The process ID of the agent on a machine."""
    listed = subprocess.run(
        ["ip", "netns", "pids", room.namespace(name)], capture_output=True, text=True, check=True
    )
    for pid in listed.stdout.split():
        line = (Path("/proc") / pid / "cmdline").read_bytes().split(b"\0")
        if b"longhaul.machines.kernel_agent" in line and b"sh" not in line[0]:
            return int(pid)
    raise AssertionError("no agent")


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        ("killed", "machine m2: it has ended"),
        ("stopped", "machine m2: it has sent no message for 5 s"),
        ("unplugged", "machine m2: it has sent no message for 5 s"),
    ],
)
def test_a_machine_that_is_lost_ends_the_run_with_that_reason(
    harm: str, reason: str, room: MachineRoom, environment: dict[str, str], work: Path
) -> None:
    with running(room, environment, work) as process:
        agent = agent_on(room, "m2")
        began = time.monotonic()
        try:
            if harm == "unplugged":
                room.unplug("m2")
            else:
                os.kill(agent, signal.SIGKILL if harm == "killed" else signal.SIGSTOP)
            out, errors = process.communicate(timeout=60)
        finally:
            room.plug("m2")
            if harm == "stopped":
                os.kill(agent, signal.SIGCONT)
    assert time.monotonic() - began < 20
    assert process.returncode == 70, errors
    assert reason in errors
    # Results so far are kept, with what hosts of the other machine wrote.
    done = Ran(
        subprocess.CompletedProcess([], process.returncode, out, errors),
        (work / "runs" / "four" / "latest").resolve(),
    )
    assert done.summary["outcome"]["state"] == "crashed"
    assert (done.directory / "logs" / "bulk.err").is_file()
    assert not (done.directory / "logs" / "probe.out").is_file()
    assert left_on(room) == ""


def test_the_controller_may_be_killed(room: MachineRoom, environment: dict[str, str], work: Path) -> None:
    with running(room, environment, work) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert left_on(room) == ""


def test_a_network_stays_up_on_two_machines(
    room: MachineRoom, on_two: MACHINES, longhaul: Longhaul, work: Path
) -> None:
    (work / "four.yaml").write_text(FOUR + TRAFFIC)
    up = on_two("up", "four.yaml")
    assert up.returncode == 0, up.stderr
    try:
        said = longhaul("exec", "a1", "--", "sh", "-c", "hostname; ping -qc 1 b2")
        assert "a1\n" in said.stdout
        assert "1 received" in said.stdout, said.stderr
        changed = longhaul("set", "wan", "delay=30ms")
        assert "wan changed at" in changed.stdout, changed.stderr
        told = longhaul("status").stdout
        assert "note on b2: ended (exit 0)" in told
        # A step of virtual time is no stall.
        assert "; 0 scheduling stalls" in told
    finally:
        down = longhaul("down")
    assert down.returncode == 0, down.stderr
    assert ran(down, work).log("note.out") == "b2\nb2\n"
    assert left_on(room) == ""


def test_what_cannot_be_is_one_error(
    room: MachineRoom, on_two: MACHINES, longhaul: Longhaul, work: Path
) -> None:
    (work / "four.yaml").write_text(FOUR.replace("attach: rb", "attach: rb, place: m7") + TRAFFIC)
    wrong = on_two("run", "four.yaml")
    assert wrong.returncode == 2
    assert "nodes.b1..2.place: m7 is not one of the machines m1, m2" in wrong.stderr

    (work / "four.yaml").write_text(FOUR + TRAFFIC)
    wrong = on_two("run", "four.yaml", "--tunnel", "encrypted")
    assert wrong.returncode == 2
    assert "--tunnel is for the real clock" in wrong.stderr

    hosts = work / "hosts"
    hosts.write_text(room.hostfile.read_text() + "m9 address=10.77.1.9\n")
    where = ("--on", str(hosts), "--ssh", f"{room.ssh} -o ConnectTimeout=2")
    wrong = longhaul("run", "four.yaml", *HOW, *where, before=tuple(room.at_switch()))
    assert wrong.returncode == 3
    assert "machine m9: no agent could be started there" in wrong.stderr
    # Agents that were just starting have removed what they had made.
    assert not list(Path(tempfile.gettempdir()).glob("longhaul-machine-*"))
    assert left_on(room) == ""
    assert not [path for path in (work / "runs").rglob("*") if path.name == "summary.json"]


def test_an_allocation_of_slurm_has_the_hosts(tmp_path_factory: pytest.TempPathFactory, work: Path) -> None:
    if reason := slurm.missing():
        pytest.skip(reason)
    (work / "four.yaml").write_text(FOUR + TRAFFIC)
    command = " ".join([*python_command("longhaul.cli.main"), "run", "four.yaml", *HOW, "--on", "slurm"])
    (work / "job.sh").write_text(f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n{command}\n")
    # A short path: Slurm has sockets below it.
    with slurm.running(tmp_path_factory.mktemp("s"), cpus=2, nodes=2) as slurms:
        subprocess.run(["sbatch", "--output=job.out", "job.sh"], cwd=work, env=slurms, check=True)
        deadline = time.monotonic() + 120
        while subprocess.run(
            ["squeue", "--noheader"], env=slurms, capture_output=True, check=True
        ).stdout.strip():
            assert time.monotonic() < deadline
            time.sleep(0.5)
    printed = (work / "job.out").read_text()
    assert "passed" in printed, printed
    assert "machines: node0 (2 hosts), node1 (2 hosts)" in printed
