"""Files that are there whole or not at all, also after a crash or on a full disk."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of ``path`` when the block ends; an error leaves nothing behind.

    It is written beside ``path`` under a name that nobody can have guessed or linked elsewhere.
    """
    part = path.with_name(part_name(path.name))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(part, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def replace_bytes(path: Path, content: bytes) -> None:
    """Make ``content`` that of the file at ``path``, in one step."""
    with replacing(path) as file:
        file.write(content)


def replace_text(path: Path, text: str) -> None:
    """The same for text, as UTF-8."""
    replace_bytes(path, text.encode("utf-8"))


def part_name(name: str) -> str:
    """What a file is called while this process writes it."""
    return f".{name}.{os.getpid()}.{secrets.token_hex(4)}.part"


def _sync_directory(directory: Path) -> None:
    # Not every file system can.
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
