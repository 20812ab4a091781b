"""Writing to disk: every file is complete or absent, also after a crash; symbolic links are not followed.

All that runs, sweeps and relays write from Python goes through :class:`Storage`, so that tests can make each
of its operations fail.
"""

import errno
import fcntl
import io
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from longhaul import json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

_PART = re.compile(r"\.(?P<name>.+)\.(?P<pid>[0-9]+)\.[0-9a-f]+\.part")


class Storage(Protocol):
    """The operations that change a file system. Each raises OSError."""

    def create(self, path: Path, *, mode: int) -> int:
        """Create a file that does not exist yet, and return a descriptor to write to it."""

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write some of ``data``; returns how many bytes."""

    def sync(self, descriptor: int) -> None:
        """Wait until a file is on the device."""

    def rename(self, source: Path, target: Path) -> None:
        """Rename a file, in place of ``target`` if that exists."""

    def remove(self, path: Path) -> None:
        """Remove a file."""

    def link(self, target: str, path: Path) -> None:
        """Create a symbolic link to ``target``."""

    def make_directory(self, path: Path) -> None:
        """Create a directory that does not exist yet, and those above it."""

    def sync_directory(self, path: Path) -> None:
        """Wait until the entries of a directory are on the device."""


class Disk:
    """The file system of this machine."""

    def create(self, path: Path, *, mode: int) -> int:
        """Create with O_EXCL and O_NOFOLLOW: a file or link that somebody has put there is an error.

        The file is locked as long as it is open, for :func:`is_locked`.
        """
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with suppress(OSError):
            # Some file systems have no locks.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor

    def write(self, descriptor: int, data: memoryview) -> int:
        """Write, maybe not all."""
        return os.write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        """Wait as fsync(2) does."""
        os.fsync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        """Rename; a symbolic link is replaced itself."""
        source.replace(target)

    def remove(self, path: Path) -> None:
        """Remove a file or a link."""
        path.unlink()

    def link(self, target: str, path: Path) -> None:
        """Create a symbolic link."""
        path.symlink_to(target)

    def make_directory(self, path: Path) -> None:
        """Create as ``mkdir -p`` does, but the last one must be new."""
        path.mkdir(parents=True)

    def sync_directory(self, path: Path) -> None:
        """Wait as fsync(2) of the directory does, where the file system can."""
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(descriptor)


_CURRENT: ContextVar[Storage] = ContextVar("storage", default=Disk())  # noqa: B039 -- it has no state


def current() -> Storage:
    """The storage that is written to here."""
    return _CURRENT.get()


@contextmanager
def using(storage: Storage) -> Iterator[None]:
    """Write to another storage within the block."""
    token = _CURRENT.set(storage)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def replacing(path: Path, *, mode: int | None = None) -> Iterator[BinaryIO]:
    """A file to write to that replaces ``path`` when the block ends; after an error ``path`` is as before.

    It is written beside ``path`` under a name that nobody can guess, synced, renamed, and the directory is
    synced. ``mode`` are its permissions whatever the umask; if left out, those of any new file.
    """
    storage = current()
    # It is closed, and with that unlocked, after it has its name.
    descriptor: int | None = None
    try:
        with _beside(path, storage) as part:
            descriptor = storage.create(part, mode=0o666 if mode is None else 0o600)
            with io.BufferedWriter(_Output(storage, descriptor), 1 << 16) as file:
                yield file
            if mode is not None:
                os.fchmod(descriptor, mode)
            storage.sync(descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While a file is written that the user has named.

    Raises LonghaulError if that fails, unless the file is there already or the disk is full.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOSPC, errno.EDQUOT):
            raise
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"cannot write {path}: {(error.strerror or 'it fails').lower()}",
            remedy="name a file in a folder that is there",
            exit_code=2,
        ) from None


def replace_bytes(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Make ``content`` that of the file at ``path``, in one step."""
    with replacing(path, mode=mode) as file:
        file.write(content)


def replace_text(path: Path, text: str) -> None:
    """The same for text, as UTF-8."""
    replace_bytes(path, text.encode("utf-8"))


def replace_json(path: Path, content: Any) -> None:
    """The same for an object as JSON."""
    replace_bytes(path, json_text.written(content) + b"\n")


def replace_link(path: Path, target: str) -> None:
    """Make ``path`` a symbolic link to ``target``, in one step."""
    storage = current()
    with _beside(path, storage) as part:
        storage.link(target, part)


def make_directory(path: Path) -> None:
    """Create a directory that does not exist yet. Raises OSError."""
    current().make_directory(path)


def part_name(name: str) -> str:
    """The name of a file while this process writes it: ``.NAME.PID.RANDOM.part``."""
    return f".{name}.{os.getpid()}.{secrets.token_hex(4)}.part"


def part_of(path: Path) -> tuple[str, int] | None:
    """The name and the process that :func:`part_name` made ``path`` of; ``None`` for any other path."""
    match = _PART.fullmatch(path.name)
    return (match["name"], int(match["pid"])) if match else None


def is_locked(path: Path) -> bool | None:
    """Whether a process has the lock that files have while :class:`Disk` or ``crates/storage`` writes them.

    ``None`` if that is unknown: for links, unreadable files, and file systems without locks.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return False


def discard(path: Path) -> None:
    """Remove a file, a link or a directory with all that is in it, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def _beside(path: Path, storage: Storage) -> Iterator[Path]:
    """The name of a file that replaces ``path`` when the block ends, and is removed after an error."""
    part = path.with_name(part_name(path.name))
    try:
        yield part
        storage.rename(part, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            # Users know the file by this name alone.
            error.filename, error.filename2 = str(path), None
        # What somebody else has put there is theirs.
        if not isinstance(error, FileExistsError):
            with suppress(OSError):
                storage.remove(part)
        raise
    storage.sync_directory(path.parent)


class _Output(io.RawIOBase):
    """A descriptor as a raw stream whose writes go through a storage. It does not close the descriptor."""

    def __init__(self, storage: Storage, descriptor: int) -> None:
        self._storage = storage
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        return self._storage.write(self._descriptor, memoryview(data).cast("B"))
