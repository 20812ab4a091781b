"""The data of a chart as tidy rows: one for each point, with interval, names and units."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Chart, Panel, Series

Coordinate = float | str
Array = np.ndarray[Any, Any]

HEADER = (
    *("panel", "series", "x", "x_name", "x_unit", "y", "y_name", "y_unit"),
    *("lower", "upper", "x_lower", "x_upper"),
)
"""Of files of points; ``web/src/charts/export.ts`` writes the same."""
_LABEL = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\]]*)\]\s*")


@dataclass(frozen=True)
class Row:
    """A point of a chart in the units of its axes; words where an axis has names instead of numbers."""

    panel: str
    series: str
    x: Coordinate
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


def rows_of(chart: Chart) -> Iterator[Row]:
    """Every point of a chart that has a value, and what is at the foot of its panels, with its x alone."""
    for panel in chart.panels:
        for series in panel.series:
            yield from _points(panel, series)
        for foot in panel.feet:
            yield from (_row(panel, foot.name, float(x), None) for x in foot.x)


def _row(panel: Panel, name: str, x: float, y: float | None, **ends: float | None) -> Row:
    x_name, x_unit = _name_and_unit(panel.x)
    y_name, y_unit = _name_and_unit(panel.y)
    place = None if y is None else _word(panel.y, y)
    return Row(panel.title, name, _word(panel.x, x), x_name, x_unit, place, y_name, y_unit, **ends)


def _points(panel: Panel, series: Series) -> Iterator[Row]:
    """A bar from 0 at its end; another one, and a stroke, where it begins, with both ends."""
    is_span = series.to_x is not None and (series.kind != "bars" or bool(np.any(series.x != 0)))
    x = series.x if is_span or series.to_x is None else series.to_x
    left, right = (series.x, series.to_x) if is_span else series.x_interval or (None, None)
    low, high = (series.low, series.y) if series.low is not None else series.y_interval or (None, None)
    for at, y in enumerate(series.y):
        if not isnan(y):
            yield _row(
                panel,
                series.name,
                float(x[at]),
                None if series.low is not None else float(y),
                lower=_known(low, at),
                upper=_known(high, at),
                x_lower=_known(left, at),
                x_upper=_known(right, at),
            )


def _known(values: Array | None, at: int) -> float | None:
    return None if values is None or isnan(values[at]) else float(values[at])


def _word(axis: Axis, value: float) -> Coordinate:
    """The name that stands at a number, on an axis that has names at 0, 1, 2 ..."""
    place = int(value + 0.5)
    return axis.names[place] if 0 <= place < len(axis.names) else value


def _name_and_unit(axis: Axis) -> tuple[str, str]:
    """``delivered [Mbit/s]`` in its two parts."""
    found = _LABEL.fullmatch(axis.label)
    return (found["name"], found["unit"]) if found else (axis.label or ("name" if axis.names else ""), "")
