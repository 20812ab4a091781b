"""What an artifact of a study has in its archive."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul.artifacts.bundle import Contents, Labels
from longhaul.artifacts.description import PublishedPart, StudyDescription
from longhaul.artifacts.study_artifacts import sources
from longhaul.artifacts.study_artifacts.readme import readme
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.studies.catalogue import SETTINGS, StudyFolder
from longhaul.studies.results_files import RESULTS

STUDIES = "studies"
"""The directory of studies in an artifact."""
FIGURES = "figures"
"""The directory of pictures, if they are not among the results."""


def contents(study: StudyFolder, labels: Labels) -> Contents:
    """The contents of the archive: the study in ``studies/NAME``, and its figures.

    Raises LonghaulError if the study has no results, or if they are damaged or incomplete.
    """
    study = StudyFolder(study.folder.resolve(), study.named)
    own = {_place(study, path): path for path in sources.own_files(study)}
    shared = {f"{STUDIES}/{path.relative_to(study.shared)}": path for path in sources.shared_files(study)}
    figures = {_figure_place(study, path): path for path in _figures(study)}
    about = _describe(study, labels)
    missing = [place for part in about.parts for place in (*part.tables, *part.figures)]
    missing = [place for place in missing if place not in own and place not in figures]
    if missing:
        raise _not_repeatable(study, f"its results lack {', '.join(missing)}")
    settings = {} if set(figures) <= set(own) else {f"{STUDIES}/{SETTINGS}": _SETTINGS.encode()}
    return Contents(
        about,
        files={**shared, **own, **figures},
        page=lambda archive: readme(about, study, archive, shared=sorted((*shared, *settings))),
        texts=settings,
        packages=sources.packages(study),
    )


_SETTINGS = f'# Where pictures go, from this directory.\nfigures = "../{FIGURES}"\n'


def _describe(study: StudyFolder, labels: Labels) -> StudyDescription:
    claims = tuple(each.as_json() for each in study.evaluated())
    if not study.measured_parts:
        raise _not_repeatable(study, "it has no results")
    try:
        return StudyDescription(
            name=study.name,
            title=labels.title or f"Study {study.name}: {study.claims.question}",
            authors=labels.authors or ("Anonymous",),
            license=labels.license,
            created=datetime.fromisoformat(study.measured()).isoformat(),
            longhaul=version("longhaul"),
            question=study.claims.question,
            folder=f"{STUDIES}/{study.folder.name}",
            parts=tuple(_parts(study)),
            claims=claims,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LonghaulError(
            Code.RESULTS_DAMAGED,
            f"{study.results / RESULTS} is not a file of results ({error})",
            remedy="remove it, and run the study again",
            exit_code=2,
        ) from error


def _parts(study: StudyFolder) -> Iterator[PublishedPart]:
    for name, part in study.claims.parts.items():
        found: dict[str, Any] = study.measured_parts.get(
            name, {"figures": (), "tables": (), "notes": (), "provenance": None}
        )
        yield PublishedPart(
            name=name,
            how=part.how,
            about=part.about,
            command=replace(study, named=Path(STUDIES)).command(name),
            figures=tuple(_figure_place(study, study.figure(each)) for each in found["figures"]),
            tables=tuple(_place(study, study.results / f"{each}.csv") for each in found["tables"]),
            notes=tuple(found["notes"]),
            provenance=found["provenance"],
        )


def _figures(study: StudyFolder) -> Iterator[Path]:
    """The pictures that the results name, of those that there are."""
    for part in study.measured_parts.values():
        for name in part["figures"]:
            path = study.figure(name)
            if path.is_file() and not path.is_symlink() and path.parent == study.figures:
                yield path


def _place(study: StudyFolder, path: Path) -> str:
    return f"{STUDIES}/{path.relative_to(study.shared)}"


def _figure_place(study: StudyFolder, path: Path) -> str:
    if study.figures.resolve().is_relative_to(study.folder):
        return _place(study, path)
    return f"{FIGURES}/{path.name}"


def _not_repeatable(study: StudyFolder, why: str) -> LonghaulError:
    place = f" --directory {study.named}" if study.named else ""
    return LonghaulError(
        Code.STUDY_NOT_REPEATABLE,
        f"study {study.name} cannot be bundled: {why}",
        remedy=f"run longhaul study run {study.name}{place}",
        exit_code=2,
    )
