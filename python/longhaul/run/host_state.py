"""What a host of a live run is doing: its processes, addresses, routes and sockets."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
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
_PROCESS_SCRIPT = (
    r"echo $$; for each in /proc/[0-9]*; do "
    r"cat $each/stat && tr '\0\n' '  ' <$each/cmdline && echo; done 2>/dev/null; echo =; "
)
"""In a host that is a kernel of its own: the shell's number; each process's state and its command line."""
_KERNEL_THREADS = 2
"""The process whose children are threads of the kernel."""


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
    is_guest = answer.get("clock") == "virtual"
    script = _PROCESS_SCRIPT + _SCRIPT if is_guest else _SCRIPT
    found: list[HostProcess] = []
    if not is_guest:
        found = list(_processes(os.readlink(f"/proc/{supervisor}/fd/{answer['hosts'][host]['net']}")))
    try:
        done = subprocess.run(
            python_command("longhaul.run.host_command", str(socket), host, "/bin/sh", "-c", script),
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
    own, _, printed = done.stdout.partition("\n=\n") if is_guest else ("", "", done.stdout)
    if is_guest:
        found = list(_processes_of_guest(own))
    parts = printed.split("\n\n", 3)
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
        [each for each in map(_interface, json.loads(addresses)) if not is_guest or _is_used(*each)],
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
    count = 0
    for pid in sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit()):
        # It may end while it is looked at.
        with suppress(OSError, ValueError, IndexError):
            if os.readlink(f"/proc/{pid}/ns/net") != namespace:
                continue
            folder = Path(f"/proc/{pid}")
            stat = (folder / "stat").read_text(errors="replace")
            words = (folder / "cmdline").read_text(errors="replace").replace("\0", " ")
            status = (folder / "status").read_text(errors="replace")
            numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()[1:]
            if len(numbers) < 2:
                # What starts commands in the host from outside is not a process of the run.
                continue
            yield _process(int(numbers[-1]), stat, words)
            count += 1
            if count >= MOST_PROCESSES:
                return


def _processes_of_guest(printed: str) -> Iterator[HostProcess]:
    """The processes of a host that is a kernel of its own, as the script printed them, without its own."""
    shell, *lines = printed.splitlines()
    for stat, words in islice(zip(lines[::2], lines[1::2], strict=False), MOST_PROCESSES):
        pid, parent = int(stat.split()[0]), int(stat.rpartition(") ")[2].split()[1])
        if {pid, parent}.isdisjoint({_KERNEL_THREADS, int(shell)}):
            yield _process(pid, stat, words)


def _process(pid: int, stat: str, words: str) -> HostProcess:
    """A process by its line of /proc/PID/stat and its command line."""
    name, _, rest = stat.partition("(")[2].rpartition(") ")
    fields = rest.split()
    return HostProcess(
        pid=pid,
        command=words.strip() or f"[{name}]",
        state=fields[0],
        cpu_s=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
        rss_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _interface(each: Json) -> tuple[str, str, list[str]]:
    addresses = [f"{one['local']}/{one['prefixlen']}" for one in each.get("addr_info", ()) if "local" in one]
    return each["ifname"], each.get("operstate", "UNKNOWN"), addresses


def _is_used(_name: str, state: str, addresses: list[str]) -> bool:
    """Whether it is not one that a kernel has by itself, for a kind of tunnel."""
    return state != "DOWN" or bool(addresses)


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
