"""Zoomable figures: the drawing, and its points for the script that redraws them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from longhaul.report.mpl import Axes, Figure, Line2D
from longhaul.report.plotting import is_mark, marks, needs_no_page, svg, variable

Json = dict[str, Any]
Array = np.ndarray[Any, Any]

MARK = '<script type="application/json" class="points">'
"""What stands before the points."""
MOST_POINTS = 20_000
"""Of a figure. Where there are more, each stretch of a line shows its least and its most."""
_DIGITS = 6
_DRAWN = {"steps-pre": "before", "steps-post": "after", "default": "line"}


def zoomable(made: Figure, name: str, title: str, *, behind: Callable[[Figure], Json] | None = None) -> str:
    """As :func:`svg`, with the points behind it: what is shown without scripts, in print, and to zoom.

    ``behind`` gives the points of a figure that has more of them than its lines show.
    """
    drawing = svg(made, name, title)
    if not drawing or needs_no_page():
        return drawing
    told = json.dumps((behind or points)(made), separators=(",", ":")).replace("<", "\\u003c")
    return f"{drawing}{MARK}{told}</script>"


def points(made: Figure) -> Json:
    """The panels of a figure and what their lines show, in the units of the axes.

    ``xs`` has each set of x once; a series names its own. ``reach`` is from where to where all of them
    go. ``levels`` are lines over the whole panel, ``feet`` marks at its foot, ``marks`` instants
    over its whole height.
    """
    panels = [axes for axes in made.axes if axes.get_lines()]
    lines = sum(len(axes.get_lines()) for axes in panels)
    most = max(MOST_POINTS // max(lines, 1), 100)
    xs: dict[bytes, tuple[int, list[float | None]]] = {}
    shown = [_panel(axes, xs, most) for axes in panels]
    below = [axes.get_xlabel() for axes in made.axes if axes.get_xlabel()]
    beside = [axes.get_ylabel() for axes in made.axes if axes.get_ylabel()]
    for panel in shown:
        # Panels that share an axis have its label once.
        panel["y"] = panel["y"] or next(iter(beside), "")
    return {
        "x": next(iter(below), ""),
        "reach": _reach(panels),
        "xs": [values for _, values in xs.values()],
        "panels": shown,
        "note": made.get_suptitle(),
    }


def _reach(panels: Sequence[Axes]) -> tuple[float, float]:
    """From where to where the lines of all panels go; from 0 if the drawing does."""
    every = [
        np.asarray(line.get_xdata(), dtype=float)
        for axes in panels
        for line in axes.get_lines()
        if line.get_transform() != axes.get_yaxis_transform() and not is_mark(line)
    ]
    x = np.concatenate([np.zeros(0), *every])
    x = x[np.isfinite(x)]
    low, high = (float(x.min()), float(x.max())) if len(x) else (0.0, 1.0)
    return (0.0 if panels and panels[0].get_xlim()[0] == 0 else low), high


def _panel(axes: Axes, xs: dict[bytes, tuple[int, list[float | None]]], most: int) -> Json:
    series, levels, feet = [], [], []
    for line in axes.get_lines():
        if is_mark(line):
            continue
        x, y = (np.asarray(each, dtype=float) for each in line.get_data(orig=False))
        if line.get_transform() == axes.transData:
            kept = _kept(y, most)
            shown = _numbers(x[kept])
            place, _ = xs.setdefault(x[kept].tobytes(), (len(xs), shown))
            series.append({"x": place, "y": _numbers(y[kept]), **_look(line)})
        elif line.get_transform() == axes.get_xaxis_transform():
            feet.append({"x": _numbers(x), **_look(line)})
        elif line.get_transform() == axes.get_yaxis_transform():
            levels.append({"y": float(y[0]), **_look(line)})
    return {
        "title": axes.get_title("left"),
        "y": axes.get_ylabel(),
        "from_zero": bool(axes.get_ylim()[0] == 0),
        "series": series,
        "levels": levels,
        "feet": feet,
        "marks": told_marks(axes),
    }


def told_marks(axes: Axes) -> list[Json]:
    """What was marked on a panel, for the script that draws it anew."""
    return [
        {
            "at": each.at,
            "until": each.until,
            "label": each.label,
            "colour": variable(each.colour),
            "solid": each.solid,
        }
        for each in marks(axes)
    ]


def _look(line: Line2D) -> Json:
    label = str(line.get_label())
    dots = line.get_linestyle() == "None"
    return {
        # Names that matplotlib makes up begin with an underscore.
        "label": "" if label.startswith("_") else label,
        "colour": variable(str(line.get_color())),
        "draw": "dots" if dots else _DRAWN.get(line.get_drawstyle(), "line"),
        "dashed": not dots and line.is_dashed(),
    }


def _kept(values: Array, most: int) -> Array:
    """Positions of at most about ``most`` values: all, or the first, least and greatest of each stretch."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    stretch = -(-3 * count // most)
    starts = np.arange(0, count, stretch)
    parts = np.array_split(np.where(np.isnan(values), 0.0, values), starts[1:])
    extremes = [(int(part.argmin()), int(part.argmax())) for part in parts]
    found: Array = np.unique(
        np.concatenate(
            [starts, *(start + np.array(pair) for start, pair in zip(starts, extremes, strict=True))]
        )
    )
    return found


def _numbers(values: Sequence[float] | Array) -> list[float | None]:
    """Short numbers; null for what is not there."""
    return [
        None if not np.isfinite(value) else float(f"{value:.{_DIGITS}g}")
        for value in np.asarray(values).tolist()
    ]
