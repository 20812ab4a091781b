"""One live run on the real clock at a time on a machine, among all sweeps of a user there.

Runs that share a machine take processors from each other, and each would measure the others. The turn is an
abstract Unix socket: it needs no directory that all jobs of a machine share, and ends with its process.
"""

import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from longhaul import _longhaul, log

_INTERVAL_S = 0.1
"""Between two looks whether the turn of another has ended."""


@contextmanager
def turn(stop: _longhaul.Stop | None = None) -> Iterator[bool]:
    """Within the block, no other sweep of this user runs live on this machine; ``False`` if stopped before.

    Machines with a network namespace each count as several.
    """
    with socket.socket(socket.AF_UNIX) as holder:
        while not _take(holder):
            _say_once()
            if stop is not None and stop.is_set():
                yield False
                return
            time.sleep(_INTERVAL_S)
        yield True


@cache
def _say_once() -> None:
    """Say why nothing seems to go on; sweeps that alternate wait before each run."""
    log.note("another sweep of yours runs live on this machine; the runs of both take turns")


def _take(holder: socket.socket) -> bool:
    """Give ``holder`` the name of the turn; ``False`` if another socket has it."""
    try:
        holder.bind(f"\0longhaul-sweep-{os.getuid()}")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
