"""Directories that go from one machine to another, packed."""

import base64
import io
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from longhaul.machines.messages import PART_BYTES
from longhaul.results.host_files import extract


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
    extract(io.BytesIO(b"".join(base64.b64decode(part, validate=True) for part in parts)), directory)
