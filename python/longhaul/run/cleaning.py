"""Removing what killed runs left: sockets without a listener, control groups without processes."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from longhaul import _longhaul
from longhaul.run import session, state


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
    for group in _groups():
        if _is_empty(group):
            _remove(group)
            found = True
            yield f"removed {group}"
    if not found:
        yield "nothing to clean"


def _groups() -> list[Path]:
    own = _longhaul.own_cgroup()
    return sorted(Path(own).glob(f"{_longhaul.cgroup_prefix()}*")) if own else []


def _is_empty(group: Path) -> bool:
    with suppress(OSError):
        return "populated 0" in (group / "cgroup.events").read_text(encoding="utf-8")
    return False


def _remove(group: Path) -> None:
    for child in group.iterdir():
        if child.is_dir():
            _remove(child)
    with suppress(OSError):
        group.rmdir()
