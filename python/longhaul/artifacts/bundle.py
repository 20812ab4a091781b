"""The archive of an artifact."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import distribution, version
from importlib.resources import files
from pathlib import Path

from longhaul import json_text, storage
from longhaul.artifacts import description
from longhaul.artifacts.citation import citation
from longhaul.artifacts.dependencies import requirements
from longhaul.artifacts.description import CHECKSUMS, Description, file_digest
from longhaul.artifacts.grouping import RunGroup
from longhaul.artifacts.readme import readme
from longhaul.results import directory as directories
from longhaul.results import manifest

_LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")
_EXECUTABLE = frozenset(("reproduce",))


def write(
    output: Path,
    groups: Sequence[RunGroup],
    *,
    title: str | None = None,
    authors: Sequence[str] = (),
    license_: str | None = None,
    wheels: Sequence[Path] = (),
) -> Description:
    """Write the archive ``output``; equal runs give equal archives. Returns what it holds.

    Its runs are in ``runs/N/`` for each group. Raises LonghaulError if a run is damaged.
    """
    placed = {
        run.directory: f"runs/{number}/{run.directory.name}"
        for number, group in enumerate(groups, start=1)
        for run in group.runs
    }
    for directory in placed:
        manifest.check_all(directory)
    about = _describe(groups, placed, title=title, authors=authors, license_=license_)
    kept = {f"{place}/{name}": path for run, place in placed.items() for name, path in _files(run)}
    kept |= {f"wheels/{each.name}": each for each in wheels}
    made = {
        "README.md": readme(
            about,
            groups,
            placed=placed,
            wheels=[each.name for each in wheels],
            size_bytes=sum(path.stat().st_size for path in kept.values()),
        ).encode(),
        description.NAME: json_text.written(about.model_dump()) + b"\n",
        "CITATION.cff": citation(about).encode(),
        "requirements.txt": requirements().encode(),
        "reproduce": (files("longhaul.artifacts") / "reproduce.sh").read_bytes(),
        **{name: _license(name) for name in _LICENSES},
    }
    made[CHECKSUMS] = _checksums(made, kept)
    root = output.name.removesuffix(".tar.gz")
    when = int(datetime.fromisoformat(about.created).timestamp())
    with storage.replacing(output) as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
        _pack(packed, root, made, kept, when=when)
    return about


def _describe(
    groups: Sequence[RunGroup],
    placed: Mapping[Path, str],
    *,
    title: str | None,
    authors: Sequence[str],
    license_: str | None,
) -> Description:
    records = [directories.read_run(directory) for directory in placed]
    newest = max(records, key=lambda record: str(record["started"]))
    names = list(dict.fromkeys(str(record["name"]) for record in records))
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
        groups=tuple(
            each.published.model_copy(update={"runs": tuple(placed[run.directory] for run in each.runs)})
            for each in groups
        ),
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


def _checksums(made: Mapping[str, bytes], kept: Mapping[str, Path]) -> bytes:
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
    digests |= {name: file_digest(path) for name, path in kept.items()}
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode()


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
