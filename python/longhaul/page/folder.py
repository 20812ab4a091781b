"""The directory that the page shows: its files of scenarios and requests, read and written whole."""

import fcntl
import hashlib
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from longhaul import storage
from longhaul.diagnostics import Code, printable
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.texts import FileEntry, FileText, Saved

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}\.(ya?ml|csv)")
MOST_BYTES = 1 << 20
"""Of a file that the page edits."""
_SAVING = threading.Lock()


def listing(directory: Path, *, data: bool = False) -> list[FileEntry]:
    """YAML files by name, and CSV with ``data``: when they were written, and the etag of what is in them."""
    found: list[FileEntry] = []
    for path in sorted(directory.iterdir()):
        if not _NAME.fullmatch(path.name) or (path.suffix == ".csv" and not data):
            continue
        try:
            content, about = _content(directory, place(directory, path.name))
        except (OSError, RefusedError):
            continue
        if len(content) <= MOST_BYTES:
            found.append({"name": path.name, "mtime_unix_s": about.st_mtime, "etag": etag(content)})
    return found


def etag(content: bytes) -> str:
    """What tells two contents apart."""
    return hashlib.sha256(content).hexdigest()[:32]


def read(directory: Path, name: str) -> FileText:
    """Text and etag of file ``name``; raises :class:`RefusedError`."""
    path = place(directory, name)
    try:
        content, _about = _content(directory, path)
        if len(content) > MOST_BYTES:
            raise RefusedError(
                Code.FILE_TOO_LARGE, 413, f"{name} is too large for the page", remedy="edit it with an editor"
            )
        return {"name": name, "text": content.decode(), "etag": etag(content)}
    except FileNotFoundError:
        raise RefusedError(Code.PAGE_NOT_FOUND, 404, f"there is no {name}", remedy="save it first") from None
    except OSError as error:
        raise RefusedError(Code.FILE_UNREADABLE, 400, f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise RefusedError(Code.NOT_TEXT, 400, f"{name} is not UTF-8", remedy="save it as UTF-8") from None


def write(directory: Path, name: str, text: str, *, before: str | None) -> Saved:
    """Put ``text`` into file ``name`` in one step, if it is what it was at etag ``before``.

    ``None`` for a file that is not to be there yet. Raises :class:`RefusedError`, with 409 where
    somebody else wrote.
    """
    path = place(directory, name)
    content = text.encode()
    try:
        with _alone(directory):
            mode = None
            present = None
            if path.exists():
                before_us, about = _content(directory, path)
                present, mode = etag(before_us), stat.S_IMODE(about.st_mode)
            if present != before:
                what = "has been changed by somebody else" if present and before else "already exists"
                what = what if present else "is gone"
                raise RefusedError(
                    Code.PAGE_CONFLICT,
                    409,
                    f"{name} {what}",
                    remedy="load it again, or save under another name",
                )
            storage.replace_bytes(path, content, mode=mode)
    except OSError as error:
        raise RefusedError(Code.FILE_UNWRITABLE, 400, f"cannot write {name}: {error.strerror}") from error
    return {"name": name, "etag": etag(content)}


def _content(directory: Path, path: Path) -> tuple[bytes, os.stat_result]:
    """What is in a regular file, at most a byte more than :data:`MOST_BYTES`, and its status."""
    # A FIFO would wait for a writer, and what a name leads to may have changed since it was looked at.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise RefusedError(
                Code.FILE_UNREADABLE,
                400,
                f"{path.name} is not a file",
                remedy="remove it, or choose another name",
            )
        if not Path(os.readlink(f"/proc/self/fd/{descriptor}")).is_relative_to(directory.resolve()):
            raise outside(path.name)
        return file.read(MOST_BYTES + 1), about


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Nobody else saves into ``directory`` meanwhile, in this server or another."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with _SAVING:
            # Not every file system can lock a directory.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
    finally:
        os.close(descriptor)


def place(directory: Path, name: str) -> Path:
    """Where file ``name`` is; nothing but a plain name leads anywhere."""
    if not _NAME.fullmatch(name):
        remedy = "use letters, digits, dots, hyphens and underscores, and end it with .yaml or .csv"
        raise RefusedError(
            Code.NAME_INVALID, 400, f'"{printable(name)}" cannot name a file here', remedy=remedy
        )
    path = directory / name
    if not path.is_symlink():
        return path
    # What a link leads to is written, and the link stays.
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(directory.resolve()):
        raise outside(name)
    if not target.is_file():
        raise RefusedError(Code.FILE_UNREADABLE, 400, f"{name} leads nowhere", remedy="remove the link")
    return target


def outside(name: str) -> RefusedError:
    """The refusal of a file that is elsewhere."""
    message = f"{name} leads out of the directory that the page shows"
    return RefusedError(Code.FILE_UNREADABLE, 403, message, remedy="copy the file here in place of the link")
