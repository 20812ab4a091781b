"""The directory of sockets of running networks: one socket for each, owned by its user."""

import fcntl
import os
import re
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from longhaul import processes
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

_SOCKET = ".sock"
_TOKEN = ".token"
_LOCK = ".lock"


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
            Code.MACHINE_UNABLE,
            f"{directory} is not a directory that only this user can open",
            remedy="remove it, or set XDG_RUNTIME_DIR to a directory of your own",
            exit_code=3,
        )
    return directory


def socket_path(name: str) -> Path:
    """The socket of the run called ``name``."""
    return state_directory() / f"{re.sub(r'[^A-Za-z0-9._-]', '-', name)[:40]}{_SOCKET}"


@contextmanager
def claimed(name: str) -> Iterator[Path]:
    """The socket of a run that is to be called ``name``: nobody else's within the block.

    What an earlier run of that name left is removed. Raises LonghaulError if one is up or coming up.
    """
    from longhaul.run import run_discovery

    path = socket_path(name)
    with _locked(path.with_suffix(_LOCK), name):
        if is_alive(path) or run_discovery.at(path) is not None:
            raise _is_up(name)
        remove(path)
        yield path


@contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    """Hold the lock file at ``path``, and remove it afterwards."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = os.fstat(descriptor)
            # Whoever held it may have removed it after it was opened here.
            with suppress(FileNotFoundError):
                if os.path.samestat(ours, path.stat()):
                    break
        except BlockingIOError:
            os.close(descriptor)
            raise _is_up(name) from None
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_up(name: str) -> LonghaulError:
    return LonghaulError(
        Code.RUN_ALREADY_UP,
        f"a run called {name} is up, or is being brought up",
        remedy=f"take it down (longhaul down --name {name}) or choose another --name",
        exit_code=2,
    )


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
    """Remove a run's socket and its secret, which nobody else may have claimed meanwhile."""
    path.unlink(missing_ok=True)
    path.with_suffix(_TOKEN).unlink(missing_ok=True)


def leftovers() -> list[Path]:
    """Sockets nobody listens at, their secrets, and locks that nobody holds."""
    return [
        path
        for path in sorted(state_directory().iterdir())
        # A name that is being brought up has no listener yet.
        if _is_unused(path) and not _is_held(path.with_suffix(_LOCK))
    ]


def _is_unused(path: Path) -> bool:
    """Whether nobody listens at a socket, or the process that made a file of another kind has ended."""
    if path.suffix in (_SOCKET, _TOKEN):
        return not is_alive(path.with_suffix(_SOCKET))
    number = path.stem.rpartition("-")[2]
    return path.suffix == _LOCK or (number.isdecimal() and not processes.is_running(int(number)))


def _is_held(lock: Path) -> bool:
    """Whether some process holds a lock file."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def names() -> list[str]:
    """Names of the runs that have a socket, alive or not."""
    return sorted(path.stem for path in state_directory().glob(f"*{_SOCKET}"))


def is_alive(path: Path) -> bool:
    """Whether somebody answers at a run's socket."""
    try:
        connected(path).close()
    except OSError:
        return False
    return True


def connected(path: Path) -> socket.socket:
    """A connection to the socket at ``path``. Raises OSError."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as client, short(path) as name:
        client.connect(name)
        return client.dup()


@contextmanager
def short(path: Path) -> Iterator[str]:
    """A name of the socket at ``path`` that the kernel takes, whose limit is 107 bytes, within the block.

    The directory is named by a descriptor of this process.
    """
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


def find(name: str | None) -> Path:
    """The socket of run ``name``, or of the only run that is up."""
    alive = [each for each in names() if is_alive(socket_path(each))]
    if name is not None:
        if name in alive:
            return socket_path(name)
        _refuse_without_socket(name)
        known = ", ".join(alive) if alive else "none"
        raise LonghaulError(
            Code.RUN_NOT_FOUND, f"no run called {name} is up", remedy=f"up: {known}", exit_code=2
        )
    if len(alive) == 1:
        return socket_path(alive[0])
    if not alive:
        _refuse_without_socket(None)
        raise LonghaulError(
            Code.RUN_NOT_FOUND, "nothing is up", remedy="start one with: longhaul up SCENARIO", exit_code=2
        )
    raise LonghaulError(
        Code.RUN_NOT_FOUND,
        f"{len(alive)} runs are up: {', '.join(alive)}",
        remedy="select one with --name",
        exit_code=2,
    )


def _refuse_without_socket(name: str | None) -> None:
    """Say so if there is such a run that cannot be talked to."""
    from longhaul.run import run_discovery

    for each in run_discovery.everything():
        if each.is_standing and name in (None, each.name) and each.socket.parent == state_directory():
            raise LonghaulError(
                Code.RUN_UNRESPONSIVE,
                f"{each.name} is up (process {each.pid}), but its socket is gone",
                remedy=f"end it: longhaul down --name {each.name}",
                exit_code=2,
            )
