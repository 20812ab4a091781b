"""Edits of traces by hand: cut out a span, scale and shift a column, change one value."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.csv_file import InputFile
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.value_errors import FileError
from longhaul.scenario.traces.csv_text import Reading, read_text, text_of_traces
from longhaul.scenario.traces.trace import Trace


@dataclass(frozen=True)
class TraceEdit:
    """An edit of one trace.

    ``cut`` keeps the rows from ``from_s`` on and before ``to_s``, and the first is then at 0 s. ``scale``
    multiplies the values of ``column`` by ``value``, ``shift`` adds ``value``, in the unit of the column;
    gaps stay. ``set`` writes ``value`` at the row that holds at ``from_s``; ``None`` makes it a gap.
    """

    op: Literal["cut", "scale", "shift", "set"]
    column: str = ""
    value: float | None = None
    from_s: float | None = None
    to_s: float | None = None


def edited(trace: Trace, edits: Sequence[TraceEdit], *, name: str = "trace.csv") -> Reading:
    """``trace`` after ``edits``, read again as a file called ``name`` would be, with warnings.

    Raises :class:`LonghaulError` for what is not possible, and for values that no trace may have.
    """
    for each in edits:
        trace = _cut(trace, each) if each.op == "cut" else _changed(trace, each)
    text = text_of_traces([trace])
    try:
        return read_text(InputFile(name, tuple(text.splitlines())))
    except FileError as error:
        raise ScenarioError([error.problem]) from None


def _cut(trace: Trace, edit: TraceEdit) -> Trace:
    low = float("-inf") if edit.from_s is None else edit.from_s
    high = float("inf") if edit.to_s is None else edit.to_s
    kept = [row for row, at in enumerate(trace.times_s) if low <= at < high]
    if not kept:
        end_s = trace.times_s[0] + trace.span_s()
        begin = "the beginning" if edit.from_s is None else f"{low:g} s"
        end = "the end" if edit.to_s is None else f"{high:g} s"
        raise _impossible(
            f"no row is from {begin} to {end}",
            f"the trace is from {trace.times_s[0]:g} to {end_s:g} s",
        )
    start = trace.times_s[kept[0]]
    return replace(
        trace,
        # To a nanosecond, which is what links know of time.
        times_s=tuple(round(trace.times_s[row] - start, 9) for row in kept),
        columns={name: tuple(values[row] for row in kept) for name, values in trace.columns.items()},
    )


def _changed(trace: Trace, edit: TraceEdit) -> Trace:
    if edit.column not in trace.columns:
        remedy = did_you_mean(edit.column, list(trace.columns))
        raise _impossible(f'the trace has no column "{edit.column}"', remedy)
    values = trace.columns[edit.column]
    if edit.op == "set":
        if edit.from_s is None:
            raise _impossible("a value is set at no time", "give the time of its row")
        row = sum(at <= edit.from_s for at in trace.times_s) - 1
        if row < 0:
            raise _impossible(
                f"no row holds at {edit.from_s:g} s", f"the first row is at {trace.times_s[0]:g} s"
            )
        changed = (*values[:row], edit.value, *values[row + 1 :])
    else:
        by = edit.value
        if by is None:
            raise _impossible(f"{edit.op} has no value", "give a number")
        change: Callable[[float], float] = (
            (lambda old: old * by) if edit.op == "scale" else (lambda old: old + by)
        )
        # Twelve digits: 0.1 and 0.2 make 0.3, as people write it.
        changed = tuple(None if old is None else float(f"{change(old):.12g}") for old in values)
    return replace(trace, columns={**trace.columns, edit.column: changed})


def _impossible(message: str, remedy: str | None) -> LonghaulError:
    return LonghaulError(Code.TRACE_UNUSABLE, message, remedy=remedy, exit_code=2)
