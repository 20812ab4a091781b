"""Charts as JSON for the browser, which ``web/src/charts`` draws."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Chart, Level, Panel, Series
from longhaul.report.colours import DASHES, variable

Array = np.ndarray[Any, Any]
Json = dict[str, Any]
Column = list[float | None] | Json

MOST_POINTS = 20_000
"""Of a chart. Where there are more, each stretch of a line shows its least and its most."""
_DIGITS = 6
_ROOM = 0.02
"""Of an x axis, before its first sign and after its last."""
_POWERS = 10.0 ** np.arange(23)
"""All of which doubles have exactly."""


@dataclass(frozen=True)
class Embedded:
    """A chart in a page."""

    text: str
    """For a ``<script type="application/json">``."""
    height: int
    """About as many pixels as the script will need for it, so that the page does not move."""


def embedded(chart: Chart) -> Embedded:
    """The chart for a page, which :func:`chart_json` describes."""
    text = json.dumps(chart_json(chart), separators=(",", ":")).replace("<", "\\u003c")
    heights = _heights(chart)
    return Embedded(text, sum(heights) + _HEAD * len(heights) + _FOOT)


_HEAD, _FOOT = 26, 30
"""Pixels above each panel, and of the labels below the last."""


def chart_json(chart: Chart) -> Json:
    """The chart with numbers of six digits, or as whole steps where an axis has a step.

    ``xs`` has each set of x once, a series names its own; ``axes`` has each x axis once, from where to where
    the series of all its panels go.
    """
    axes = list(dict.fromkeys(panel.x for panel in chart.panels))
    lines = sum(len(panel.series) for panel in chart.panels)
    xs = _Columns(max(MOST_POINTS // max(lines, 1), 100))
    rows = [[_panel(panel, axes.index(panel.x), xs) for panel in row] for row in chart.rows]
    return {
        "name": chart.name,
        "title": chart.title,
        "note": chart.note,
        "key": [
            {
                "name": each.name,
                "colour": variable(each.colour),
                "kind": each.kind,
                "dashed": each.dashed or each.colour in DASHES,
            }
            for each in chart.key
        ],
        "widths": chart.widths,
        "heights": _heights(chart),
        "axes": [{**_axis(axis), "reach": _reach(axis, chart)} for axis in axes],
        "rows": rows,
        "xs": xs.columns,
    }


_FOR_LABELS_IN = 0.5
_PIXELS_PER_INCH = 104


def _heights(chart: Chart) -> list[int]:
    """Of the rows, in pixels."""
    relative = chart.heights or (1.0,) * len(chart.rows)
    whole = (chart.height_in - _FOR_LABELS_IN) * _PIXELS_PER_INCH
    return [round(whole * each / sum(relative)) for each in relative]


class _Columns:
    """The sets of x of a chart."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.columns: list[Column] = []
        self._places: dict[bytes, int] = {}

    def place(self, x: Array, step: float | None) -> int:
        """The number of the set that has these values."""
        key = x.tobytes()
        if key not in self._places:
            self._places[key] = len(self.columns)
            self.columns.append(_column(x, step))
        return self._places[key]


def _axis(axis: Axis) -> Json:
    found: Json = {"label": axis.label}
    if axis.is_logarithmic:
        found["logarithmic"] = True
    if axis.low is not None:
        found["low"] = axis.low
    if axis.high is not None:
        found["high"] = axis.high
    if axis.names:
        found["names"] = axis.names
    return found


def _reach(axis: Axis, chart: Chart) -> tuple[float, float]:
    """From where to where all series on an x axis go; from its ends if it has them."""
    series = [each for panel in chart.panels if panel.x == axis for each in panel.series]
    feet = [foot.x for panel in chart.panels if panel.x == axis for foot in panel.feet]
    levels = [
        np.array([level.at])
        for panel in chart.panels
        if panel.x == axis
        for level in panel.levels
        if level.along == "x"
    ]
    if axis.names:
        return -0.5, len(axis.names) - 0.5
    every = [each.x for each in series] + [each.to_x for each in series if each.to_x is not None]
    every += [end for each in series if each.x_interval is not None for end in each.x_interval]
    x = np.concatenate([np.zeros(0), *every, *feet, *levels]).astype(float)
    x = x[np.isfinite(x) & ((x > 0) if axis.is_logarithmic else True)]
    low, high = (float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
    if any(each.kind in ("discs", "circles", "squares", "crosses") for each in series):
        # A sign at the edge would be half a sign.
        room = (high / low) ** _ROOM if axis.is_logarithmic else _ROOM * (high - low)
        low, high = (low / room, high * room) if axis.is_logarithmic else (low - room, high + room)
    if axis.low is not None:
        low = axis.low
    if axis.high is not None:
        high = axis.high
    return low, high if high > low else low + 1.0


def _panel(panel: Panel, axis: int, xs: _Columns) -> Json:
    found: Json = {
        "title": panel.title,
        "x": axis,
        "y": _axis(panel.y),
        "series": [_series(each, panel, xs) for each in panel.series],
        "levels": [_level(each) for each in panel.levels],
        "feet": [
            {"name": each.name, "colour": variable(each.colour), "x": _numbers(each.x)} for each in panel.feet
        ],
        "marks": [
            {
                "at": each.at,
                "until": each.until,
                "label": each.label,
                "colour": variable(each.colour),
                "solid": each.solid,
            }
            for each in panel.marks
        ],
        "note": panel.note,
    }
    if panel.rows_of:
        found["rows_of"] = panel.rows_of
    if panel.part is not None:
        found["part"] = {"begin": panel.part.begin, "end": panel.part.end, "name": panel.part.name}
    return found


def _level(level: Level) -> Json:
    return {
        "at": level.at,
        "along": level.along,
        "colour": variable(level.colour),
        "name": level.name,
        "look": level.look,
    }


def _series(series: Series, panel: Panel, xs: _Columns) -> Json:
    found: Json = {
        "name": series.name,
        "colour": variable(series.colour),
        "kind": series.kind,
        "size": series.size,
    }
    flags = {
        "listed": series.listed,
        "dashed": series.dashed,
        "tipped": series.tipped,
        "joined": series.joined,
        "ignored": series.name in panel.ignored,
    }
    found |= {name: value for name, value in flags.items() if value is not (name == "listed")}
    dashes = DASHES.get(series.colour)
    if dashes:
        found["dashes"] = dashes
    if series.opacity < 1:
        found["opacity"] = series.opacity
    kept: Any = slice(None)
    if series.kind in ("line", "steps-before", "steps-after", "dots") and panel.y.step is None:
        kept = _kept(series.y, xs.most)
    x, y = series.x[kept], series.y[kept]
    found["x"] = xs.place(np.ascontiguousarray(x, dtype=float), panel.x.step)
    found["y"] = _column(y, panel.y.step)
    # Small numbers take fewer digits: how far it is from there to here.
    if series.low is not None:
        found["height"] = _column(y - series.low[kept], panel.y.step, has_sums=False)
    if series.to_x is not None:
        found["width"] = _column(series.to_x[kept] - x, panel.x.step, has_sums=False)
    for name, interval in (("x_interval", series.x_interval), ("y_interval", series.y_interval)):
        if interval is not None:
            found[name] = [_numbers(each) for each in interval]
    if series.words:
        found["words"] = series.words
    return found


def _column(values: Array, step: float | None, *, has_sums: bool = True) -> Column:
    """Numbers, or whole steps: each as the difference to the one before where that is ``has_sums``."""
    if step is None:
        return _numbers(values)
    whole = np.round(np.asarray(values, dtype=float) / step).astype(np.int64)
    return {
        "step": step,
        "sums": has_sums,
        "steps": (np.diff(whole, prepend=0) if has_sums else whole).tolist(),
    }


def _kept(values: Array, most: int) -> Array:
    """Positions of at most about ``most`` values: all, or the first, least and greatest of each stretch."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    stretch = -(-3 * count // most)
    starts = np.arange(0, count, stretch)
    full = np.full(len(starts) * stretch, np.nan)
    full[:count] = values
    table = full.reshape(-1, stretch)
    least = np.where(np.isnan(table), np.inf, table).argmin(axis=1) + starts
    most_of_all = np.where(np.isnan(table), -np.inf, table).argmax(axis=1) + starts
    kept = np.zeros(count, dtype=bool)
    for positions in (starts, least, most_of_all):
        kept[positions] = True
    return np.flatnonzero(kept)


def _numbers(column: Sequence[float] | Array) -> list[float | None]:
    """Numbers of six digits, of 22 decimals at most; null for what is not there."""
    numbers = np.asarray(column, dtype=float)
    size = np.abs(numbers)
    known = np.isfinite(numbers) & (size > 0)
    exponent = np.zeros(numbers.shape, dtype=np.int64)
    exponent[known] = np.floor(np.log10(size[known])).astype(np.int64)
    # Multiplied and divided by powers of ten that are exact, numbers of six digits print as such.
    shift = np.clip(_DIGITS - 1 - exponent, -22, 22)
    up, down = _POWERS[np.maximum(shift, 0)], _POWERS[np.maximum(-shift, 0)]
    rounded = np.where(shift >= 0, np.round(numbers * up) / up, np.round(numbers / down) * down)
    values: list[float | None] = rounded.tolist()
    return (
        values
        if np.isfinite(numbers).all()
        else [each if isfinite(each) else None for each in rounded.tolist()]
    )
