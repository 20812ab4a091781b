"""Runs and sweeps that a user names: by path, by name below the directory of runs, or by a filter."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import experiments, run_queries, run_record
from longhaul.results.experiments import Listed, ListedSweep
from longhaul.results.run_queries import Row

Entry = Listed | ListedSweep


def entries(runs: Path, text: str) -> tuple[list[Listed], list[ListedSweep]]:
    """The runs and the sweeps in ``runs`` for which the filter ``text`` holds, newest first.

    Raises LonghaulError if the filter has a key that nothing there has.
    """
    found, sweeps = experiments.listed(runs), experiments.listed_sweeps(runs)
    wanted = run_queries.terms(text)
    run_queries.check(wanted, [*map(Row.of_run, found), *map(Row.of_sweep, sweeps)])
    return (
        [each for each in found if run_queries.matches(row_of(each), wanted)],
        [each for each in sweeps if run_queries.matches(row_of(each), wanted)],
    )


def row_of(entry: Entry) -> Row:
    """What filters know of a run or a sweep."""
    return Row.of_run(entry) if isinstance(entry, Listed) else Row.of_sweep(entry)


def select(runs: Path, names: Sequence[str], text: str | None) -> list[Path]:
    """The directories of the runs and sweeps with these names, and of those that match a filter.

    A name is a path of a run or of a directory of runs, ``NAME/RUN`` or ``RUN`` below ``runs``, or
    ``NAME~RUN`` as in addresses of the page. Raises LonghaulError for a name without a run, and if nothing
    is selected.
    """
    if not names and text is None:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "no run is named",
            remedy="name runs, such as runs/NAME/latest-sim, or select them with --where 'cc=reno'",
            exit_code=2,
        )
    found = [each for name in names for each in _named(runs, name)]
    if text is not None:
        found += [each.directory for some in entries(runs, text) for each in some]
        if not found:
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f'no run in {runs} matches "{text}"',
                remedy=f"see the runs with: longhaul runs --runs {runs}",
                exit_code=2,
            )
    return list(dict.fromkeys(each.resolve() for each in found))


def _named(runs: Path, name: str) -> list[Path]:
    places = [Path(name), runs / name, runs / name.replace("~", "/")]
    for place in places:
        if run_record.path_of(place) is not None:
            return [place]
    same = [each for each in _below(runs) if each.name == name]
    if same:
        if len(same) > 1:
            several = " and ".join(f"{each.parent.name}/{each.name}" for each in same)
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f"{name} is the name of several runs",
                remedy=f"write {several}",
                exit_code=2,
            )
        return same
    for place in places:
        if place.is_dir() and (inside := sorted(_inside(place))):
            return inside
    raise LonghaulError(
        Code.NOT_A_RUN,
        f'there is no run "{name}"',
        remedy=f"name a run directory, or one of: longhaul runs --runs {runs}",
        exit_code=2,
    )


def _below(runs: Path) -> Iterator[Path]:
    for kind in run_record.NAMES:
        yield from experiments.directories_of(runs, kind)


def _inside(place: Path) -> Iterator[Path]:
    for each in place.iterdir():
        if not each.is_symlink() and not each.name.startswith(".") and run_record.path_of(each) is not None:
            yield each
