"""Memory: what is free, what a run may use, and what a scenario may hold in its queues."""

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from longhaul.analysis.text import bytes_text
from longhaul.errors import LonghaulError
from longhaul.run.session import Session
from longhaul.scenario.laws import plan_mean_ns, rate_of_law
from longhaul.scenario.resolve import Resolved

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_UNKNOWN_BYTES = 1 << 30
"""Assumed to be free where the kernel does not say."""
_REMEDY = "shorten queues, delays or the duration, or raise --memory"
_WORKER = b"longhaul.run.worker"
"""In the command line of the processes of a live run that are Longhaul's own."""
_BETWEEN_LOOKS_S = 0.2


class MemoryLimitError(LonghaulError):
    """A run has reached its memory limit. Its results so far are kept."""


class MemoryLimit:
    """The memory that a run may use on top of what this process uses when the limit is made."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        """At most so many bytes; by default half of what is free now."""
        self.limit_bytes = available_bytes() // 2 if limit_bytes is None else limit_bytes
        self._before_bytes = resident_bytes()

    def check(self) -> None:
        """Raise MemoryLimitError if this process uses more."""
        self._compare(resident_bytes() - self._before_bytes)

    def check_worker(self, pid: int) -> None:
        """Raise MemoryLimitError if the worker of a live run, started as ``pid``, uses more.

        Its engine and supervisor count, and programs in hosts do not.
        """
        self._compare(sum(resident_bytes(each) for each in _workers(pid)))

    def _compare(self, used_bytes: int) -> None:
        if used_bytes > self.limit_bytes:
            raise MemoryLimitError(
                f"the run used {bytes_text(used_bytes)} of memory and was ended early; "
                f"its limit is {bytes_text(self.limit_bytes)}",
                remedy=_REMEDY,
            )


class Watch(threading.Thread):
    """Compares the memory of a live run with its limit, and asks the run to end when it is reached."""

    def __init__(self, limit: MemoryLimit, session: Session) -> None:
        """Of the worker of ``session``."""
        super().__init__(name="memory", daemon=True)
        self.error: MemoryLimitError | None = None
        """Set if the limit was reached."""
        self._limit, self._session, self._over = limit, session, threading.Event()

    def run(self) -> None:
        """Look several times a second."""
        while not self._over.wait(_BETWEEN_LOOKS_S):
            try:
                self._limit.check_worker(self._session.pid)
            except MemoryLimitError as error:
                self.error = error
                self._session.stop()
                return

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()


def available_bytes() -> int:
    """What processes can still take without swapping: of the machine, and of this control group."""
    found = [_meminfo("MemAvailable") or _UNKNOWN_BYTES]
    group = Path("/sys/fs/cgroup") / _own_group()
    for each in (group, *group.parents):
        limit, used = (_number(each / name) for name in ("memory.max", "memory.current"))
        if limit is not None and used is not None:
            found.append(max(0, limit - used))
    return min(found)


def resident_bytes(pid: int | None = None) -> int:
    """The resident memory of a process, this one by default; 0 if there is no such process."""
    try:
        text = Path(f"/proc/{pid or 'self'}/statm").read_text(encoding="ascii")
        # Pages that are shared with its parent, or are of files, are not the run's.
        _size, resident, shared = (int(each) for each in text.split()[:3])
        return (resident - shared) * _PAGE_BYTES
    except (OSError, ValueError):
        return 0


def held_bytes(resolved: Resolved) -> int:
    """The most that queues and wires of all links may hold together.

    It is not more than flows offer, where each of them has a rate or a volume.
    """
    plan = resolved.plan
    offered = None if plan["programs"] or resolved.jobs else _offered_bytes(resolved)
    held = sum(
        _held(link[way], link["mtu"], offered) for link in plan["links"] for way in ("forward", "reverse")
    )
    return held if offered is None else min(held, offered)


def concerns(resolved: Resolved) -> tuple[str, ...]:
    """A warning if the links of a scenario may hold more than a run may use on this machine."""
    held, free = held_bytes(resolved), available_bytes()
    if held <= free // 2:
        return ()
    message = (
        f"a run may reach its memory limit and end early: the links may hold {bytes_text(held)} in queues "
        f"and in transit; the limit is half of the {bytes_text(free)} that are free"
    )
    return (resolved.scenario.warning(("links",), message, "write shorter queues, such as limit: 1bdp"),)


def _offered_bytes(resolved: Resolved) -> int | None:
    """What all flows may send together; ``None`` if one has no rate and no volume, or no end."""
    total = 0
    for flow in resolved.traffic:
        stop_ns = flow.get("stop_ns") or resolved.plan["duration_ns"]
        if flow["kind"] == "ping":
            continue
        if flow.get("bytes"):
            each = int(flow["bytes"])
        elif flow["kind"] == "udp" and stop_ns is not None and flow.get("rate_bits_per_s"):
            each = flow["rate_bits_per_s"] * max(0, stop_ns - (flow["start_ns"] or 0)) // (8 * 10**9)
        else:
            return None
        total += each * len(flow["destinations"]) * int(flow.get("count") or flow.get("flows") or 1)
    return total


def _held(direction: Mapping[str, Any], mtu: int, offered: int | None) -> int:
    routes = direction["bundle"]["routes"] if direction.get("bundle") else [direction]
    held = 0
    for route in routes:
        rate = rate_of_law(route["rate"])
        limits = (route["queue"]["limit_bytes"], (route["queue"]["limit_packets"] or 0) * mtu)
        queue = min((limit for limit in limits if limit), default=offered or 0)
        held += queue if rate is not None else 0
        held += (rate or 0) * plan_mean_ns(route["delay"]) // (8 * 10**9)
    return held


def _workers(pid: int) -> list[int]:
    """The processes of Longhaul among ``pid`` and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        each = waiting.pop()
        with suppress(OSError):
            if _WORKER in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(each)
        # Programs in hosts have none of these below them.
        if each in found or each == pid:
            with suppress(OSError, ValueError):
                children = Path(f"/proc/{each}/task/{each}/children").read_text(encoding="ascii")
                waiting += [int(child) for child in children.split()]
    return found


def _meminfo(name: str) -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _own_group() -> str:
    """The path of this process's control group (v2), without its first slash."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except OSError:
        return ""
    return next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
