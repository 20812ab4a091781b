"""Machines that are network namespaces of this one, with an sshd each, and a router between them."""

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

NETWORK = "10.77"
"""Machine N is at 10.77.N.1, and the router at 10.77.N.254: kernels without bridges do as well."""


def missing() -> str | None:
    """Why there can be no such machines here; ``None`` if there can."""
    if os.geteuid() != 0:
        return "machines of network namespaces want root"
    absent = [each for each in ("ip", "ssh", "ssh-keygen") if shutil.which(each) is None]
    if _sshd() is None:
        absent.append("sshd")
    return f"not installed (apt install openssh-server): {', '.join(absent)}" if absent else None


def _sshd() -> str | None:
    return shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


@dataclass
class MachineRoom:
    """Some machines, named ``m1``, ``m2`` and so on."""

    place: Path
    prefix: str
    names: Sequence[str]
    daemons: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def hostfile(self) -> Path:
        """The machines as ``--on`` takes them."""
        return self.place / "hostfile"

    @property
    def programs(self) -> Path:
        """A directory that is first in the ``PATH`` of the machines."""
        (self.place / "bin").mkdir(exist_ok=True)
        return self.place / "bin"

    @property
    def ssh(self) -> str:
        """The command that reaches them."""
        return f"ssh -F {self.place / 'ssh_config'}"

    def namespace(self, name: str) -> str:
        """The network namespace of a machine, or of the ``switch``."""
        return f"{self.prefix}-{name}"

    def at_switch(self, *command: str) -> list[str]:
        """A command line beside the machines, where their names lead to them."""
        return ["ip", "netns", "exec", self.namespace("switch"), *command]

    def at(self, name: str, *command: str) -> list[str]:
        """A command line on a machine."""
        return ["ip", "netns", "exec", self.namespace(name), *command]

    def unplug(self, name: str) -> None:
        """Take a machine's cable out of the switch."""
        _run("ip", "-n", self.namespace("switch"), "link", "set", name, "down")

    def plug(self, name: str) -> None:
        """Put it back."""
        _run("ip", "-n", self.namespace("switch"), "link", "set", name, "up")


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


@contextmanager
def machine_room(place: Path, count: int, *, monotonic_s: Sequence[int] = ()) -> Iterator[MachineRoom]:
    """So many machines, whose files are in ``place``; they are gone after the block.

    ``monotonic_s`` says how far their ``CLOCK_MONOTONIC`` is ahead of this machine's.
    """
    place.mkdir(parents=True, exist_ok=True)
    room = MachineRoom(place, f"lh{secrets.token_hex(3)}", [f"m{number + 1}" for number in range(count)])
    write_keys(place)
    try:
        switch = room.namespace("switch")
        _run("ip", "netns", "add", switch)
        _run("ip", "-n", switch, "link", "set", "lo", "up")
        _run("ip", "netns", "exec", switch, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for number, name in enumerate(room.names):
            ahead_s = monotonic_s[number] if number < len(monotonic_s) else 0
            _add_machine(room, name, f"{NETWORK}.{number + 1}", ahead_s)
        _wait_until_up(room)
        yield room
    finally:
        for daemon in room.daemons:
            # unshare(1) ignores others.
            daemon.kill()
        for daemon in room.daemons:
            with suppress(subprocess.TimeoutExpired):
                daemon.wait(timeout=5)
        for name in (*room.names, "switch"):
            subprocess.run(["ip", "netns", "del", room.namespace(name)], check=False, capture_output=True)


def write_keys(place: Path) -> None:
    """Keys of sshd and of its user, and the configuration of sshd."""
    for name in ("host_key", "user_key"):
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(place / name))
    shutil.copy(place / "user_key.pub", place / "authorized_keys")
    (place / "sshd_config").write_text(
        f"HostKey {place / 'host_key'}\nAuthorizedKeysFile {place / 'authorized_keys'}\nStrictModes no\n"
        "PidFile none\nUsePAM no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        f"SetEnv PATH={place / 'bin'}:{os.environ['PATH']}\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)


def _add_machine(room: MachineRoom, name: str, network: str, ahead_s: int) -> None:
    namespace, switch = room.namespace(name), room.namespace("switch")
    address, router = f"{network}.1", f"{network}.254"
    _run("ip", "netns", "add", namespace)
    _run("ip", "-n", switch, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", namespace)
    _run("ip", "-n", switch, "addr", "add", f"{router}/24", "dev", name)
    _run("ip", "-n", switch, "link", "set", name, "up")
    _run("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        _run("ip", "-n", namespace, "link", "set", device, "up")
    _run("ip", "-n", namespace, "route", "add", "default", "via", router)
    clock = ["unshare", "--time", "--fork", "--kill-child", "--monotonic", str(ahead_s)] if ahead_s else []
    sshd = [str(_sshd()), "-D", "-e", "-f", str(room.place / "sshd_config"), "-o", f"ListenAddress={address}"]
    with (room.place / f"sshd-{name}.log").open("wb") as log:
        room.daemons.append(subprocess.Popen(room.at(name, *clock, *sshd), stdout=log, stderr=log))
    with (room.place / "ssh_config").open("a") as file:
        file.write(
            f"Host {name}\n HostName {address}\n User root\n IdentityFile {room.place / 'user_key'}\n"
            " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
        )
    with room.hostfile.open("a") as file:
        file.write(f"{name} address={address}\n")


def _wait_until_up(room: MachineRoom) -> None:
    for name in room.names:
        for _ in range(100):
            tried = subprocess.run(
                room.at_switch(*room.ssh.split(), name, "true"), capture_output=True, check=False
            )
            if tried.returncode == 0:
                break
            time.sleep(0.1)
        else:
            raise AssertionError((room.place / f"sshd-{name}.log").read_text() + tried.stderr.decode())
