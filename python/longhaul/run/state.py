"""Where runs that are up can be found: one socket each, in a directory of their owner."""

import os
import re
import socket
from pathlib import Path

from longhaul.errors import LonghaulError

_SOCKET = ".sock"


def state_directory() -> Path:
    """The directory of this user's sockets, made with mode 0700 if need be."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        directory = Path(runtime) / "longhaul"
    elif os.geteuid() == 0:
        directory = Path("/run/longhaul")
    else:
        directory = Path(f"/tmp/longhaul-{os.getuid()}")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = directory.stat()
    if owner.st_uid != os.geteuid() or owner.st_mode & 0o077:
        raise LonghaulError(
            f"{directory} belongs to somebody else or is open to others",
            remedy="remove it, or set XDG_RUNTIME_DIR to a directory of your own",
            exit_code=3,
        )
    return directory


def socket_path(name: str) -> Path:
    """The socket of the run called ``name`` (short: a socket's path may have 107 bytes)."""
    return state_directory() / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)[:40]}{_SOCKET}"


def names() -> list[str]:
    """Names of the runs that have a socket, alive or not."""
    return sorted(path.stem for path in state_directory().glob(f"*{_SOCKET}"))


def is_alive(path: Path) -> bool:
    """Whether somebody answers at a run's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def find(name: str | None) -> Path:
    """The socket of run ``name``, or of the only run that is up."""
    alive = [each for each in names() if is_alive(socket_path(each))]
    if name is not None:
        if name in alive:
            return socket_path(name)
        known = ", ".join(alive) if alive else "none"
        raise LonghaulError(f"no run called {name} is up", remedy=f"up: {known}", exit_code=2)
    if len(alive) == 1:
        return socket_path(alive[0])
    if not alive:
        raise LonghaulError("nothing is up", remedy="start one with: longhaul up SCENARIO", exit_code=2)
    raise LonghaulError(
        f"{len(alive)} runs are up: {', '.join(alive)}", remedy="say which with --name", exit_code=2
    )
