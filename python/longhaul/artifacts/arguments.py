"""What the arguments of ``longhaul artifact`` name: run directories, or a study."""

from collections.abc import Sequence
from pathlib import Path

from longhaul.artifacts.bundle import Contents, Labels
from longhaul.artifacts.description import Tolerance
from longhaul.artifacts.run_artifacts import contents as runs
from longhaul.artifacts.run_artifacts.grouping import grouped
from longhaul.artifacts.study_artifacts import contents as studies
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.results import comparison
from longhaul.studies.catalogue import StudyFolder, find_directory, pick, studies_in
from longhaul.studies.claims import CLAIMS


def contents(
    names: Sequence[str],
    labels: Labels,
    *,
    directory: Path | None = None,
    metrics: Sequence[str] = (),
    tolerances: Sequence[Tolerance] = (),
) -> Contents:
    """The contents of the artifact of run directories, or of one study.

    ``directory``: of studies, one of which is named. ``metrics`` and ``tolerances`` are of runs. Raises
    LonghaulError.
    """
    study = _study_among(names, directory)
    if study is None:
        paths = [Path(name) for name in names]
        return runs.contents(grouped(paths, metrics=metrics, tolerances=tolerances), labels)
    if metrics or tolerances:
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            f"{'--metric' if metrics else '--tolerance'} is for runs, and {names[0]} is a study",
            remedy=f"omit it; the rules of {study.folder / CLAIMS} have the tolerances",
            exit_code=2,
        )
    return studies.contents(study, labels)


def _study_among(names: Sequence[str], directory: Path | None) -> StudyFolder | None:
    """The study that is named; ``None`` if all are run directories."""
    found = {name: study for name in names if (study := _study(name, directory)) is not None}
    if found and len(names) > 1:
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            f"{next(iter(found))} is a study, and an artifact has one study or runs",
            remedy="write an artifact for each study",
            exit_code=2,
        )
    return found.get(names[0])


def _study(name: str, directory: Path | None) -> StudyFolder | None:
    """A study by its name or folder; ``None`` for a directory of runs."""
    if directory is not None:
        return pick(find_directory(directory), [name], named=directory)[0]
    path = Path(name)
    if (path / CLAIMS).is_file():
        return pick(path.absolute().parent, [path.absolute().name], named=path.parent)[0]
    if _has_runs(path):
        return None
    known = _known()
    if name.replace("_", "-") in known:
        return known[name.replace("_", "-")]
    if path.is_dir():
        return None
    raise LonghaulError(
        Code.INPUT_FILE_MISSING,
        f'"{printable(name)}" is neither a directory nor the name of a study',
        remedy="name a run directory such as runs/NAME/latest-sim, "
        + (f"or a study: {', '.join(known)}" if known else "or a study with --directory"),
        exit_code=2,
    )


def _has_runs(path: Path) -> bool:
    """Whether a directory is that of a run or of a sweep, or has runs in it."""
    try:
        comparison.find(path)
    except LonghaulError as error:
        return error.code != Code.NOT_A_RUN
    return True


def _known() -> dict[str, StudyFolder]:
    """The studies of the directory ``studies`` here or above, by name; none without one."""
    try:
        return {study.name: study for study in studies_in(find_directory(None))}
    except LonghaulError:
        return {}
