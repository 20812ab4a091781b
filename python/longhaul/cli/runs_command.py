"""What the commands of ``longhaul runs`` do."""

import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from longhaul import json_text, log
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import annotations, ending, run_queries, run_record, run_selection
from longhaul.results import trash as trashed
from longhaul.results.annotations import Annotations
from longhaul.results.experiments import Listed, ListedSweep
from longhaul.units.text import count_text

Json = dict[str, Any]


def print_list(
    runs: Path,
    text: str,
    *,
    sort_by: str,
    columns: Sequence[str] | None,
    limit: int,
    as_json: bool,
) -> None:
    """Print the runs and sweeps that match a filter, as tables or as JSON."""
    from longhaul.cli.terminal.runs import print_runs, print_sweeps

    if not runs.is_dir():
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"there is no directory {runs}",
            remedy="run a scenario first, or name the directory of runs with --runs",
            exit_code=2,
        )
    found, sweeps = run_selection.entries(runs, text)
    rows = [run_selection.row_of(each) for each in found]
    places = run_queries.sort(rows, sort_by) if rows else []
    found, rows = [found[place] for place in places], [rows[place] for place in places]
    if as_json:
        content = {
            "runs": [_run_json(each) for each in found],
            "sweeps": [_sweep_json(each) for each in sweeps],
        }
        print(json_text.written(content).decode())
        return
    if found:
        print_runs(found[:limit], rows, columns)
    if sweeps:
        print_sweeps(sweeps[:limit], is_alone=not found)
    for what, all_of in (("runs", found), ("sweeps", sweeps)):
        if len(all_of) > limit:
            log.note(f"{len(all_of) - limit} {what} more; list them with --limit {len(all_of)}")
    if not found and not sweeps:
        log.note(f'no run in {runs} matches "{text}"' if text.strip() else f"{runs} has no runs")


def _run_json(run: Listed) -> Json:
    about = asdict(run.experiment)
    about.pop("variant")
    return {
        "directory": str(run.directory),
        "label": run.label,
        "differs": run.differs,
        **about,
        "parameters": dict(run.parameters),
        **asdict(run.annotations),
        "started": _instant(run.experiment.started_unix_s),
    }


def _sweep_json(sweep: ListedSweep) -> Json:
    return {
        "directory": str(sweep.directory),
        "label": sweep.label,
        "name": sweep.name,
        "status": sweep.status,
        "axes": sweep.axes,
        "variants": sweep.variants,
        "repeats": sweep.repeats,
        **asdict(sweep.annotations),
        "started_unix_s": sweep.started_unix_s,
        "started": _instant(sweep.started_unix_s),
    }


def _instant(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="seconds")


def tag(runs: Path, names: Sequence[str], where: str | None, *, tags: Sequence[str], remove: bool) -> None:
    """Add tags to runs, or remove them."""
    given = [each.strip() for each in tags if each.strip()]
    if not given:
        raise LonghaulError(
            Code.ARGUMENT_MISSING, "no tag is given", remedy="write for example paper", exit_code=2
        )

    def changed(before: Annotations) -> Annotations:
        if remove:
            return replace(before, tags=tuple(each for each in before.tags if each not in given))
        return replace(before, tags=(*before.tags, *given))

    found = run_selection.select(runs, names, where)
    _change(found, changed)
    verb = "removed from" if remove else "added to"
    click.echo(f"{', '.join(given)}: {verb} {_counted(found)}")


def annotate(runs: Path, names: Sequence[str], where: str | None, *, note: str, append: bool) -> None:
    """Replace the note of runs, or add to it."""
    found = run_selection.select(runs, names, where)
    _change(
        found,
        lambda before: replace(before, note=f"{before.note}\n{note}" if append and before.note else note),
    )
    click.echo(f"note {'written on' if note.strip() else 'removed from'} {_counted(found)}")


def rename(runs: Path, name: str, title: str) -> None:
    """Give a run a title."""
    found = run_selection.select(runs, [name], None)
    if len(found) > 1:
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"{name} has {len(found)} runs",
            remedy=f"name one of them, such as {found[-1].parent.name}/{found[-1].name}",
            exit_code=2,
        )
    _change(found, lambda before: replace(before, title=title))
    title = " ".join(title.split())
    click.echo(f'{found[0].name} has the title "{title}"' if title else f"{found[0].name} has no title")


def _change(found: Sequence[Path], changed: Callable[[Annotations], Annotations]) -> None:
    for directory in found:
        before = annotations.read(directory)
        annotations.write(directory, changed(before), before=before.etag)


def delete(runs: Path, names: Sequence[str], where: str | None) -> None:
    """Move runs to the trash, and print how they are restored."""
    found = run_selection.select(runs, names, where)
    for directory in found:
        # Before the first is moved: all of them or none.
        if ending.read(directory).is_running:
            raise LonghaulError(
                Code.PAGE_CONFLICT,
                f"{directory.name} is running",
                remedy="stop it, wait for its end, or leave it out with mode!=live or outcome!=running",
                exit_code=2,
            )
    text = _counted(found)
    for directory in found:
        trashed.delete(directory)
    click.echo(f"moved {text} to the trash")
    for parent in dict.fromkeys(each.parents[1] for each in found):
        gone = [f"{each.parent.name}/{each.name}" for each in found if each.parents[1] == parent]
        place = runs if parent == runs.resolve() else parent
        at = [] if place == Path("runs") else ["--runs", str(place)]
        click.echo(f"to undo: {shlex.join(['longhaul', 'runs', 'restore', *at, *gone])}")


def restore(runs: Path, names: Sequence[str], *, every: bool) -> None:
    """Move runs back from the trash."""
    there = list(trashed.deleted(runs))
    if not names and not every:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "no run is named",
            remedy="name runs of the trash, or all with --all; longhaul runs trash lists them",
            exit_code=2,
        )
    found = there if every else []
    for name in names if not every else ():
        short = name.replace("~", "/").rstrip("/")
        same = [each for each in there if short in (each.name, f"{each.parent.name}/{each.name}")]
        if len(same) != 1:
            raise LonghaulError(
                Code.NOT_A_RUN,
                f"{'several runs' if same else 'no run'} in the trash of {runs} "
                f'{"have" if same else "has"} the name "{name}"',
                remedy="longhaul runs trash lists them",
                exit_code=2,
            )
        found += same
    for place in dict.fromkeys(found):
        click.echo(f"restored {trashed.restore(place)}")
    if not found:
        log.note(f"the trash of {runs} is empty")


def print_trash(runs: Path, *, empty: bool) -> None:
    """List the trash, or empty it."""
    found = list(trashed.deleted(runs))
    if empty:
        text = _counted(found)
        shutil.rmtree(runs / trashed.NAME, ignore_errors=True)
        click.echo(f"removed {text}")
        return
    for each in found:
        title = annotations.read(each).title
        click.echo(f"{each.parent.name}/{each.name}{f'  {title}' if title else ''}")
    if not found:
        log.note(f"the trash of {runs} is empty")


def archive(runs: Path, names: Sequence[str], where: str | None, output: Path) -> None:
    """Write runs to an archive."""
    from longhaul.artifacts.archive import archive as write
    from longhaul.units.text import bytes_text

    found = run_selection.select(runs, names, where)
    sweeps = [each for each in found if not (each / "run.json").is_file()]
    if sweeps:
        raise LonghaulError(
            Code.NOT_A_RUN,
            f"{sweeps[0].name} is not a run: archives have runs only",
            remedy="leave it out, for example with mode!=sweep, or archive its directory with tar",
            exit_code=2,
        )
    is_repeatable = write(output, found)
    how = "others can repeat it with longhaul reproduce" if is_repeatable else "files and checksums"
    click.echo(f"{output}: {bytes_text(output.stat().st_size)}, {_counted(found)}; {how}")


def _counted(found: Sequence[Path]) -> str:
    sweeps = sum(run_record.path_of(each) == each / "sweep.json" for each in found)
    runs = len(found) - sweeps
    parts = [
        count_text(number, what)
        for number, what in ((runs, "run"), (sweeps, "sweep"))
        if number or (what == "run" and not sweeps)
    ]
    return " and ".join(parts)
