"""Removing what killed runs left: sockets without a listener, control groups without processes."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress

from longhaul.run import groups, session, state


def remove_leftovers(*, everything: bool) -> Iterator[str]:
    """Remove them and say each; with ``everything``, end runs that are up as well."""
    found = False
    for name in state.names():
        path = state.socket_path(name)
        if state.is_alive(path):
            if not everything:
                continue
            line = session.connect(path)
            supervisor = line.peer()
            line.close()
            with suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGKILL)
            yield f"ended {name}"
        state.remove(path)
        found = True
        yield f"removed {path}"
    for group in groups.every():
        if groups.remove(group):
            found = True
            yield f"removed {group}"
    if not found:
        yield "nothing to clean"
