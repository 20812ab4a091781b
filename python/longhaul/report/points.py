"""The data of a figure as tidy rows: one for each point, with interval, names and units."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from longhaul.report.mpl import (
    Axes,
    Axis,
    BarContainer,
    ErrorbarContainer,
    Figure,
    FixedLocator,
    Line2D,
    PathCollection,
    PolyCollection,
    to_rgb,
)
from longhaul.report.plotting import Point, bounds_of, is_mark, points_of_axes

Coordinate = float | str
Array = np.ndarray[Any, Any]

HEADER = (
    *("panel", "series", "x", "x_name", "x_unit", "y", "y_name", "y_unit"),
    *("lower", "upper", "x_lower", "x_upper"),
)
_LABEL = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\]]*)\]\s*")
_NUMBER = re.compile(r"[-+0-9.,e\u2212 ]*")
_MADE_UP = re.compile(r"_(child\d+|nolegend_|)")
"""Labels that matplotlib gives where we give none."""


@dataclass(frozen=True)
class Row:
    """A point of a figure in the units of its axes; words where an axis has names instead of numbers."""

    panel: str
    series: str
    x: Coordinate | None
    x_name: str
    x_unit: str
    y: Coordinate | None
    y_name: str
    y_unit: str
    lower: float | None = None
    """Of the interval of y, as drawn."""
    upper: float | None = None
    x_lower: float | None = None
    x_upper: float | None = None

    def cells(self) -> list[Coordinate | None]:
        """In the order of :data:`HEADER`."""
        return [getattr(self, name) for name in HEADER]


def unlisted(name: str) -> str:
    """The label of something that has this name, but no place in the legend."""
    return f"_{name}"


def rows_of(figure: Figure) -> Iterator[Row]:
    """Every point of a figure."""
    named = _names_by_colour(figure)
    x_labels = [figure.get_supxlabel(), *(axes.get_xlabel() for axes in figure.axes)]
    y_labels = [figure.get_supylabel(), *(axes.get_ylabel() for axes in figure.axes)]
    for number, axes in enumerate(figure.axes, start=1):
        x_name, x_unit = _name_and_unit(axes.get_xlabel() or next(filter(None, x_labels), ""))
        y_name, y_unit = _name_and_unit(axes.get_ylabel() or next(filter(None, y_labels), ""))
        panel = axes.get_title("left") or axes.get_title() or (str(number) if len(figure.axes) > 1 else "")
        blank = Row(panel, "", None, x_name, x_unit, None, y_name, y_unit)
        for point in points_of_axes(axes):
            yield _told(blank, point)
        for row in _drawn(axes, blank, named):
            x, y = _word(axes.xaxis, row.x), _word(axes.yaxis, row.y)
            yield replace(
                row,
                x=x,
                y=y,
                x_name=row.x_name or ("name" if isinstance(x, str) else ""),
                y_name=row.y_name or ("name" if isinstance(y, str) else ""),
            )


def _told(blank: Row, point: Point) -> Row:
    name, unit = _name_and_unit(point.y_is)
    return replace(
        blank,
        series=point.series,
        x=point.x,
        y=point.y,
        y_name=name,
        y_unit=unit,
        lower=point.lower,
        upper=point.upper,
    )


def _drawn(axes: Axes, blank: Row, named: dict[Any, str]) -> Iterator[Row]:
    """Lines, clouds, bars and bands, as they are placed on the axes."""
    taken: set[int] = set()
    bars = [each for each in axes.containers if isinstance(each, BarContainer)]
    for bar in bars:
        if bar.errorbar is not None:
            taken |= _artists(bar.errorbar)
        yield from _of_bars(bar, replace(blank, series=_series(bar, bar.patches[0], named, blank)))
    for container in axes.containers:
        if isinstance(container, ErrorbarContainer) and not _artists(container) <= taken:
            taken |= _artists(container)
            yield from _of_errorbar(container, replace(blank, series=_error_name(container, named, blank)))
    bands = [each for each in axes.collections if isinstance(each, PolyCollection)]
    shown = [line for line in axes.get_lines() if id(line) not in taken and not is_mark(line)]
    for line in shown:
        # Lines over the whole panel mark a value; they are not data.
        if line.get_transform() == axes.transData:
            band = next((each for each in bands if _colour(each) == _colour(line)), None)
            bounds = _bounds(band) if band is not None else {}
            if band is not None:
                bands.remove(band)
            row = replace(blank, series=_series(line, line, named, blank))
            for x, y in np.asarray(line.get_xydata(), dtype=float).tolist():
                low, high = bounds.get(x, (None, None))
                if not np.isnan(y):
                    yield replace(row, x=x, y=y, lower=low, upper=high)
    for line in shown:
        # What stands at the foot of a panel, such as losses, has a time alone.
        if line.get_transform() == axes.get_xaxis_transform() and line.get_marker() not in ("", "None", None):
            row = replace(blank, series=_series(line, line, named, blank))
            yield from (replace(row, x=float(x)) for x in np.asarray(line.get_xdata(), dtype=float))
    for band in bands:
        row = replace(blank, series=_series(band, band, named, blank))
        for x, (low, high) in _bounds(band).items():
            yield replace(row, x=x, lower=low, upper=high)
    for cloud in axes.collections:
        if isinstance(cloud, PathCollection):
            row = replace(blank, series=_series(cloud, cloud, named, blank))
            for x, y in np.asarray(cloud.get_offsets(), dtype=float).tolist():
                yield replace(row, x=x, y=y)


def _of_bars(bars: BarContainer, row: Row) -> Iterator[Row]:
    """A bar at its end; one that does not begin at 0 lasts from its begin to its end."""
    lies = bars.orientation == "horizontal"
    intervals = _intervals(bars.errorbar, along_x=lies) if bars.errorbar is not None else []
    for place, bar in enumerate(bars.patches):
        low, high = intervals[place] if place < len(intervals) else (None, None)
        if not lies:
            middle, end = bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height()
            yield replace(row, x=middle, y=end, lower=low, upper=high)
            continue
        begin, end = bar.get_x(), bar.get_x() + bar.get_width()
        if begin != 0:
            low, high = begin, end
        yield replace(row, x=end, y=bar.get_y() + bar.get_height() / 2, x_lower=low, x_upper=high)


def _of_errorbar(container: ErrorbarContainer, row: Row) -> Iterator[Row]:
    data, _caps, _lines = container.lines
    across = _intervals(container, along_x=True) if container.has_xerr else []
    along = _intervals(container, along_x=False) if container.has_yerr else []
    for place, (x, y) in enumerate(np.asarray(data.get_xydata(), dtype=float).tolist() if data else ()):
        low, high = along[place] if place < len(along) else (None, None)
        left, right = across[place] if place < len(across) else (None, None)
        yield replace(row, x=x, y=_known(y), lower=low, upper=high, x_lower=left, x_upper=right)


def _intervals(container: ErrorbarContainer, *, along_x: bool) -> list[tuple[float | None, float | None]]:
    """From where to where each bar of an error bar goes; those along x come before those along y."""
    lines = container.lines[2]
    which = 0 if along_x or not container.has_xerr else 1
    found = []
    for segment in lines[which].get_segments():
        corners = np.asarray(segment, dtype=float).reshape(-1, 2)
        ends = corners[:, 0 if along_x else 1] if len(corners) else np.array([np.nan])
        found.append((_known(float(ends.min())), _known(float(ends.max()))))
    return found


def _bounds(band: PolyCollection) -> Mapping[float, tuple[float, float]]:
    """Least and most of a band at each x."""
    if (bounds := bounds_of(band)) is not None:
        return bounds
    found: dict[float, tuple[float, float]] = {}
    for path in band.get_paths():
        for x, y in np.asarray(path.vertices, dtype=float).tolist():
            low, high = found.get(x, (y, y))
            found[x] = min(low, y), max(high, y)
    return found


def _artists(container: ErrorbarContainer) -> set[int]:
    data, caps, _bars = container.lines
    return {id(each) for each in (data, *caps) if each is not None}


def _error_name(container: ErrorbarContainer, named: dict[Any, str], blank: Row) -> str:
    data = container.lines[0]
    return _series(container, data if data is not None else container, named, blank)


def _series(labelled: Any, coloured: Any, named: dict[Any, str], blank: Row) -> str:
    """What the legend says; else the name that its colour has elsewhere; else what its axis is about."""
    label = str(labelled.get_label())
    if not _MADE_UP.fullmatch(label):
        return label.removeprefix("_")
    return named.get(_colour(coloured)) or blank.y_name or blank.panel


def _names_by_colour(figure: Figure) -> dict[Any, str]:
    found: dict[Any, str] = {}
    for axes in figure.axes:
        handles: Sequence[Any] = [*axes.get_lines(), *axes.collections]
        for each in handles:
            label = str(each.get_label())
            if not label.startswith("_"):
                found.setdefault(_colour(each), label)
    for legend in figure.legends:
        for handle in legend.legend_handles:
            if isinstance(handle, Line2D):
                found.setdefault(_colour(handle), str(handle.get_label()))
    return found


def _colour(artist: Any) -> tuple[float, ...] | None:
    for ask in ("get_color", "get_facecolor"):
        if hasattr(artist, ask):
            colour = getattr(artist, ask)()
            shown = colour if isinstance(colour, str) or len(np.shape(colour)) == 1 else colour[0]
            return tuple(np.round(to_rgb(shown), 4).tolist()) if len(colour) else None
    return None


def _word(axis: Axis, value: Coordinate | None) -> Coordinate | None:
    """The name that stands at a number, on an axis that has names at 0, 1, 2 ..."""
    locator = axis.get_major_locator()
    if not isinstance(value, float) or not isinstance(locator, FixedLocator):
        return value
    places = [float(each) for each in axis.get_majorticklocs()]
    nearest = round(value)
    if places != list(range(len(places))) or not 0 <= nearest < len(places):
        return value
    name = str(axis.get_major_formatter()(nearest, nearest))
    return value if _NUMBER.fullmatch(name) else name


def _name_and_unit(label: str) -> tuple[str, str]:
    """``delivered [Mbit/s]`` in its two parts."""
    found = _LABEL.fullmatch(label)
    return (found["name"], found["unit"]) if found else (label, "")


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
