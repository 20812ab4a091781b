"""The chart of transfers: a row for each request with its window, and bars whose height is the rate."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longhaul.report.chart import Axis, Key, Panel, Series, left_out_text
from longhaul.report.colours import BAD, MUTED, SERIES
from longhaul.units.configured import rate

MOST_ROWS = 60
"""Requests beyond these are left out."""

_DIGITS = 3
"""Of rates that are told apart."""
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
    """A request: its window, and when its data move. With ``achieved``, what was planned stands above it."""

    name: str
    release_s: float
    deadline_s: float | None
    planned: Sequence[Bar]
    achieved: Sequence[Bar] | None = None
    is_good: bool = True
    """Whether it is satisfied, or was in time."""
    is_refused: bool = False


def gantt_panel(rows: Sequence[GanttRow], *, label: str = "time [s]") -> Panel:
    """The panel of the first :data:`MOST_ROWS` of ``rows``; its time axis has every deadline on it."""
    shown = rows[:MOST_ROWS]
    until_s = _until_s(shown)
    is_paired = any(each.achieved is not None for each in shown)
    tallest = max((bar.bits_per_s for each in shown for bar in _bars(each)), default=1.0)
    full = _EDGE if is_paired else 2 * _EDGE
    series = [*_windows(shown, until_s), *_deadlines(shown)]
    lots: dict[tuple[str, str, float], list[tuple[float, float, float]]] = defaultdict(list)
    for place, each in enumerate(shown):
        kinds = [("planned", each.planned, 0.0 if is_paired else _EDGE)]
        kinds += [("achieved", each.achieved or (), _EDGE)] if is_paired else []
        for kind, bars, foot in kinds:
            colour = SERIES[0] if kind == "planned" else SERIES[2] if each.is_good else BAD
            if not is_paired and not each.is_good:
                colour = BAD
            for bar in bars:
                told = float(f"{bar.bits_per_s:.{_DIGITS}g}")
                lots[kind, colour, told].append((bar.start_s, place + foot, bar.finish_s))
    for (kind, colour, bits_per_s), found in lots.items():
        height = full * min(max(bits_per_s / tallest, _LEAST_SHARE), 1.0)
        name = f"{kind} at {rate(round(bits_per_s))}"
        begin, foot_y, end = np.array(found, dtype=float).T
        series.append(
            Series(
                name,
                colour,
                begin,
                foot_y - height / 2,
                kind="bars",
                listed=False,
                size=height,
                to_x=end,
            )
        )
    names = tuple(each.name for each in shown)
    note = left_out_text(len(rows), len(shown), "The first {shown} of {every} requests")
    return Panel("", Axis(label, low=0.0, high=until_s), Axis("", names=names), series=series, note=note)


def gantt_height_in(rows: Sequence[GanttRow]) -> float:
    """Of its chart on paper."""
    row_in = 0.34 if any(each.achieved is not None for each in rows) else 0.22
    return 1.1 + row_in * min(len(rows), MOST_ROWS)


def gantt_key(rows: Sequence[GanttRow]) -> list[Key]:
    """What its colours mean."""
    is_paired = any(each.achieved is not None for each in rows)
    found = [Key("planned", SERIES[0], "squares")]
    if is_paired:
        found.append(Key("achieved in time", SERIES[2], "squares"))
    if any(not each.is_good for each in rows):
        found.append(Key("late or refused" if is_paired else "not satisfied", BAD, "squares"))
    return [*found, Key("from release to deadline", MUTED, "squares")]


def _bars(row: GanttRow) -> Sequence[Bar]:
    return [*row.planned, *(row.achieved or ())]


def _until_s(rows: Sequence[GanttRow]) -> float:
    """Where the time axis ends: every deadline is on it, however far behind the last byte."""
    ends = [bar.finish_s for each in rows for bar in _bars(each)]
    ends += [each.deadline_s for each in rows if each.deadline_s is not None]
    return 1.05 * max(ends, default=max((each.release_s for each in rows), default=0.0) + 1.0)


def _windows(rows: Sequence[GanttRow], until_s: float) -> list[Series]:
    """From release to deadline, or on to the end of the chart; of refused requests with words."""
    found = []
    for is_refused, colour in ((False, MUTED), (True, BAD)):
        windows = [
            (each.release_s, place, until_s if each.deadline_s is None else each.deadline_s)
            for place, each in enumerate(rows)
            if each.is_refused is is_refused
        ]
        if windows:
            begin, row, end = np.array(windows, dtype=float).T
            look = {"kind": "bars", "listed": False, "size": 2 * _EDGE, "opacity": 0.16}
            name = "refused, from release to deadline" if is_refused else "from release to deadline"
            found.append(Series(name, colour, begin, row, to_x=end, **look))  # type: ignore[arg-type]
    return found


def _deadlines(rows: Sequence[GanttRow]) -> list[Series]:
    known = [(each.deadline_s, place) for place, each in enumerate(rows) if each.deadline_s is not None]
    if not known:
        return []
    at, places = np.array(known, dtype=float).T
    look = {"kind": "strokes", "listed": False, "size": 1.0}
    return [
        Series("deadline", MUTED, at, places + _EDGE, low=places - _EDGE, to_x=at, **look)  # type: ignore[arg-type]
    ]
