"""What a host of a live run is doing: its processes, addresses, routes and sockets."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.persistent_networks import enterable_host
from longhaul.run.session import ask
from longhaul.subprocesses import python_command

Json = dict[str, Any]

MOST_PROCESSES = 500
MOST_SOCKETS = 1_000
_PATIENCE_S = 20.0
_SCRIPT = "ip -j address && echo && ip -j route && echo && ip -j -6 route && echo && exec ss -Htuan"
"""What the host's own tools print, with an empty line between them."""


@dataclass(frozen=True)
class HostProcess:
    """A process in the network namespace of a host."""

    pid: int
    """As programs in the host see it."""
    command: str
    state: str
    """A letter of proc(5): R, S, D, Z, T, ..."""
    cpu_s: float
    """User and system time so far."""
    rss_bytes: int


@dataclass(frozen=True)
class HostSocket:
    """A TCP or UDP socket, in the words of ss(8)."""

    protocol: str
    state: str
    receive_queue_bytes: int
    send_queue_bytes: int
    local: str
    remote: str


@dataclass(frozen=True)
class HostState:
    """A host at one instant."""

    processes: list[HostProcess]
    addresses: list[tuple[str, str, list[str]]]
    """Each interface with its state and its addresses."""
    routes: list[str]
    sockets: list[HostSocket]


def host_state(socket: Path, host: str) -> HostState:
    """The state of ``host`` in the run whose socket is ``socket``. Raises LonghaulError."""
    supervisor, answer = enterable_host(socket, host)
    if host in answer.get("elsewhere", ()):
        return _state_elsewhere(socket, host)
    namespace = os.readlink(f"/proc/{supervisor}/fd/{answer['hosts'][host]['net']}")
    found = list(_processes(namespace))
    try:
        done = subprocess.run(
            python_command("longhaul.run.host_command", str(socket), host, "/bin/sh", "-c", _SCRIPT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LonghaulError(
            Code.RUN_UNRESPONSIVE, f"{host} does not answer", remedy="try again", exit_code=1
        ) from None
    parts = done.stdout.split("\n\n", 3)
    if done.returncode != 0 or len(parts) != 4:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"ip and ss do not work on {host}: {reason[0]}",
            remedy="install iproute2 in the root directory of the host",
            exit_code=3,
        )
    addresses, routes, routes6, sockets = parts
    return HostState(
        found,
        [_interface(each) for each in json.loads(addresses)],
        [_route(each) for each in [*json.loads(routes), *json.loads(routes6)]],
        list(_sockets(sockets)),
    )


def _state_elsewhere(socket: Path, host: str) -> HostState:
    """The state of a host that is on another machine."""
    found = ask(socket, {"do": "host_state", "host": host}, timeout_s=_PATIENCE_S)["state"]
    addresses = [(name, state, addresses) for name, state, addresses in found["addresses"]]
    processes = [HostProcess(**each) for each in found["processes"]]
    return HostState(processes, addresses, found["routes"], [HostSocket(**each) for each in found["sockets"]])


def _processes(namespace: str) -> Iterator[HostProcess]:
    """The processes in a network namespace, oldest first, of those that this user may inspect."""
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    count = 0
    for pid in sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        # It may end while it is looked at.
        with suppress(OSError, ValueError, IndexError):
            if os.readlink(f"/proc/{pid}/ns/net") != namespace:
                continue
            folder = Path(f"/proc/{pid}")
            name, _, rest = (folder / "stat").read_text(errors="replace").partition("(")[2].rpartition(") ")
            fields = rest.split()
            words = (folder / "cmdline").read_text(errors="replace").rstrip("\0").split("\0")
            status = (folder / "status").read_text(errors="replace")
            numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
            if len(numbers) < 2:
                # What starts commands in the host from outside is not a process of the run.
                continue
            yield HostProcess(
                pid=int(numbers[-1]),
                command=" ".join(words) if words != [""] else f"[{name}]",
                state=fields[0],
                cpu_s=(int(fields[11]) + int(fields[12])) / ticks,
                rss_bytes=int(fields[21]) * page,
            )
            count += 1
            if count >= MOST_PROCESSES:
                return


def _interface(each: Json) -> tuple[str, str, list[str]]:
    addresses = [f"{one['local']}/{one['prefixlen']}" for one in each.get("addr_info", ()) if "local" in one]
    return each["ifname"], each.get("operstate", "UNKNOWN"), addresses


def _route(each: Json) -> str:
    """As ip(8) prints it, without what it adds for itself."""
    via = f" via {each['gateway']}" if "gateway" in each else ""
    device = f" dev {each['dev']}" if "dev" in each else ""
    return f"{each['dst']}{via}{device}"


def _sockets(text: str) -> Iterator[HostSocket]:
    for line in text.splitlines()[:MOST_SOCKETS]:
        fields = line.split()
        if len(fields) >= 6:
            protocol, state, receive, send, local, remote = fields[:6]
            yield HostSocket(protocol, state, int(receive), int(send), local, remote)
