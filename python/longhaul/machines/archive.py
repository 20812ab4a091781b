"""Directories that go from one machine to another, packed."""

import base64
import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from longhaul.machines.messages import PART_BYTES


def packed(directory: Path, names: Iterable[str]) -> Iterator[str]:
    """What ``directory`` has of these files and directories, as text in pieces."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=1) as archive:
        for name in names:
            if (directory / name).exists():
                archive.add(directory / name, arcname=name)
    whole = content.getvalue()
    for start in range(0, len(whole), PART_BYTES):
        yield base64.b64encode(whole[start : start + PART_BYTES]).decode()


def unpack(parts: Iterable[str], directory: Path) -> None:
    """Write the files and directories that :func:`packed` gave; nothing outside ``directory``.

    Raises ValueError and OSError.
    """
    content = io.BytesIO(b"".join(base64.b64decode(part, validate=True) for part in parts))
    try:
        with tarfile.open(fileobj=content, mode="r:gz") as archive:
            for member in archive:
                _extract(archive, member, directory)
    except (tarfile.TarError, EOFError) as error:
        raise ValueError(f"a damaged archive: {error}") from error


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, directory: Path) -> None:
    # Python 3.11.2 of Debian 12 has no extraction filters yet.
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"a damaged archive: {member.name} is outside of it")
    place = directory / name
    if member.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif member.isfile() and (source := archive.extractfile(member)) is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.read())
        place.chmod(member.mode & 0o755 | 0o600)
