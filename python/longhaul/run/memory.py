"""The memory limit of a run, and the memory that its links can hold."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

from longhaul import log
from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.run.available_memory import available_bytes
from longhaul.scenario.lower.link_memory import held_bytes
from longhaul.scenario.lower.resolve import Resolved
from longhaul.units.text import bytes_text

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_REMEDY = "shorten queues, delays or the duration, or raise --memory"
_INTERVAL_S = 0.2


class MemoryLimitError(LonghaulError):
    """A run has reached its memory limit. Its results so far are kept."""


def limit_of(limit_bytes: int | None) -> int:
    """The limit in bytes; by default half of the memory that is free now."""
    return available_bytes() // 2 if limit_bytes is None else limit_bytes


class MemoryLimit:
    """The memory that a run may use on top of what this process uses when the limit is made."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        """At most so many bytes; by default half of what is free now."""
        self.limit_bytes = limit_of(limit_bytes)
        self._before_bytes = resident_bytes()

    def check(self) -> None:
        """Raise MemoryLimitError if this process uses more."""
        self._compare(resident_bytes() - self._before_bytes)

    def _compare(self, used_bytes: int) -> None:
        if used_bytes > self.limit_bytes:
            raise MemoryLimitError(
                Code.MEMORY_LIMIT,
                f"the run ended early: it used {bytes_text(used_bytes)} of memory; "
                f"its limit is {bytes_text(self.limit_bytes)}",
                remedy=_REMEDY,
            )


class MemoryMonitor(threading.Thread):
    """Compares memory with a limit several times a second, until the limit is exceeded or the block ends."""

    def __init__(self, check: Callable[[], None], exceeded: Callable[[MemoryLimitError], None]) -> None:
        """``check`` raises the error that ``exceeded`` is called with, in this thread."""
        super().__init__(name="memory", daemon=True)
        self._check, self._exceeded, self._over = check, exceeded, threading.Event()

    def run(self) -> None:
        """Check at intervals."""
        while not self._over.wait(_INTERVAL_S):
            try:
                self._check()
            except MemoryLimitError as error:
                self._exceeded(error)
                return

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop, and wait for the thread."""
        self._over.set()
        self.join()


def resident_bytes() -> int:
    """The resident memory of this process; 0 where the kernel does not tell."""
    try:
        text = Path("/proc/self/statm").read_text(encoding="ascii")
        # Pages that are shared with its parent, or are of files, are not the run's.
        _size, resident, shared = (int(each) for each in text.split()[:3])
        return (resident - shared) * _PAGE_BYTES
    except (OSError, ValueError):
        return 0


def concerns(resolved: Resolved, limit_bytes: int | None = None) -> tuple[Diagnostic, ...]:
    """A warning if the links can hold more than a run may use: by default, half of the free memory."""
    held, limit = held_bytes(resolved), limit_of(limit_bytes)
    if held <= limit:
        return ()
    of = ", half of the free memory" if limit_bytes is None else ""
    message = (
        f"the run may end early, because its links can hold {bytes_text(held)} in queues and in transit, "
        f"more than the {bytes_text(limit)} that a run may use{of}"
    )
    return (
        resolved.scenario.warning(
            Code.MEMORY_SHORT, ("links",), message, "write shorter queues, such as limit: 1bdp"
        ),
    )


def warn(resolved: Resolved, limit_bytes: int | None) -> None:
    """Print this warning, if there is one, on standard error."""
    log.warn(*concerns(resolved, limit_bytes))
