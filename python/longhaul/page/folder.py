"""The directory that the page shows: its scenario files, read and written whole."""

import hashlib
import os
import re
import stat
from pathlib import Path

from longhaul.page.answers.texts import FileEntry, FileText, Saved
from longhaul.page.refusals import RefusedError
from longhaul.scenario.problems import printable

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,80}\.ya?ml")
MOST_BYTES = 1 << 20
"""Of a file that the page edits."""


def listing(directory: Path) -> list[FileEntry]:
    """Scenario files by name: when they were written, and the etag of what is in them."""
    found: list[FileEntry] = []
    for path in sorted(directory.iterdir()):
        if not _NAME.fullmatch(path.name):
            continue
        try:
            about = path.stat()
            if stat.S_ISREG(about.st_mode) and about.st_size <= MOST_BYTES:
                tag = etag(path.read_bytes())
                found.append({"name": path.name, "mtime_unix_s": about.st_mtime, "etag": tag})
        except OSError:
            continue
    return found


def etag(content: bytes) -> str:
    """What tells two contents apart."""
    return hashlib.sha256(content).hexdigest()[:32]


def read(directory: Path, name: str) -> FileText:
    """Text and etag of file ``name``; raises :class:`RefusedError`."""
    path = place(directory, name)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise RefusedError(413, f"{name} is too large for the page", remedy="edit it with an editor")
        return {"name": name, "text": content.decode(), "etag": etag(content)}
    except FileNotFoundError:
        raise RefusedError(404, f"there is no {name}", remedy="save it first") from None
    except OSError as error:
        raise RefusedError(400, f"cannot read {name}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise RefusedError(400, f"{name} is not UTF-8", remedy="save it as UTF-8") from None


def write(directory: Path, name: str, text: str, *, before: str | None) -> Saved:
    """Put ``text`` into file ``name`` in one step, if it is what it was at etag ``before``.

    ``None`` for a file that is not to be there yet. Raises :class:`RefusedError`, with 409 where
    somebody else wrote.
    """
    path = place(directory, name)
    try:
        present = etag(path.read_bytes()) if path.exists() else None
        if present != before:
            what = "has been changed by somebody else" if present and before else "is there already"
            what = what if present else "is gone"
            raise RefusedError(409, f"{name} {what}", remedy="load it again, or save under another name")
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        mode = stat.S_IMODE(path.stat().st_mode) if present else 0o666 & ~_umask()
        content = text.encode()
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        temporary.replace(path)
    except OSError as error:
        raise RefusedError(400, f"cannot write {name}: {error.strerror}") from error
    return {"name": name, "etag": etag(content)}


def place(directory: Path, name: str) -> Path:
    """Where file ``name`` is; nothing but a plain name leads anywhere."""
    if not _NAME.fullmatch(name):
        remedy = "use letters, digits, dots, hyphens and underscores, and end it with .yaml"
        raise RefusedError(400, f'"{printable(name)}" cannot name a scenario file here', remedy=remedy)
    path = directory / name
    if path.is_symlink() and not path.resolve().is_file():
        raise RefusedError(400, f"{name} leads nowhere", remedy="remove the link")
    # What a link leads to is written, and the link stays.
    return path.resolve() if path.is_symlink() else path


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
