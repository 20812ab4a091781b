"""The figures of a sweep: each metric over one axis, one line for each combination of the others."""

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

from longhaul.analysis.metric_text import metric_text
from longhaul.report.colours import MUTED, SERIES
from longhaul.report.plotting import figure, plain, style, svg
from longhaul.report.points import unlisted
from longhaul.report.scales import is_wide, scale
from longhaul.sweeps.wording import axis_text

Row = Mapping[str, Any]

MOST_LINES = len(SERIES)
_ROOM = 0.5
"""Of the way from one name to the next that its lines take."""


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
    """Whether :func:`metric_figure` has a line for each combination of the other axes."""
    mine = [row for row in rows if row["metric"] == metric]
    along = chosen_axis(mine, columns)
    others = {tuple(row[column] for column in columns if column != along) for row in mine}
    return len(others) <= MOST_LINES


def metric_figure(rows: Sequence[Row], metric: str, columns: Sequence[str], names: Sequence[str]) -> str:
    """Means of ``metric`` with their intervals; ``columns`` and ``names`` are those of the axes.

    With more combinations than :data:`MOST_LINES` all are points of one colour.
    """
    mine = [row for row in rows if row["metric"] == metric]
    along = chosen_axis(mine, columns)
    others = [column for column in columns if column != along]
    lines: dict[tuple[Any, ...], list[Row]] = {}
    for row in mine:
        lines.setdefault(tuple(row[column] for column in others), []).append(row)
    if len(lines) > MOST_LINES:
        lines = {(): mine}
    is_joined = (len(lines) == 1 and not others) or len(lines) > 1
    is_number = all(isinstance(row[along], int | float) for row in mine)
    ticks = list(dict.fromkeys(row[along] for row in mine))
    unit = _unit_of(along) if is_number else None
    x_factor, x_unit = scale(unit, [abs(tick) for tick in ticks]) if unit else (1.0, "")
    y_factor, y_unit = scale(mine[0]["unit"], [abs(row["mean"]) for row in mine])
    with style():
        made = figure(3.4)
        axes = made.subplots()
        plain(axes)
        for number, ((values, line), colour) in enumerate(zip(lines.items(), SERIES, strict=False)):
            # Names have room beside them, so that no interval hides another.
            aside = (number - (len(lines) - 1) / 2) * _ROOM / len(lines)
            ordered = sorted(line, key=lambda row: row[along]) if is_number else line
            axes.errorbar(
                [row[along] / x_factor if is_number else ticks.index(row[along]) + aside for row in ordered],
                [row["mean"] / y_factor for row in ordered],
                yerr=[nan if row["half_width"] is None else row["half_width"] / y_factor for row in ordered],
                color=colour,
                marker="o",
                markersize=3.5,
                capsize=2.5,
                elinewidth=0.9,
                linestyle="-" if is_number and is_joined else "",
                label=", ".join(map(axis_text, others, values)) or unlisted(metric),
            )
        name = names[list(columns).index(along)]
        axes.set(xlabel=f"{name} [{x_unit}]" if x_unit else name)
        words = metric_text(metric)
        axes.set(ylabel=f"{words} [{y_unit}]" if y_unit else words)
        if is_number and is_wide(min(ticks), max(ticks)):
            axes.set_xscale("log")
        elif not is_number:
            axes.set_xticks(range(len(ticks)), [str(tick) for tick in ticks], color=MUTED)
        if mine[0]["unit"] == "index":
            axes.set_ylim(0, 1.05)
        elif min(row["mean"] for row in mine) >= 0:
            axes.set_ylim(bottom=0)
        if len(lines) > 1:
            title = ", ".join(names[list(columns).index(column)] for column in others)
            axes.legend(title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return svg(made, metric, f"{metric} over {name}")


def _unit_of(column: str) -> str | None:
    endings = {"_ns": "ns", "_bits_per_s": "bit/s", "_bytes": "bytes", "_share": "share"}
    return next((unit for ending, unit in endings.items() if column.endswith(ending)), None)
