"""A metric of a sweep over two axes: one cell for each variant, with its mean and confidence interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10, nan
from typing import Any

import numpy as np

from longhaul.analysis.metric_text import metric_text
from longhaul.report.chart import LEAST_CELL_IN, Axis, Chart, Panel, Series
from longhaul.report.colours import INK
from longhaul.report.scales import is_wide, scale
from longhaul.sweeps.wording import axis_text

Row = Mapping[str, Any]

_LEAST_VALUES, _MOST_VALUES = 2, 30
_MOST_PANELS = 9
_LEAST_FILLED = 0.5
"""Share of the cells that have a variant: points drawn at random fill no map."""
_WIDTH_IN, _CELL_IN, _LABELS_IN = 8.6, 0.42, 1.6
_ROUNDING = 1e-9
"""Share of a mean that sums of floating-point numbers may differ by."""


@dataclass(frozen=True)
class Axes:
    """Which axes go along and down, and which make panels; columns of the summary."""

    along: str
    down: str | None
    """None: the map has one row."""
    panels: tuple[str, ...]


def map_axes(rows: Sequence[Row], columns: Sequence[str]) -> Axes | None:
    """The axes of a map of ``rows``, all of one metric; ``None`` where there is no map to draw.

    The two with most values go along and down, numbers rather along, the others make panels.
    """
    values = {column: {row[column] for row in rows} for column in columns}
    sizes = {column: len(each) for column, each in values.items()}
    wide = [column for column in columns if _LEAST_VALUES <= sizes[column] <= _MOST_VALUES]
    pair = sorted(wide, key=lambda column: -sizes[column])[:2]
    if not pair:
        return None
    numbers = [column for column in pair if all(isinstance(each, int | float) for each in values[column])]
    along = max(numbers or pair, key=lambda column: sizes[column])
    down = next((column for column in pair if column != along), None)
    panels = tuple(column for column in columns if column not in pair)
    count = len({tuple(row[column] for column in panels) for row in rows})
    cells = sizes[along] * (sizes[down] if down else 1) * count
    return Axes(along, down, panels) if len(rows) >= _LEAST_FILLED * cells and count <= _MOST_PANELS else None


def heat_map(
    rows: Sequence[Row], metric: str | None, columns: Sequence[str], names: Sequence[str]
) -> Chart | None:
    """``metric`` over two axes, panels for the others; ``None`` if :func:`map_axes` finds none.

    Cells of variants with fewer runs than others say how many. Those whose mean is ``None`` are empty, and
    say ``why``; all are before there is a metric.
    """
    mine = [row for row in rows if row["metric"] == metric]
    chosen = map_axes(mine, columns) if mine else None
    if chosen is None:
        return None
    name_of = dict(zip(columns, names, strict=True))
    along = _ordered(mine, chosen.along)
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in mine:
        groups.setdefault(tuple(row[column] for column in chosen.panels), []).append(row)
    measured = [row for row in mine if row["mean"] is not None]
    factor, unit = scale(mine[0]["unit"], [row["mean"] for row in measured]) if measured else (1.0, "")
    words = metric_text(metric) if metric else "results"
    x = Axis(name_of[chosen.along], names=tuple(axis_text(chosen.along, each) for each in along))
    y = _shades([row["mean"] / factor for row in measured], f"{words} [{unit}]" if unit else words)
    most_runs = max(map(_repeats, measured), default=0)
    panels = [
        Panel(
            ", ".join(
                f"{name_of[column]} {axis_text(column, value)}"
                for column, value in zip(chosen.panels, key, strict=True)
            ),
            x,
            y,
            [
                _cells(name, {along.index(row[chosen.along]): row for row in line}, factor, most_runs)
                for name, line in _table_rows(mine, group, chosen.down, words)
            ],
            rows_of=name_of[chosen.down] if chosen.down else "metric",
        )
        for key, group in groups.items()
    ]
    in_row = _panels_in_row(len(panels), len(along))
    tall = ceil(len(panels) / in_row)
    over = " and ".join(name_of[column] for column in (chosen.along, chosen.down) if column)
    return Chart(
        f"{metric or 'sweep'}-map",
        f"{metric or words} over {over}",
        [tuple(panels[place : place + in_row]) for place in range(0, len(panels), in_row)],
        height_in=tall * (0.75 + _CELL_IN * len(panels[0].series)) + 0.6,
        widths=(1.0,) * in_row,
    )


def _table_rows(
    every: Sequence[Row], group: Sequence[Row], down: str | None, words: str
) -> list[tuple[str, list[Row]]]:
    """The rows of the table of a group, by the values of the axis that goes down."""
    if down is None:
        return [(words, list(group))]
    return [
        (axis_text(down, value), [row for row in group if row[down] == value])
        for value in _ordered(every, down)
    ]


def _cells(name: str, cells: Mapping[int, Row], factor: float, most_runs: int) -> Series:
    """A row of the table: the cells by their columns."""
    x = np.array(sorted(cells), dtype=float)
    ordered = [cells[column] for column in sorted(cells)]
    mean = np.array([_number(row["mean"], factor) for row in ordered])
    half = np.array([_number(row.get("half_width"), factor) for row in ordered])
    words = [_cell_text(row, factor, most_runs) for row in ordered]
    return Series(name, INK, x, mean, kind="squares", y_interval=(mean - half, mean + half), words=words)


def _number(value: float | None, factor: float) -> float:
    return nan if value is None else value / factor


def _cell_text(row: Row, factor: float, most_runs: int) -> str:
    if row["mean"] is None:
        return str(row["why"])
    mean, half, repeats = row["mean"] / factor, row["half_width"], _repeats(row)
    lines = [number_text(mean)]
    if half is not None:
        lines.append(f"±{number_text(half / factor, like=mean)}")
    if repeats < most_runs:
        lines.append(f"{repeats} of {most_runs} runs")
    return "\n".join(lines)


def _repeats(row: Row) -> int:
    """How many runs a variant has; summaries of older versions count each by itself."""
    return int(row.get("repeats", row["runs"]))


def _ordered(rows: Sequence[Row], column: str) -> list[Any]:
    """Numbers from the least, words as they come."""
    values = list(dict.fromkeys(row[column] for row in rows))
    return sorted(values) if all(isinstance(each, int | float) for each in values) else values


def _shades(means: Sequence[float], label: str) -> Axis:
    """From the least to the most of all cells; no ends before there is one."""
    if not means:
        return Axis(label)
    least, most = min(means), max(means)
    high = most if most > least else least + (abs(least) or 1.0)
    return Axis(label, is_logarithmic=is_wide(least, most), low=least, high=high)


def _panels_in_row(panels: int, columns: int) -> int:
    """As many as leave room for the cells' texts; one if there is never room, three at most."""
    room = [count for count in (3, 2) if (_WIDTH_IN - _LABELS_IN) / count / columns >= LEAST_CELL_IN]
    return min(panels, room[0] if room else 1)


def number_text(value: float, *, like: float | None = None) -> str:
    """Three digits; with ``like``, as many places as that number has, and one digit at least.

    What is within the rounding of ``like`` is 0.
    """
    of = abs(value if like is None else like)
    if like is not None and abs(value) <= _ROUNDING * of:
        return "0"
    places = max(2 - int(log10(of) // 1), 0) if of else 0
    if like is not None and value and abs(value) < 10**-places:
        return f"{value:.1g}"
    return f"{value:.{min(places, 6)}f}"
