"""``manifest.sha256``: the checksums of an artifact's files, and the places that files may have in it."""

import hashlib
import stat
from collections.abc import Mapping
from pathlib import Path

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError

NAME = "manifest.sha256"
"""Of all files, as ``sha256sum --check`` reads them."""


def written(made: Mapping[str, bytes], files: Mapping[str, Path]) -> bytes:
    """The checksums of contents and of files on disk, by their places in the artifact."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    digests |= {name: _digest(path) for name, path in files.items()}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


def check(directory: Path) -> None:
    """Compare all files of an unpacked artifact with their checksums.

    Raises LonghaulError for the first one that is missing, differs, is not a regular file, or is not in the
    artifact.
    """
    for name, expected in _entries(directory):
        path = directory / name
        try:
            if not _is_regular(directory, name):
                raise _damaged(f"{path} is not a regular file")
            if _digest(path) != expected:
                raise _damaged(f"{path} is damaged")
        except OSError as error:
            raise _damaged(f"{path}: {error.strerror}") from error


def places(directory: Path) -> tuple[str, ...]:
    """The files of an unpacked artifact. Raises LonghaulError for a name that is not one of a file in it."""
    return tuple(name for name, _digest in _entries(directory))


def _entries(directory: Path) -> list[tuple[str, str]]:
    """The files and their checksums."""
    path = directory / NAME
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(f"{path}: {getattr(error, 'strerror', None) or 'is not text'}") from error
    found = [(name, expected) for expected, _, name in (line.partition("  ") for line in lines)]
    for name, _expected in found:
        if not is_inside(name):
            raise _damaged(f'{path}: "{printable(name)}" is not the name of a file in the artifact')
    return found


def is_inside(place: str) -> bool:
    """Whether a place is below the directory that it is relative to: not absolute, and without ``..``."""
    return "\0" not in place and all(part not in ("", ".", "..") for part in place.split("/"))


def _is_regular(directory: Path, name: str) -> bool:
    """Whether a file is regular, and no directory on the way to it is a symbolic link. Raises OSError."""
    path = directory / name
    parents = (directory / each for each in Path(name).parents)
    return stat.S_ISREG(path.lstat().st_mode) and not any(
        each != directory and each.is_symlink() for each in parents
    )


def _damaged(message: str) -> LonghaulError:
    return LonghaulError(Code.ARTIFACT_DAMAGED, message, remedy="unpack the archive again", exit_code=2)


def _digest(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
