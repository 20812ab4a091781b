"""What an artifact of runs has in its archive."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from longhaul.artifacts.bundle import Contents, Labels
from longhaul.artifacts.description import RunsDescription
from longhaul.artifacts.run_artifacts.grouping import RunGroup
from longhaul.artifacts.run_artifacts.readme import readme
from longhaul.results import directory as directories
from longhaul.results import manifest


def contents(groups: Sequence[RunGroup], labels: Labels) -> Contents:
    """The contents of the archive; its runs are in ``runs/N/`` for each group.

    Raises LonghaulError if a run is damaged.
    """
    placed = {
        run.directory: f"runs/{number}/{run.directory.name}"
        for number, group in enumerate(groups, start=1)
        for run in group.runs
    }
    for directory in placed:
        manifest.check_all(directory)
    about = _describe(groups, placed, labels)
    return Contents(
        about,
        files={f"{place}/{name}": path for run, place in placed.items() for name, path in files_of(run)},
        page=lambda archive: readme(about, groups, placed=placed, archive=archive),
        texts={},
    )


def _describe(groups: Sequence[RunGroup], placed: Mapping[Path, str], labels: Labels) -> RunsDescription:
    records = [directories.read_run(directory) for directory in placed]
    newest = max(records, key=lambda record: str(record["started"]))
    names = list(dict.fromkeys(str(record["name"]) for record in records))
    certificates = [record["certificate"] for record in records if record.get("certificate")]
    return RunsDescription(
        name=names[0],
        title=labels.title or f"Runs of {', '.join(names)}",
        authors=labels.authors or ("Anonymous",),
        license=labels.license,
        created=str(newest["started"]),
        longhaul=version("longhaul"),
        machine=dict(newest["host"]),
        certificate=certificates[0] if certificates else None,
        groups=tuple(
            each.published.model_copy(update={"runs": tuple(placed[run.directory] for run in each.runs)})
            for each in groups
        ),
    )


def files_of(run: Path) -> Iterator[tuple[str, Path]]:
    """The regular files of a run, by their names in it; sockets, links and hidden files are left out."""
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not path.is_symlink() and not hidden:
            yield str(name), path
