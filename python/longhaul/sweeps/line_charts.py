"""A metric of a sweep over one axis: a line for each combination of the others."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from longhaul.analysis.metric_text import metric_text
from longhaul.report.chart import Array, Axis, Chart, Panel, Series
from longhaul.report.colours import SERIES
from longhaul.report.scales import is_wide, scale
from longhaul.sweeps.wording import axis_text, unit_of_axis

Row = Mapping[str, Any]

MOST_LINES = len(SERIES)
_ROOM = 0.5
"""Of the way from one name to the next that its lines take."""
_INDEX_END = 1.05


def chosen_axis(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The axis that goes along: of those with numbers the one with most values, or else of all."""
    values = {column: {row[column] for row in rows} for column in columns}
    numbers = [
        column
        for column in columns
        if len(values[column]) > 2 and all(isinstance(each, int | float) for each in values[column])
    ]
    return max(numbers or columns, key=lambda column: len(values[column]))


def has_lines(rows: Sequence[Row], metric: str, columns: Sequence[str]) -> bool:
    """Whether :func:`line_chart` has a line for each combination of the other axes."""
    mine = [row for row in rows if row["metric"] == metric]
    along = chosen_axis(mine, columns)
    others = {tuple(row[column] for column in columns if column != along) for row in mine}
    return len(others) <= MOST_LINES


def line_chart(rows: Sequence[Row], metric: str, columns: Sequence[str], names: Sequence[str]) -> Chart:
    """Means of ``metric`` with their intervals; ``columns`` and ``names`` are those of the axes.

    Rows whose mean is ``None`` have their place on the axis, and no point. With more combinations than
    :data:`MOST_LINES` all are points of one colour.
    """
    mine = [row for row in rows if row["metric"] == metric]
    means = [row["mean"] for row in mine if row["mean"] is not None]
    name_of = dict(zip(columns, names, strict=True))
    along = chosen_axis(mine, columns)
    others = [column for column in columns if column != along]
    lines = _lines(mine, others)
    x_axis, places = _along(mine, along, name_of[along])
    y_factor, y_unit = scale(mine[0]["unit"], [abs(mean) for mean in means])
    is_joined = not x_axis.names and (len(lines) > 1 or not others)
    series = []
    for number, ((values, line), colour) in enumerate(zip(lines.items(), SERIES, strict=False)):
        # Names have room beside them, so that no interval hides another.
        aside = (number - (len(lines) - 1) / 2) * _ROOM / len(lines) if x_axis.names else 0.0
        ordered = line if x_axis.names else sorted(line, key=lambda row: row[along])
        # What has no mean comes last: it does not interrupt the line.
        ordered = sorted(ordered, key=lambda row: row["mean"] is None)
        name = ", ".join(map(axis_text, others, values))
        x = np.array([places[row[along]] + aside for row in ordered])
        series.append(
            _line(name or metric, colour, x, ordered, y_factor, is_joined=is_joined, listed=bool(name))
        )
    words = metric_text(metric)
    label = f"{words} [{y_unit}]" if y_unit else words
    is_index = mine[0]["unit"] == "index"
    low = 0.0 if is_index or min(means) >= 0 else None
    title = ", ".join(name_of[column] for column in others) if len(lines) > 1 else ""
    panel = Panel(title, x_axis, Axis(label, low=low, high=_INDEX_END if is_index else None), series)
    return Chart(metric, f"{metric} over {name_of[along]}", [(panel,)], height_in=3.4, legend="beside")


def _lines(rows: Sequence[Row], others: Sequence[str]) -> Mapping[tuple[Any, ...], Sequence[Row]]:
    """The rows of each combination of the other axes; all together where they are too many."""
    lines: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        lines.setdefault(tuple(row[column] for column in others), []).append(row)
    return lines if len(lines) <= MOST_LINES else {(): rows}


def _along(rows: Sequence[Row], along: str, name: str) -> tuple[Axis, Mapping[Any, float]]:
    """The axis that goes along, and where each of its values is on it."""
    values = list(dict.fromkeys(row[along] for row in rows))
    if not all(isinstance(each, int | float) for each in values):
        names = tuple(map(str, values))
        return Axis(name, names=names), {each: float(place) for place, each in enumerate(values)}
    unit = unit_of_axis(along)
    factor, shown = scale(unit, [abs(each) for each in values]) if unit else (1.0, "")
    label = f"{name} [{shown}]" if shown else name
    axis = Axis(label, is_logarithmic=is_wide(min(values), max(values)))
    return axis, {each: each / factor for each in values}


def _line(
    name: str, colour: str, x: Array, rows: Sequence[Row], factor: float, *, is_joined: bool, listed: bool
) -> Series:
    mean = np.array([nan if row["mean"] is None else row["mean"] / factor for row in rows])
    half = np.array([nan if row.get("half_width") is None else row["half_width"] / factor for row in rows])
    return Series(
        name,
        colour,
        x,
        mean,
        kind="discs",
        listed=listed,
        size=3.5,
        y_interval=(mean - half, mean + half),
        joined=is_joined,
    )
