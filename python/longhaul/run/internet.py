"""Access from a host to the machine's own network, by slirp4netns without privileges.

The host becomes a router between the emulated network and a tap device whose other end is
ordinary sockets of this machine. The machine itself is reached at ``MACHINE``.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run import session
from longhaul.run.persistent_networks import run_in_host_at
from longhaul.subprocesses import program

NETWORK = "172.31.254.0/24"
MACHINE = "172.31.254.2"
"""The address under which hosts reach this machine's loopback."""
NAMES = "172.31.254.3"
"""The address of the name server that slirp4netns provides."""
_DEVICE = "out0"


def require() -> None:
    """Refuse to begin without slirp4netns."""
    program("slirp4netns")


@contextmanager
def outside(path: Path, *, gateway: str, emulated: str) -> Iterator[None]:
    """Connect host ``gateway`` of the run at ``path``; ``emulated`` is the IPv4 network of its hosts."""
    supervisor, answer = session.hosts_of(path)
    ip = shlex.quote(program("ip", package="iproute2"))
    prepare = (
        f"{ip} route replace {emulated} dev eth0 && {ip} route del default dev eth0 && "
        "echo 1 > /proc/sys/net/ipv4/ip_forward"
    )
    _inside(path, gateway, prepare)
    ready, told = os.pipe()
    # Its end tells slirp4netns to end, should this process be killed.
    leash, held = os.pipe()
    namespaces = ["--netns-type=path"]
    if os.geteuid() != 0:
        namespaces.append(f"--userns-path=/proc/{supervisor}/ns/user")
    command = [
        program("slirp4netns"),
        "--configure",
        f"--cidr={NETWORK}",
        f"--ready-fd={told}",
        f"--exit-fd={leash}",
        "--mtu=1500",
        *namespaces,
        f"/proc/{supervisor}/fd/{answer['hosts'][gateway]['net']}",
        _DEVICE,
    ]
    process = subprocess.Popen(
        command,
        pass_fds=[told, leash],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    os.close(told)
    os.close(leash)
    try:
        with os.fdopen(ready, "rb") as stream:
            if stream.read(1) != b"1":
                detail = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
                raise LonghaulError(
                    Code.MACHINE_UNABLE,
                    f"slirp4netns did not start: {detail.splitlines()[-1] if detail else 'no reason given'}",
                    exit_code=3,
                )
        # Answers to the hosts behind the gateway come to the tap's wire: the gateway speaks for them.
        _inside(path, gateway, f"echo 1 > /proc/sys/net/ipv4/conf/{_DEVICE}/proxy_arp")
        resolv = Path(answer["env"]["LONGHAUL_RUN"]) / "raw" / "hosts.d" / "resolv.conf"
        resolv.write_text(f"nameserver {NAMES}\n", encoding="utf-8")
        yield
    finally:
        os.close(held)
        process.terminate()
        process.wait()


def _inside(path: Path, host: str, script: str) -> None:
    if run_in_host_at(path, host, ["/bin/sh", "-c", script]) != 0:
        raise LonghaulError(
            Code.MACHINE_UNABLE, f"cannot make {host} a gateway", remedy="longhaul doctor", exit_code=3
        )
