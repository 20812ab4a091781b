"""The archive of an artifact."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.metadata import distribution, version
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from longhaul import json_text, storage
from longhaul.artifacts import description
from longhaul.artifacts.citation import citation
from longhaul.artifacts.dependencies import requirements
from longhaul.artifacts.description import Description, Group
from longhaul.artifacts.grouping import Runs
from longhaul.artifacts.readme import readme
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.results import manifest

MANIFEST = "manifest.sha256"
_LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
_EXECUTABLE = frozenset(("reproduce",))


def write(
    output: Path,
    runs: Sequence[Runs],
    *,
    title: str | None = None,
    authors: Sequence[str] = (),
    license_: str | None = None,
    wheels: Sequence[Path] = (),
) -> Description:
    """Write the archive ``output``; equal runs give equal archives. Returns what it holds.

    Its runs are in ``runs/N/`` for each group. Raises LonghaulError if a run is damaged.
    """
    members = {
        f"runs/{number}/{each.directory.name}": each.directory
        for number, group in enumerate(runs, start=1)
        for each in group.recorded
    }
    for directory in members.values():
        for damage in manifest.find_damage(directory, derived=True):
            raise LonghaulError(
                Code.RESULTS_DAMAGED,
                f"{directory / damage.name} {damage.what}",
                remedy="restore it from a copy, or run the scenario again",
                exit_code=2,
            )
    about = _describe(runs, list(members), title=title, authors=authors, license_=license_)
    kept = {f"{place}/{name}": path for place, run in members.items() for name, path in _files(run)}
    kept |= {f"wheels/{each.name}": each for each in wheels}
    made = {
        "README.md": readme(
            about,
            runs,
            places={str(run): place for place, run in members.items()},
            wheels=[each.name for each in wheels],
            size_bytes=sum(path.stat().st_size for path in kept.values()),
        ).encode(),
        description.NAME: json_text.written(about.model_dump()) + b"\n",
        "CITATION.cff": citation(about).encode(),
        "requirements.txt": requirements().encode(),
        "reproduce": (files("longhaul.artifacts") / "reproduce.sh").read_bytes(),
        **{name: _license(name) for name in _LICENSES},
    }
    made[MANIFEST] = _manifest(made, kept)
    root = output.name.removesuffix(".tar.gz")
    when = int(datetime.fromisoformat(about.created).timestamp())
    with storage.replacing(output) as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
        _pack(packed, root, made, kept, when=when)  # type: ignore[arg-type]  # it is a binary file
    return about


def _describe(
    runs: Sequence[Runs],
    places: Sequence[str],
    *,
    title: str | None,
    authors: Sequence[str],
    license_: str | None,
) -> Description:
    records = [directories.read_run(each.directory) for group in runs for each in group.recorded]
    newest = max(records, key=lambda record: str(record["started"]))
    names = list(dict.fromkeys(str(record["name"]) for record in records))
    waiting = iter(places)
    groups: list[Group] = []
    for each in runs:
        mine = tuple(next(waiting) for _ in each.recorded)
        groups.append(each.group.model_copy(update={"runs": mine}))
    certificates = [record["certificate"] for record in records if record.get("certificate")]
    return Description(
        name=names[0],
        title=title or f"Runs of {', '.join(names)}",
        authors=tuple(authors) or ("Anonymous",),
        license=license_,
        created=str(newest["started"]),
        longhaul=version("longhaul"),
        machine=dict(newest["host"]),
        certificate=certificates[0] if certificates else None,
        groups=tuple(groups),
    )


def _files(run: Path) -> Iterator[tuple[str, Path]]:
    """The regular files of a run, by their names in it; sockets, links and hidden files are left out."""
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not path.is_symlink() and not hidden:
            yield str(name), path


def _license(name: str) -> bytes:
    text = distribution("longhaul").read_text(f"licenses/{name}")
    return (text if text is not None else (Path(__file__).parents[3] / name).read_text("utf-8")).encode()


def _manifest(made: dict[str, bytes], kept: dict[str, Path]) -> bytes:
    """As ``sha256sum --check`` reads it."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    for name, path in kept.items():
        with path.open("rb") as file:
            digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


def _pack(packed: BinaryIO, root: str, made: dict[str, bytes], kept: dict[str, Path], *, when: int) -> None:
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
