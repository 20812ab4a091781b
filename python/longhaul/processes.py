"""Processes: whether they run, their arguments, and an identity that a reused PID does not share."""

import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

WORKER = "longhaul.run.worker"
"""The module that is started as the worker of a live run, with its orders in JSON as the argument."""
COORDINATOR = "longhaul.machines.persistent_networks"
"""The module that is started to coordinate a network on several machines that stays up, likewise."""
EXPORTER = "longhaul.run.exporter"
"""The module that is started to serve the metrics of a network that stays up, likewise."""
_ENDED = "ZX"
"""States of a process that has ended and that its parent has not waited for, or is being removed."""

Identity = dict[str, Any]
"""``pid``, ``start_ticks`` (of the clock since boot), ``boot_id``, ``pid_namespace``, ``host``: for JSON."""


def identify(pid: int | None = None) -> Identity | None:
    """The identity of a process, this one by default; ``None`` if there is no such process."""
    number = os.getpid() if pid is None else pid
    found = _stat(number)
    if found is None:
        return None
    return {
        "pid": number,
        "start_ticks": found[1],
        "boot_id": _boot_id(),
        "pid_namespace": _pid_namespace(),
        "host": platform.node(),
    }


def is_alive(identity: Mapping[str, Any]) -> bool | None:
    """Whether a process still runs; ``None`` if that cannot be seen from here.

    It cannot of another machine's processes, nor from another PID namespace. A zombie does not run.
    """
    if is_of_an_earlier_boot(identity):
        return False
    if identity.get("boot_id") != _boot_id():
        return None
    if identity.get("pid_namespace") != _pid_namespace():
        return None
    found = _stat(int(identity.get("pid", 0)))
    return found is not None and found[0] not in _ENDED and found[1] == identity.get("start_ticks")


def is_of_an_earlier_boot(identity: Mapping[str, Any]) -> bool:
    """Whether a process of this machine ran before it was started the last time."""
    return identity.get("boot_id") != _boot_id() and identity.get("host") == platform.node()


def state(pid: int) -> str | None:
    """The state of a process as one letter of ``proc(5)``; ``None`` if there is no such process."""
    found = _stat(pid)
    return found[0] if found else None


def is_running(pid: int) -> bool:
    """Whether there is such a process and it has not ended; a zombie has."""
    found = state(pid)
    return found is not None and found not in _ENDED


def owner(pid: int) -> int | None:
    """The user that a process runs as; ``None`` if there is no such process."""
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def arguments(pid: int) -> list[str]:
    """The command line of a process; empty if there is no such process, or it has none."""
    try:
        content = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return content.decode(errors="replace").removesuffix("\0").split("\0")


def _stat(pid: int) -> tuple[str, int] | None:
    """State and start time."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name stands in parentheses and may contain anything.
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19])


@cache
def _boot_id() -> str | None:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


@cache
def _pid_namespace() -> str | None:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return None
