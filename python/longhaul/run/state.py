"""Where runs that are up can be found: one socket each, in a directory of their owner."""

import os
import re
import secrets
import socket
import stat
from contextlib import suppress
from pathlib import Path

from longhaul.errors import LonghaulError

_SOCKET = ".sock"
_TOKEN = ".token"


def state_directory() -> Path:
    """The directory of this user's sockets, made with mode 0700 if need be."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        directory = Path(runtime) / "longhaul"
    elif os.geteuid() == 0:
        directory = Path("/run/longhaul")
    else:
        directory = Path(f"/tmp/longhaul-{os.getuid()}")
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Not what a link leads to: in /tmp, anybody can make one that leads into another directory of this user.
    owner = directory.lstat()
    if not stat.S_ISDIR(owner.st_mode) or owner.st_uid != os.geteuid() or owner.st_mode & 0o077:
        raise LonghaulError(
            f"{directory} is not a directory that only this user can open",
            remedy="remove it, or set XDG_RUNTIME_DIR to a directory of your own",
            exit_code=3,
        )
    return directory


def socket_path(name: str) -> Path:
    """The socket of the run called ``name`` (short: a socket's path may have 107 bytes)."""
    return state_directory() / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)[:40]}{_SOCKET}"


def free_socket(name: str) -> Path:
    """The socket of a run that is to be called ``name``; raises LonghaulError if one is up under it."""
    path = socket_path(name)
    if path.exists():
        if is_alive(path):
            raise LonghaulError(
                f"a run called {name} is up already",
                remedy=f"take it down (longhaul down --name {name}) or choose another --name",
                exit_code=2,
            )
        remove(path)
    return path


def new_token(path: Path) -> str:
    """A secret that only this user can read, without which the run at socket ``path`` does nothing."""
    token = secrets.token_hex(32)
    place = path.with_suffix(_TOKEN)
    place.unlink(missing_ok=True)
    with open(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(token)
    return token


def token_of(path: Path) -> str | None:
    """The secret of the run at socket ``path``, if it has one."""
    with suppress(OSError):
        return path.with_suffix(_TOKEN).read_text(encoding="ascii")
    return None


def remove(path: Path) -> None:
    """Remove a run's socket and its secret."""
    path.unlink(missing_ok=True)
    path.with_suffix(_TOKEN).unlink(missing_ok=True)


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
