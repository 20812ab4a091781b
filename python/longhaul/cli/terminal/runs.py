"""Runs and sweeps as tables on a terminal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from longhaul.cli.terminal.run import OUTCOME_COLOURS
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.console import Console
from longhaul.results.experiments import Listed, ListedSweep
from longhaul.results.run_queries import Row, metric_columns, parameter_columns
from longhaul.units.text import duration_text, quantity_text

_VERDICTS = {"faithful": "green", "degraded": "yellow", "invalid": "red"}
_MOST_CHARACTERS = 32
"""Of a parameter, a title or tags."""
_BETWEEN = 2
_FIRST_PARAMETERS = 2
"""They precede metrics in a narrow terminal."""


@dataclass(frozen=True, eq=False)
class _Column:
    title: str
    cell: Callable[[Listed], Text | str]
    is_number: bool = False
    names: tuple[str, ...] = ()
    """By which a user chooses it."""
    is_needed: bool = False
    rank: int = 1
    """In a narrow terminal, columns of a low rank are shown first."""


def print_runs(runs: Sequence[Listed], rows: Sequence[Row], chosen: Sequence[str] | None) -> None:
    """A line for each run. ``rows`` are all that match: columns do not depend on how many are shown."""
    console = Console(highlight=False)
    every = _columns(runs, rows, has_all=chosen is not None)
    columns = _fitting(every, runs, console.width) if chosen is None else _chosen(every, chosen)
    table = _table()
    for each in columns:
        table.add_column(each.title, justify="right" if each.is_number else "left", no_wrap=True)
    for run in runs:
        table.add_row(*(each.cell(run) for each in columns))
    console.print(table, soft_wrap=True)
    left_out = [each.names[0] for each in every if each not in columns] if chosen is None else []
    if left_out:
        console.print(
            f"no room for {', '.join(left_out)}; choose with --columns, or print --json",
            style="dim",
            soft_wrap=True,
        )


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, _BETWEEN, 0, 0))


def _columns(runs: Sequence[Listed], rows: Sequence[Row], *, has_all: bool) -> list[_Column]:
    """The columns, in their order; with ``has_all`` also parameters that do not differ."""
    parameters = parameter_columns(rows)
    if has_all:
        parameters += sorted({name for row in rows for name in row.parameters} - {*parameters})
    names = {run.experiment.name for run in runs}
    found = (
        [_Column("name", lambda run: run.experiment.name, names=("name",), is_needed=True)]
        if len(names) > 1
        else []
    )
    found += [
        _Column("run", lambda run: run.directory.name, names=("run",), is_needed=True),
        _Column("outcome", _outcome, names=("outcome",), is_needed=True),
    ]
    if any(run.annotations.title for run in runs):
        found.append(_Column("title", lambda run: _short(run.annotations.title), names=("title",)))
    if any(run.annotations.tags for run in runs):
        found.append(
            _Column("tags", lambda run: _short(" ".join(run.annotations.tags)), names=("tags", "tag"))
        )
    found += [
        _Column(
            name,
            lambda run, name=name: _short(run.parameters.get(name, "-")),  # type: ignore[misc]
            names=(name,),
            rank=0 if place < _FIRST_PARAMETERS else 2,
        )
        for place, name in enumerate(parameters)
    ]
    found += [
        _Column(
            each.title,
            lambda run, each=each: (
                quantity_text(value, each.unit)  # type: ignore[misc]
                if (value := run.experiment.metrics.get(each.name)) is not None
                else "-"
            ),
            is_number=True,
            names=(each.name, each.title),
        )
        for each in metric_columns(rows)
    ]
    found.append(_Column("network", _verdict, names=("network", "verdict")))
    found.append(_Column("lasted", _lasted, is_number=True, names=("lasted",)))
    return found


def _chosen(columns: Sequence[_Column], names: Sequence[str]) -> list[_Column]:
    """The needed columns, and those that a user names, in the user's order."""
    found = [each for each in columns if each.is_needed]
    for name in names:
        short = name.strip().lower()
        same = [each for each in columns if short in (one.lower() for one in each.names)]
        if not same:
            known = ", ".join(each.names[0] for each in columns if not each.is_needed)
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f'there is no column "{name.strip()}"',
                remedy=f"choose from: {known}",
                exit_code=2,
            )
        found += [each for each in same if each not in found]
    return found


def _fitting(columns: Sequence[_Column], runs: Sequence[Listed], width: int) -> list[_Column]:
    """The columns that fit, those of the lowest ``rank`` first, in their order."""
    wide = {each: max(len(each.title), *(len(each.cell(run)) for run in runs)) + _BETWEEN for each in columns}
    left = width - sum(wide[each] for each in columns if each.is_needed) + _BETWEEN
    found = {each for each in columns if each.is_needed}
    for each in sorted(columns, key=lambda each: each.rank):
        if each not in found and wide[each] <= left:
            found.add(each)
            left -= wide[each]
    return [each for each in columns if each in found]


def _outcome(run: Listed) -> Text:
    return Text(run.experiment.state, style=OUTCOME_COLOURS.get(run.experiment.state, "default"))


def _verdict(run: Listed) -> Text:
    about = run.experiment
    starved = ", hosts starved" if about.hosts == "starved" else ""
    return Text(f"{about.verdict_text or '-'}{starved}", style=_VERDICTS.get(about.verdict or "", "default"))


def _lasted(run: Listed) -> str:
    duration_s = run.experiment.duration_s
    return "-" if duration_s is None else duration_text(duration_s)


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def print_sweeps(sweeps: Sequence[ListedSweep], *, is_alone: bool) -> None:
    """A line for each sweep: its state, its axes, and the number of its variants."""
    console = Console(highlight=False)
    if not is_alone:
        console.print()
    has_names = len({each.name for each in sweeps}) > 1
    has_titles = any(each.annotations.title for each in sweeps)
    has_tags = any(each.annotations.tags for each in sweeps)
    table = _table()
    heads = [
        *(("name",) if has_names else ()),
        "sweep",
        "state",
        *(("title",) if has_titles else ()),
        *(("tags",) if has_tags else ()),
        "axes",
    ]
    for head in heads:
        table.add_column(head, no_wrap=True)
    table.add_column("variants", justify="right")
    for each in sweeps:
        cells = [
            *((each.name,) if has_names else ()),
            each.directory.name,
            each.status,
            *((_short(each.annotations.title),) if has_titles else ()),
            *((_short(" ".join(each.annotations.tags)),) if has_tags else ()),
            ", ".join(each.values),
        ]
        table.add_row(*cells, str(each.variants))
    console.print(table, soft_wrap=True)
