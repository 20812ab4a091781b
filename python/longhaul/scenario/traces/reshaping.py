"""Transformations of traces: one-way delay, fixed periods, joining."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.traces.trace import DELAY, RTT, Trace

Rule = Literal["mean", "hold", "median"]
MOST_ROWS = 1_000_000
_CLOSE = 1e-9


def held(values: Sequence[float | None]) -> list[float]:
    """``values`` with each gap filled by the last one, and before the first by that one."""
    last = next((value for value in values if value is not None), None)
    if last is None:
        raise LonghaulError(
            Code.TRACE_UNUSABLE, "the trace has gaps only", remedy="choose another", exit_code=2
        )
    filled = []
    for value in values:
        last = last if value is None else value
        filled.append(last)
    return filled


def one_way(trace: Trace) -> Trace:
    """Round trips as delays of one way, half of each: what a link takes."""
    return _scaled(trace, RTT, DELAY, 0.5)


def two_way(trace: Trace) -> Trace:
    """Delays of one way as round trips, twice each: right if the way back is alike."""
    return _scaled(trace, DELAY, RTT, 2.0)


def _scaled(trace: Trace, old: str, new: str, factor: float) -> Trace:
    if old not in trace.columns or new in trace.columns:
        message = f"the trace has {'no ' + old if old not in trace.columns else f'{new} already'}"
        remedy = f"choose one with {old} alone"
        raise LonghaulError(Code.TRACE_UNUSABLE, message, remedy=remedy, exit_code=2)
    columns = {
        (new if name == old else name): tuple(value and value * factor for value in values)
        if name == old
        else values
        for name, values in trace.columns.items()
    }
    return replace(trace, columns=columns)


def turned(traces: Sequence[Trace], way: str | None) -> tuple[Trace, ...]:
    """``traces`` of one way ("one"), of both ("two"), or as they are."""
    models = {"one": one_way, "two": two_way}
    return tuple(models[way](trace) if way else trace for trace in traces)


def only(traces: Sequence[Trace], ends: tuple[str, str] | None) -> tuple[Trace, ...]:
    """The trace of one link, or all where none is named. Raises :class:`LonghaulError`."""
    if ends is None:
        return tuple(traces)
    found = tuple(trace for trace in traces if trace.way and trace.way.ends == ends)
    if not found:
        known = [str(trace.way) for trace in traces if trace.way]
        what = f"there is no link {ends[0]} > {ends[1]}"
        raise LonghaulError(Code.TRACE_LINK, what, remedy=did_you_mean(" > ".join(ends), known), exit_code=2)
    return found


def resampled(trace: Trace, period_s: float, rule: Rule) -> Trace:
    """``trace`` at even times; each value is of the period that begins there.

    Mean and median weigh with time; hold takes the value at the time. Gaps weigh nothing; a period of gaps
    is one. The mean over time is kept where the period divides the span.
    """
    if not period_s > 0:
        raise LonghaulError(
            Code.ARGUMENT_INVALID, "a period of 0", remedy="write for example 1s", exit_code=2
        )
    start, span = trace.times_s[0], trace.span_s()
    count = max(1, -int(-(span / period_s - _CLOSE) // 1))
    if count > MOST_ROWS:
        message, remedy = f"makes {count} rows", f"write {MOST_ROWS} at most: a longer period"
        raise LonghaulError(Code.ARGUMENT_INVALID, message, remedy=remedy, exit_code=2)
    pieces = list(_pieces(trace, start, period_s, count))
    columns = {name: _column(values, pieces, count, rule) for name, values in trace.columns.items()}
    way = replace(trace.way, period_s=period_s) if trace.way else None
    return Trace(tuple(start + number * period_s for number in range(count)), columns, way)


@dataclass(frozen=True)
class _Piece:
    """A part of a row that lies in one period."""

    period: int
    row: int
    seconds: float
    is_first: bool
    """Whether the period begins in it."""


def _pieces(trace: Trace, start: float, period_s: float, count: int) -> Iterator[_Piece]:
    begins = [at - start for at in trace.times_s]
    ends = [at + duration for at, duration in zip(begins, trace.durations_s(), strict=True)]
    close, first = _CLOSE * period_s, 0
    for number in range(count):
        low, high = number * period_s, (number + 1) * period_s
        while first + 1 < len(begins) and begins[first + 1] <= low + close:
            first += 1
        row = first
        while row < len(begins) and (row == first or begins[row] < high - close):
            seconds = min(ends[row], high) - max(begins[row], low)
            yield _Piece(number, row, max(0.0, seconds), row == first)
            row += 1


def _column(
    values: Sequence[float | None], pieces: Iterable[_Piece], count: int, rule: Rule
) -> tuple[float | None, ...]:
    parts: list[list[tuple[float, float]]] = [[] for _ in range(count)]
    first: list[float | None] = [None] * count
    for piece in pieces:
        value = values[piece.row]
        if piece.is_first:
            first[piece.period] = value
        if value is not None:
            parts[piece.period].append((value, piece.seconds))
    if rule == "hold":
        return tuple(first)
    model: Callable[[Sequence[tuple[float, float]]], float] = _mean if rule == "mean" else _median
    return tuple(model(part) if part else None for part in parts)


def _mean(parts: Sequence[tuple[float, float]]) -> float:
    weight = sum(seconds for _, seconds in parts)
    if not weight:
        return parts[0][0]
    return sum(value * seconds for value, seconds in parts) / weight


def _median(parts: Sequence[tuple[float, float]]) -> float:
    """The value below which half of the time lies; between two halves their middle."""
    ordered = sorted(parts)
    half = sum(seconds for _, seconds in parts) / 2
    passed = 0.0
    for position, (value, seconds) in enumerate(ordered):
        passed += seconds
        if passed > half * (1 + _CLOSE):
            return value
        if passed >= half * (1 - _CLOSE) and position + 1 < len(ordered):
            return (value + ordered[position + 1][0]) / 2
    return ordered[-1][0]


def stitched(traces: Sequence[Trace]) -> tuple[Trace, ...]:
    """Traces of one link end to end, in their order; different links side by side.

    Each begins where the one before it ends. Raises :class:`LonghaulError` if some say their link and others
    do not.
    """
    nameless = [trace for trace in traces if trace.way is None]
    if nameless and len(nameless) < len(traces):
        remedy = "write SOURCE:DESTINATION=FILE for each"
        raise LonghaulError(
            Code.TRACE_LINK, "some traces say their link and others do not", remedy=remedy, exit_code=2
        )
    groups: dict[tuple[str, str] | None, list[Trace]] = {}
    for trace in traces:
        groups.setdefault(trace.way.ends if trace.way else None, []).append(trace)
    return tuple(_end_to_end(group) for group in groups.values())


def _end_to_end(traces: Sequence[Trace]) -> Trace:
    first = traces[0]
    names = [name for name in first.columns if all(name in trace.columns for trace in traces)]
    if any(set(trace.columns) != set(names) for trace in traces):
        have = ", ".join(dict.fromkeys(name for trace in traces for name in trace.columns))
        remedy = "join traces with the same columns"
        raise LonghaulError(Code.TRACE_UNUSABLE, f"not all traces have {have}", remedy=remedy, exit_code=2)
    times: list[float] = []
    end = first.times_s[0]
    for trace in traces:
        if not trace.durations_s()[-1] and trace is not traces[-1]:
            remedy = "note its period: # link SOURCE DESTINATION period_s=1"
            raise LonghaulError(
                Code.TRACE_UNUSABLE, "a trace of one row has no end", remedy=remedy, exit_code=2
            )
        # To a nanosecond, which is what links know of time.
        times += [round(end + at - trace.times_s[0], 9) for at in trace.times_s]
        end = round(end + trace.span_s(), 9)
    columns = {name: tuple(value for trace in traces for value in trace.columns[name]) for name in names}
    return Trace(tuple(times), columns, first.way)
