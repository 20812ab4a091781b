"""One look for the figures of all studies: what a paper states, and what a study measured.

A paper's values are hollow black diamonds, with the paper's error bars if it states them. A value that holds
for a whole axis is a dashed black line, a bound has an arrow to the side where the paper's result is, and a
category that the paper names without a value is marked at the upper edge.
Measured means have bars of their 95 % confidence intervals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from longhaul.report.colours import LIGHT, SERIES
from longhaul.report.mpl import Axes, Figure
from longhaul.studies.evaluation import Measurement
from longhaul.studies.paper import PaperValue

PAPER_LABEL = "paper"
MARKERS = "os^vDPX*"
"""Of our curves, one after another."""
ARROW_POINTS = 17
"""How long the arrow of a bound is."""
_DASHES = (0, (5, 3))
Places = Mapping[Any, float] | Callable[[Any], float]
"""Where each x is on the axis, if that is not the x itself."""


def colour(number: int) -> str:
    """Of our curves, one after another: those of the page by day, which also differ in lightness."""
    return LIGHT[SERIES[number % len(SERIES)]]


def draw_paper(
    axes: Axes,
    values: Iterable[PaperValue],
    *,
    places: Places | None = None,
    across: bool = False,
    label: str = PAPER_LABEL,
    marker: str = "D",
    ink: str = "black",
) -> None:
    """Draw what a paper states.

    ``across``: the values are along the horizontal axis, as with horizontal bars. ``label``: of the legend.
    """
    points = []
    for value in values:
        if value.y is None and isinstance(value.x, str):
            _named(axes, _place(value.x, places), f"{label}: {value.series}", ink=ink)
        elif value.x is None or value.y is None:
            _line(axes, value, vertical=(value.y is None) != across, label=label, ink=ink)
        else:
            points.append(value)
    if not points:
        return
    at = [_place(each.x, places) for each in points]
    heights = [each.y or 0.0 for each in points]
    spreads = [each.spread or 0.0 for each in points] if any(each.spread for each in points) else None
    bars: dict[str, Any] = {"xerr" if across else "yerr": spreads}
    axes.errorbar(
        heights if across else at,
        at if across else heights,
        **bars,
        fmt=marker,
        markersize=6.5,
        fillstyle="none",
        markeredgewidth=1.3,
        color=ink,
        elinewidth=1,
        capsize=3.5,
        label=label,
        zorder=6,
    )
    for each, place, height in zip(points, at, heights, strict=True):
        _arrow(axes, (height, place) if across else (place, height), each, across=across, ink=ink)


def _place(x: float | str | None, places: Places | None) -> float:
    if places is None:
        assert isinstance(x, int | float), f"{x}: say where it is on the axis"
        return x
    return places(x) if callable(places) else places[x]


def _named(axes: Axes, place: float, label: str, *, ink: str) -> None:
    style: dict[str, Any] = {"markersize": 7, "fillstyle": "none", "markeredgewidth": 1.3, "color": ink}
    edge = axes.get_xaxis_transform()
    axes.plot([place], [0.96], "v", transform=edge, linestyle="", label=label, zorder=6, **style)


def _line(axes: Axes, value: PaperValue, *, vertical: bool, label: str, ink: str) -> None:
    style: dict[str, Any] = {"color": ink, "linewidth": 1, "linestyle": _DASHES, "zorder": 5}
    at = value.x if value.y is None else value.y
    assert isinstance(at, int | float)
    (axes.axvline if vertical else axes.axhline)(at, label=f"{label}: {value.series}", **style)
    if value.bound:
        inside = axes.get_xaxis_transform() if vertical else axes.get_yaxis_transform()
        where = (at, 0.94) if vertical else (0.06, at)
        _arrow(axes, where, value, across=vertical, transform=inside, ink=ink)


def _arrow(
    axes: Axes, at: tuple[float, float], value: PaperValue, *, across: bool, ink: str, transform: Any = "data"
) -> None:
    """From a bound to the side where the paper's result is."""
    if value.bound:
        length = ARROW_POINTS if value.bound == "above" else -ARROW_POINTS
        axes.annotate(
            "",
            at,
            xycoords=transform,
            xytext=(length, 0) if across else (0, length),
            textcoords="offset points",
            arrowprops={"arrowstyle": "<|-", "color": ink, "linewidth": 1, "shrinkA": 0, "shrinkB": 3},
            zorder=6,
        )


def draw_measured(
    axes: Axes,
    places: Sequence[float],
    found: Sequence[Measurement],
    *,
    label: str | None = None,
    marker: str = "o",
    line: str = "-",
    across: bool = False,
    **style: Any,
) -> None:
    """Draw means with error bars, their 95 % confidence intervals; a single run has no error bar.

    ``style``: more of matplotlib's ``errorbar``.
    """
    values, widths = [each.value for each in found], half_widths(found)
    bars: dict[str, Any] = {"xerr" if across else "yerr": widths if any(widths) else None}
    axes.errorbar(
        values if across else places,
        places if across else values,
        **bars,
        fmt=f"{marker}{line}",
        capsize=2,
        label=label,
        **{"markersize": 4, "elinewidth": 1, **style},
    )


def half_widths(found: Iterable[Measurement]) -> list[float]:
    """Of intervals that can be drawn: 0 for a single run, which has none."""
    return [0.0 if each.half_width == inf else each.half_width for each in found]


def legend_below(made: Figure, *, ncols: int = 6, size: float = 8) -> None:
    """One legend below all axes, with each label once, those of the paper at the end."""
    shown: dict[str, Any] = {}
    for axes in made.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            shown.setdefault(label, handle)
    labels = sorted(shown, key=lambda label: label.startswith(PAPER_LABEL))
    handles = [shown[label] for label in labels]
    made.legend(handles, labels, loc="outside lower center", ncols=ncols, fontsize=size)
