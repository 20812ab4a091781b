"""Time/sequence graphs of TCP flows, after tcptrace: sent, retransmitted, acknowledged, and allowed data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.segments import busiest_span, flows
from longhaul.report.mpl import Axes
from longhaul.report.over_time import mark_changes
from longhaul.report.plotting import BAD, MUTED, figure, plain, style
from longhaul.report.points import unlisted
from longhaul.report.sequence_points import LOOKS, MOST_ROWS, panel
from longhaul.report.zoom import Json, told_marks, zoomable

Array = np.ndarray[Any, Any]
Key = tuple[str, str, str]

_COLUMNS, _ROWS = 700, 240
"""Places that a panel tells apart."""
_SPANS = 40
"""Of the part that is shown closely, so many would be the whole."""
_LEAST_S = 0.02
_LEAST_SHARE = 0.001
"""Of the bytes of the flow that sent most; what controls it is less, and not shown."""


def sequences(table: Mapping[str, Array], changes: Sequence[Json] = ()) -> str | None:
    """The flows that sent most over a recorded link: all of each, and the part with most retransmissions."""
    found = flows(table)
    ends = {key: kinds["new"][:, 2].max(initial=0) for key, kinds in found.items()}
    most = max(ends.values(), default=0)
    shown = {key: kinds for key, kinds in found.items() if ends[key] > most * _LEAST_SHARE}
    if not shown:
        return None
    titles = {
        key: f"{key[2]}, {key[0]} {key[1]}: {len(kinds['retransmitted']):,} of {_sent(kinds):,} retransmitted"
        for key, kinds in shown.items()
    }
    with style():
        made = figure(0.6 + 2.7 * len(shown))
        grid = made.subplots(len(shown), 2, squeeze=False, width_ratios=[3, 2])
        for (whole, close), (key, kinds) in zip(grid, shown.items(), strict=True):
            span = _close(kinds)
            _draw(whole, kinds, _reach(kinds))
            _draw(close, kinds, span)
            whole.axvspan(*span, color=MUTED, alpha=0.15, linewidth=0)
            whole.set_title(titles[key])
            close.set_title("most retransmissions" if len(kinds["retransmitted"]) else "its middle")
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        for column in zip(*grid, strict=True):
            mark_changes(column, changes)
        panels = [whole for whole, _close in grid]
        handles, labels = _legend(grid[0][0])
        made.legend(handles, labels, loc="outside upper left", ncols=6, handlelength=1.4, columnspacing=1.4)
        return zoomable(
            made,
            "sequences",
            "time/sequence graphs of TCP flows",
            behind=lambda _: _points(shown, titles, panels),
        )


def _points(
    shown: Mapping[Key, Mapping[str, Array]], titles: Mapping[Key, str], panels: Sequence[Axes]
) -> Json:
    reaches = np.array([_reach(kinds) for kinds in shown.values()])
    return {
        "x": "time [s]",
        "reach": [float(reaches[:, 0].min()), float(reaches[:, 1].max())],
        "xs": [],
        "panels": [
            {
                **panel(
                    kinds,
                    title=titles[key],
                    unit=_unit(np.concatenate([kinds[kind] for kind in ("new", "retransmitted", "late")])),
                    part=_close(kinds),
                    most=MOST_ROWS // len(shown),
                ),
                "marks": told_marks(axes),
            }
            for (key, kinds), axes in zip(shown.items(), panels, strict=True)
        ],
    }


def _unit(data: Array) -> tuple[str, float]:
    return ("MB", 1e6) if data[:, 2].max(initial=0) >= 1e6 else ("kB", 1e3)


def _sent(kinds: Mapping[str, Array]) -> int:
    return sum(len(kinds[kind]) for kind in ("new", "retransmitted", "late"))


def _reach(kinds: Mapping[str, Array]) -> tuple[float, float]:
    instants = np.concatenate([rows[:, 0] for rows in kinds.values()])
    return float(instants.min()), float(instants.max())


def _close(kinds: Mapping[str, Array]) -> tuple[float, float]:
    """A short part with the most retransmissions, or the middle of the record."""
    begin, end = _reach(kinds)
    span_s = max((end - begin) / _SPANS, _LEAST_S)
    if len(kinds["retransmitted"]):
        return busiest_span(np.sort(kinds["retransmitted"][:, 0]), span_s=span_s)
    middle = (begin + end) / 2
    return middle - span_s / 2, middle + span_s / 2


def _draw(axes: Axes, kinds: Mapping[str, Array], span: tuple[float, float]) -> None:
    """What happened in a span of time."""
    plain(axes)
    data = np.concatenate([_within(kinds[kind], span) for kind in ("new", "retransmitted", "late")])
    unit, scale = _unit(data)
    axes.set_ylabel(f"data [{unit}]")
    for order, kind in enumerate(("sack", "new", "late", "retransmitted"), start=2):
        rows = _seen(kinds[kind], span)
        if not len(rows):
            continue
        x, y = _strokes(rows)
        axes.plot(x, y / scale, **_look(kind), solid_capstyle="round", zorder=order)
        axes.get_lines()[-1].get_path().should_simplify = False
        if kind == "retransmitted":
            axes.plot(
                rows[:, 0],
                rows[:, 2] / scale,
                "v",
                color=BAD,
                markersize=4,
                zorder=6,
                label=unlisted(LOOKS[kind].name),
            )
    acks = _around(kinds["ack"], span)
    axes.step(acks[:, 0], acks[:, 1] / scale, where="post", **_look("ack"))
    if np.isfinite(acks[:, 2]).any():
        axes.step(acks[:, 0], acks[:, 2] / scale, where="post", **_look("limit"))
    axes.set_xlim(*span)
    low = min([*data[:, 1], *_within(acks, span)[:, 1]], default=0.0) / scale
    high = max([*data[:, 2], *_within(acks, span)[:, 1]], default=scale) / scale
    # A window far above what was sent says only that it did not matter.
    axes.set_ylim(low - 0.05 * (high - low), high + 0.25 * (high - low))


_IN_LEGEND = ("new", "retransmitted", "late", "sack", "ack", "limit")


def _look(kind: str) -> Json:
    look = LOOKS[kind]
    return {"label": look.name, "color": look.colour, "linewidth": look.width}


def _legend(axes: Axes) -> tuple[list[Any], list[str]]:
    """The lines that have names; retransmissions are triangles."""
    handles, labels = axes.get_legend_handles_labels()
    order = [LOOKS[kind].name for kind in _IN_LEGEND if LOOKS[kind].name in labels]
    return [handles[labels.index(name)] for name in order], order


def _within(rows: Array, span: tuple[float, float]) -> Array:
    found: Array = rows[(rows[:, 0] >= span[0]) & (rows[:, 0] <= span[1])]
    return found


def _around(rows: Array, span: tuple[float, float]) -> Array:
    """Also the last ones before, which still hold, as many as can be told apart."""
    first = max(int(np.searchsorted(rows[:, 0], span[0])) - 1, 0)
    until = int(np.searchsorted(rows[:, 0], span[1], side="right"))
    mine = rows[first:until]
    return mine[:: max(len(mine) // (2 * _COLUMNS), 1)]


def _seen(rows: Array, span: tuple[float, float]) -> Array:
    """Of strokes that would be the same dots, one."""
    mine = _within(rows, span)
    if not len(mine):
        return mine
    places = []
    for values, steps in ((mine[:, 0], _COLUMNS), (mine[:, 1], _ROWS)):
        width = np.ptp(values) or 1.0
        places.append(np.round((values - values.min()) / width * steps).astype(np.int64))
    kept = np.sort(np.unique(places[0] * (_ROWS + 1) + places[1], return_index=True)[1])
    found: Array = mine[kept]
    return found


def _strokes(rows: Array) -> tuple[Array, Array]:
    """One line that lifts its pen between upright strokes."""
    x = np.repeat(rows[:, 0], 3)
    y = np.column_stack([rows[:, 1], rows[:, 2], np.full(len(rows), np.nan)]).reshape(-1)
    return x, y
