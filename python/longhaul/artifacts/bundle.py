"""The archive of an artifact of any kind."""

import gzip
import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from longhaul import json_text, storage
from longhaul.artifacts import checksums, description
from longhaul.artifacts.citation import citation
from longhaul.artifacts.dependencies import requirements
from longhaul.artifacts.description import Description

_LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
_EXECUTABLE = frozenset(("reproduce",))


@dataclass(frozen=True)
class Labels:
    """What its authors say of an artifact."""

    title: str | None = None
    authors: tuple[str, ...] = ()
    license: str | None = None


@dataclass(frozen=True)
class Archive:
    """What a page says of the archive that it is in."""

    wheels: tuple[str, ...]
    """The names of the wheels of Longhaul."""
    size_bytes: int
    """Of all data."""


@dataclass(frozen=True)
class Contents:
    """What an archive of one kind has beside what all have."""

    about: Description
    files: Mapping[str, Path]
    """On disk, by their places in the artifact."""
    page: Callable[[Archive], str]
    """``README.md``."""
    texts: Mapping[str, bytes]
    """Written for the artifact, by their places."""
    packages: tuple[str, ...] = ()
    """Installed packages that it needs beside Longhaul."""


def write(output: Path, contents: Contents, *, wheels: Sequence[Path] = ()) -> Description:
    """Write the archive ``output``; equal contents give equal archives. Returns what it holds."""
    about = contents.about
    kept = {**contents.files, **{f"wheels/{each.name}": each for each in wheels}}
    size_bytes = sum(path.stat().st_size for path in kept.values())
    made = {
        "README.md": contents.page(Archive(tuple(each.name for each in wheels), size_bytes)).encode(),
        description.NAME: json_text.written(about.model_dump()) + b"\n",
        "CITATION.cff": citation(about).encode(),
        "requirements.txt": requirements(packages=contents.packages).encode(),
        "reproduce": (files("longhaul.artifacts") / "reproduce.sh").read_bytes(),
        **{name: _license(name) for name in _LICENSES},
        **contents.texts,
    }
    made[checksums.NAME] = checksums.written(made, kept)
    root = output.name.removesuffix(".tar.gz")
    when = int(datetime.fromisoformat(about.created).timestamp())
    with storage.replacing(output) as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
        _pack(packed, root, made, kept, when=when)
    return about


def write_files(output: Path, files: Mapping[str, Path], *, when: datetime) -> None:
    """Write an archive ``output`` of files by their places, with their checksums and nothing else."""
    made = {checksums.NAME: checksums.written({}, files)}
    root = output.name.removesuffix(".tar.gz")
    with storage.replacing(output) as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
        _pack(packed, root, made, dict(files), when=int(when.timestamp()))


def _license(name: str) -> bytes:
    text = distribution("longhaul").read_text(f"licenses/{name}")
    return (text if text is not None else (Path(__file__).parents[3] / name).read_text("utf-8")).encode()


def _pack(
    packed: gzip.GzipFile, root: str, made: dict[str, bytes], kept: dict[str, Path], *, when: int
) -> None:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted((*made, *kept)):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.mtime = when
            entry.mode = 0o755 if name in _EXECUTABLE else 0o644
            if name in made:
                entry.size = len(made[name])
                archive.addfile(entry, io.BytesIO(made[name]))
            else:
                entry.size = kept[name].stat().st_size
                with kept[name].open("rb") as file:
                    archive.addfile(entry, file)
