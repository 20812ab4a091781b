"""Discovery of runs by their processes, without a socket.

The processes of a live run carry their orders on the command line; a relay has a name of its own, and its log
open.
"""

import json
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul import processes
from longhaul.results import run_record

_BETWEEN_LOOKS_S = 0.02
RELAY = "lh-relay"


@dataclass(frozen=True)
class Running:
    """A live run or a relay by its processes, or by what is left of them if some were killed."""

    name: str
    """What ``status`` and ``down`` call it."""
    run: str
    """The unique name of a live run, which its control group has, too."""
    directory: Path
    socket: Path
    """Where it is talked to, if that is still there."""
    is_standing: bool
    """Whether it stays up until it is told to end."""
    pids: tuple[int, ...]
    """Those that are not programs: worker, supervisor, engine and observer, or the relay."""
    supervisor: int | None

    @property
    def pid(self) -> int:
        """The process to talk of, and to signal."""
        return self.supervisor or self.pids[0]

    def end(self, *, within_s: float) -> None:
        """End it as SIGTERM does, or at once if it has not ended in time; what it recorded stays."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            until_s = time.monotonic() + within_s
            # Whoever was stopped hears nothing.
            self._signal((self.pid,) if number == signal.SIGTERM else self.pids, number)
            self._signal(self.pids, signal.SIGCONT)
            while any(processes.is_running(each) for each in self.pids):
                if time.monotonic() > until_s:
                    break
                time.sleep(_BETWEEN_LOOKS_S)
            else:
                return

    def _signal(self, pids: Iterable[int], number: int) -> None:
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def everything() -> list[Running]:
    """The live runs and relays of this user that have a process."""
    return [*workers(), *coordinators(), *relays()]


def at(socket: Path) -> Running | None:
    """The one that is talked to at ``socket``, whether that is still there or not."""
    return next((each for each in everything() if each.socket == socket), None)


def workers() -> list[Running]:
    """The live runs among them: up, or being brought up or down."""
    found: dict[str, list[_Process]] = {}
    for process in _processes():
        found.setdefault(process.orders["run"], []).append(process)
    return [_worker(run, each) for run, each in sorted(found.items())]


def coordinators() -> list[Running]:
    """The networks on several machines among them that stay up, by the processes that coordinate them."""
    found = []
    for pid, orders in _ordered(processes.COORDINATOR):
        path = Path(orders["socket"])
        directory, run = Path(orders["directory"]), str(orders["run"])
        found.append(Running(path.stem, run, directory, path, is_standing=True, pids=(pid,), supervisor=None))
    return found


def relays() -> list[Running]:
    """The relays among them."""
    return sorted(_relays(), key=lambda each: each.name)


def end_exporters(directories: Iterable[Path] | None = None) -> list[int]:
    """End the processes that serve metrics of the runs in these directories, or of all that have ended.

    They end with their run by themselves, except those that were stopped by SIGSTOP. Returns their numbers.
    """
    found = []
    up = {each.directory.resolve() for each in (*workers(), *coordinators()) if directories is None}
    ended = {each.resolve() for each in directories or ()}
    for entry in _entries():
        with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            words = processes.arguments(int(entry.name))
            directory = Path(json.loads(words[words.index(processes.EXPORTER) + 1])["directory"])
            wanted = directory not in up if directories is None else directory in ended
            if wanted and _is_ours(_status(entry)):
                pid = int(entry.name)
                os.kill(pid, signal.SIGTERM)
                os.kill(pid, signal.SIGCONT)
                found.append(pid)
    return found


def call_relay() -> None:
    """Give this process the name by which :func:`relays` finds it."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(RELAY, encoding="ascii")


@dataclass(frozen=True)
class _Process:
    pid: int
    is_supervisor: bool
    """Whether it is the first process of a PID namespace."""
    orders: dict[str, Any]


def _worker(run: str, found: Sequence[_Process]) -> Running:
    orders = found[0].orders
    path = Path(orders["socket"] or run)
    return Running(
        name=path.stem,
        run=run,
        directory=Path(orders["directory"]),
        socket=path,
        is_standing=bool(orders["keep"]),
        pids=tuple(sorted(each.pid for each in found)),
        supervisor=next((each.pid for each in found if each.is_supervisor), None),
    )


def _relays() -> Iterator[Running]:
    for entry in _entries():
        with suppress(OSError, ValueError, KeyError):
            if (entry / "comm").read_text(encoding="ascii").strip() != RELAY or not _is_ours(_status(entry)):
                continue
            logs = [Path(os.readlink(each)) for each in (entry / "fd").iterdir()]
            for log in logs:
                if log.parts[-2:] == ("raw", "connections.csv"):
                    directory, pids = log.parents[1], (int(entry.name),)
                    path = Path(run_record.read(directory / "run.json")["socket"])
                    yield Running(
                        path.stem, path.stem, directory, path, is_standing=True, pids=pids, supervisor=None
                    )


def _ordered(module: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The processes of this user that were started as ``module``, with their orders."""
    for entry in _entries():
        # Processes come and go, and anybody may write anything on a command line.
        with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            words = processes.arguments(int(entry.name))
            orders = json.loads(words[words.index(module) + 1])
            if _is_ours(_status(entry)) and isinstance(orders["run"], str):
                yield int(entry.name), orders


def _processes() -> Iterator[_Process]:
    """Processes of this user that were started as a worker, or forked by one."""
    for pid, orders in _ordered(processes.WORKER):
        with suppress(OSError, KeyError, TypeError):
            wanted = {name: orders[name] for name in ("run", "directory", "socket", "keep")}
            numbers = _status(Path(f"/proc/{pid}"))["NSpid"].split()
            yield _Process(pid, len(numbers) > 1 and numbers[-1] == "1", wanted)


def _entries() -> Iterator[Path]:
    return (entry for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def _status(process: Path) -> dict[str, str]:
    lines = (process / "status").read_text(encoding="utf-8", errors="replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _is_ours(status: Mapping[str, str]) -> bool:
    return int(status["Uid"].split()[0]) == os.getuid()
