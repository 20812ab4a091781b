"""Faults done to the processes of a run from outside: nothing in Longhaul knows of them.

Signals, the kernel's out-of-memory killer, a full disk, a socket that is shut down under its process.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from longhaul import processes
from longhaul.run import run_discovery

_SYS_PIDFD_OPEN, _SYS_PIDFD_GETFD = 434, 438
_LIBC = ctypes.CDLL(None, use_errno=True)
_HOG = """
import sys
victim, group = sys.argv[1:]
with open(f"{group}/cgroup.procs", "w") as file:
    file.write("0")
held = []
try:
    while open(f"/proc/{victim}/stat").read().rpartition(")")[2].split()[0] != "Z":
        held.append(b"x" * (2 << 20))
except (FileNotFoundError, ProcessLookupError):
    pass
"""
_HOGS = 4
"""So that none holds nearly as much as the limit, which is what ``oom_score_adj`` 1000 adds to a victim."""


@dataclass(frozen=True)
class Tree:
    """The processes of a live run, as far as they are there."""

    client: int | None
    worker: int | None
    supervisor: int | None
    engine: int | None
    observer: int | None
    exporter: int | None
    directory: Path | None

    def pid(self, name: str) -> int | None:
        """The one called ``name``."""
        found: int | None = getattr(self, name)
        return found


def tree(client: int | None, *, tag: str) -> Tree:
    """The processes of the run whose environment has ``tag``."""
    found = [each for each in run_discovery.workers() if any(has_tag(pid, tag) for pid in each.pids)]
    exporter = next((pid for pid in tagged(tag) if "longhaul.run.exporter" in command(pid)), None)
    if not found:
        return Tree(client, None, None, None, None, exporter, None)
    run = found[0]
    names = {name: pid for pid in run.pids if (name := _name(pid)).startswith("lh-")}
    of = lambda name: names.get(f"lh-{name}")  # noqa: E731
    # Before it has its name, the first process is the worker that is to be.
    worker = of("worker") or (run.pids[0] if not names else None)
    return Tree(client, worker, run.supervisor, of("engine"), of("observer"), exporter, run.directory)


def tagged(tag: str) -> list[int]:
    """The processes whose environment has ``tag``, ``NAME=value``, and which are no zombies."""
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
    return sorted(pid for pid in numbers if pid != os.getpid() and has_tag(pid, tag))


def has_tag(pid: int, tag: str) -> bool:
    """Whether a process has ``tag`` in its environment, and is not a zombie."""
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return tag.encode() in variables and processes.state(pid) not in (None, "Z", "X")
    return False


def state(pid: int) -> str | None:
    """The state of a process as one letter of ``proc(5)``; ``None`` if there is none."""
    return processes.state(pid)


def command(pid: int) -> list[str]:
    """The command line of a process."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


def send(pid: int, number: int) -> bool:
    """Send a signal; whether there still was such a process."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def freeze(pid: int, seconds: float | None) -> bool:
    """Stop a process, and let it go on after ``seconds``, if it has not by itself."""
    if not send(pid, signal.SIGSTOP):
        return False
    if seconds is not None:
        time.sleep(seconds)
        send(pid, signal.SIGCONT)
    return True


def sockets(pid: int) -> list[int]:
    """The descriptors of a process that are sockets, in order."""
    found = []
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if os.readlink(entry).startswith("socket:"):
                    found.append(int(entry.name))
    return sorted(found)


def shut_down(pid: int, descriptor: int) -> bool:
    """Shut a socket down that a process has open, both ways, as if its other end had gone."""
    stream = _duplicate(pid, descriptor)
    if stream is None:
        return False
    with stream:
        try:
            stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            return False
    return True


def is_listening(pid: int, descriptor: int) -> bool:
    """Whether connections are accepted at a socket that a process has open."""
    stream = _duplicate(pid, descriptor)
    if stream is None:
        return False
    with stream:
        return bool(stream.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def _duplicate(pid: int, descriptor: int) -> socket.socket | None:
    pidfd = _LIBC.syscall(_SYS_PIDFD_OPEN, pid, 0)
    if pidfd < 0:
        return None
    try:
        ours = _LIBC.syscall(_SYS_PIDFD_GETFD, pidfd, descriptor, 0)
    finally:
        os.close(pidfd)
    return socket.socket(fileno=ours) if ours >= 0 else None


@dataclass(frozen=True)
class MemoryGroup:
    """A control group whose processes have so much memory together."""

    path: Path

    def take_in(self, pid: int) -> None:
        """Move a process there, and with it what it starts from now on."""
        (self.path / "cgroup.procs").write_text(str(pid))

    def run_out(self, victim: int) -> bool:
        """Have memory run out, and the kernel choose ``victim``; whether it has."""
        with suppress(OSError):
            Path(f"/proc/{victim}/oom_score_adj").write_text("1000")
            command = [sys.executable, "-c", _HOG, str(victim), str(self.path)]
            hogs = [subprocess.Popen(command) for _ in range(_HOGS)]
            for hog in hogs:
                hog.wait(timeout=60)
            return processes.state(victim) in (None, "Z", "X")
        return False


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[MemoryGroup | None]:
    """A new group with this limit below our own; ``None`` where that cannot be made."""
    own = _own_memory_group()
    path = own / f"faults-{os.getpid()}-{time.monotonic_ns():x}" if own is not None else None
    try:
        if path is None:
            yield None
            return
        path.mkdir()
        name = "memory.max" if (path / "memory.max").exists() else "memory.limit_in_bytes"
        (path / name).write_text(str(limit_bytes))
    except OSError:
        if path is not None:
            with suppress(OSError):
                path.rmdir()
        yield None
        return
    try:
        yield MemoryGroup(path)
    finally:
        until(lambda: not (path / "cgroup.procs").read_text().strip(), within_s=10)
        with suppress(OSError):
            path.rmdir()


def _own_memory_group() -> Path | None:
    """This process's control group that limits memory, of either version."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    for line in mounts:
        front, _, back = line.partition(" - ")
        kind, options = back.split()[0], back.split()[-1].split(",")
        mark = (
            ":memory:" if kind == "cgroup" and "memory" in options else "0::" if kind == "cgroup2" else None
        )
        if mark is None:
            continue
        group = next((each.partition(mark)[2] for each in groups if mark in each), "/")
        path = Path(front.split()[4] + group)
        if kind == "cgroup" or "memory" in _words(path / "cgroup.subtree_control"):
            return path
    return None


def _words(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().split()
    return []


@contextmanager
def small_disk(place: Path, size_bytes: int) -> Iterator[Path]:
    """A file system of this size at ``place``."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def fill(place: Path) -> Path:
    """Take all the room that is left at ``place``, with a file that is returned."""
    path = place / "filling"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 12))
    return path


def until(condition: Callable[[], bool], *, within_s: float = 30) -> bool:
    """Wait until a condition holds; whether it does."""
    until_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until_s:
            return False
        time.sleep(0.02)
    return True


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip()
    return ""
