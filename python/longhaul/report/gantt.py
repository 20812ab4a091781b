"""The chart of transfers: a row for each request with its window, and bars whose height is the rate."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Chart, Key, Panel, Series, column, left_out_text
from longhaul.report.colours import BAD, MUTED, SERIES
from longhaul.report.over_time import with_marks
from longhaul.units.configured import rate

Json = Mapping[str, Any]

MOST_ROWS = 60
"""Requests beyond these are left out."""

_DIGITS = 3
"""Of a rate by which bars are one series."""
_LEAST_SHARE = 0.08
"""Of a full bar's height, below which it would not be seen."""
_EDGE = 0.42
"""Of a row, from its middle to its upper or lower edge; the next row begins at 0.5."""


@dataclass(frozen=True)
class Bar:
    """Data that move at one rate."""

    start_s: float
    finish_s: float
    bits_per_s: float


@dataclass(frozen=True)
class GanttRow:
    """A request: its window, and when its data move. With ``achieved``, what was planned stands above it.

    Either all rows of a chart have ``achieved`` or none.
    """

    name: str
    release_s: float
    deadline_s: float | None
    planned: Sequence[Bar]
    achieved: Sequence[Bar] | None = None
    is_good: bool = True
    """Whether it is satisfied, or was in time."""
    is_refused: bool = False


def gantt_chart(
    name: str,
    title: str,
    rows: Sequence[GanttRow],
    *,
    time_label: str = "time [s]",
    changes: Sequence[Json] = (),
    from_s: float = 0.0,
) -> Chart | None:
    """The chart of the first :data:`MOST_ROWS` of ``rows``; ``None`` without rows.

    ``changes`` of the configuration are marked, on an axis whose time begins at ``from_s`` of theirs.
    """
    if not rows:
        return None
    shown = rows[:MOST_ROWS]
    time = time_axis(shown, label=time_label)
    series = [*_windows(shown, time), *_deadlines(shown), *_bars(shown)]
    note = left_out_text(len(rows), len(shown), "The first {shown} of {every} requests")
    panel = Panel("", time, Axis("", names=tuple(each.name for each in shown)), series=series, note=note)
    row_in = 0.22 if shown[0].achieved is None else 0.34
    return Chart(
        name,
        title,
        column(with_marks([panel], changes, from_s=from_s)),
        height_in=1.1 + row_in * len(shown),
        key=_key(shown),
    )


def time_axis(rows: Sequence[GanttRow], *, label: str = "time [s]") -> Axis:
    """From 0 to behind every release, deadline and byte."""
    ends = [each.release_s for each in rows]
    ends += [each.deadline_s for each in rows if each.deadline_s is not None]
    ends += [bar.finish_s for each in rows for bar in (*each.planned, *(each.achieved or ()))]
    return Axis(label, low=0.0, high=1.05 * max(ends) or 1.0)


def _key(rows: Sequence[GanttRow]) -> list[Key]:
    """What the colours mean."""
    is_paired = rows[0].achieved is not None
    found = [Key("planned", SERIES[0], "squares")]
    if is_paired:
        found.append(Key("achieved in time", SERIES[2], "squares"))
    if any(not each.is_good for each in rows):
        found.append(Key("late or refused" if is_paired else "not satisfied", BAD, "squares"))
    return [*found, Key("from release to deadline", MUTED, "squares")]


def _windows(rows: Sequence[GanttRow], time: Axis) -> Iterator[Series]:
    """From release to deadline, or on to the end of the chart."""
    for is_refused, name, colour in (
        (False, "from release to deadline", MUTED),
        (True, "refused, from release to deadline", BAD),
    ):
        windows = [
            (each.release_s, place, time.high if each.deadline_s is None else each.deadline_s)
            for place, each in enumerate(rows)
            if each.is_refused is is_refused
        ]
        if windows:
            begin, row, end = np.array(windows, dtype=float).T
            yield Series(
                name,
                colour,
                begin,
                row,
                kind="bars",
                listed=False,
                size=2 * _EDGE,
                opacity=0.16,
                to_x=end,
            )


def _deadlines(rows: Sequence[GanttRow]) -> Iterator[Series]:
    known = [(each.deadline_s, place) for place, each in enumerate(rows) if each.deadline_s is not None]
    if known:
        at, row = np.array(known, dtype=float).T
        yield Series(
            "deadline",
            MUTED,
            at,
            row + _EDGE,
            kind="strokes",
            listed=False,
            size=1.0,
            low=row - _EDGE,
            to_x=at,
        )


def _bars(rows: Sequence[GanttRow]) -> Iterator[Series]:
    """The bars of one kind, colour and rate are one series."""
    series: dict[tuple[str, str, float], list[tuple[float, float, float]]] = defaultdict(list)
    for place, row in enumerate(rows):
        for kind, colour, bars, foot in _lanes(row):
            for bar in bars:
                rounded = float(f"{bar.bits_per_s:.{_DIGITS}g}")
                series[kind, colour, rounded].append((bar.start_s, place + foot, bar.finish_s))
    greatest = max((bits_per_s for _kind, _colour, bits_per_s in series), default=1.0)
    full = 2 * _EDGE if rows[0].achieved is None else _EDGE
    for (kind, colour, bits_per_s), spans in series.items():
        height = full * max(bits_per_s / greatest, _LEAST_SHARE)
        begin, foot_y, end = np.array(spans, dtype=float).T
        yield Series(
            f"{kind} at {rate(round(bits_per_s))}",
            colour,
            begin,
            foot_y - height / 2,
            kind="bars",
            listed=False,
            size=height,
            to_x=end,
        )


def _lanes(row: GanttRow) -> Iterator[tuple[str, str, Sequence[Bar], float]]:
    """The kind of bars, their colour, the bars, and how far below the middle of the row they stand."""
    if row.achieved is None:
        yield "planned", SERIES[0] if row.is_good else BAD, row.planned, _EDGE
    else:
        yield "planned", SERIES[0], row.planned, 0.0
        yield "achieved", SERIES[2] if row.is_good else BAD, row.achieved, _EDGE
