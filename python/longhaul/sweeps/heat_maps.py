"""A metric of a sweep over two axes: one cell for each variant, with its mean and confidence interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, log10
from typing import Any

from longhaul.analysis.metric_text import metric_text
from longhaul.report.colours import INK, MUTED
from longhaul.report.mpl import LogNorm, Normalize, cm, colormaps, patches
from longhaul.report.plotting import Point, figure, plain, set_points, style, svg
from longhaul.report.scales import is_wide, scale
from longhaul.sweeps.wording import axis_text

Row = Mapping[str, Any]

LEAST_VALUES = 3
"""Of both axes; with fewer, lines say the same with less."""
_MOST_VALUES = 30
_MOST_PANELS = 9
_LEAST_FILLED = 0.5
"""Share of the cells that have a variant: points drawn at random fill no map."""
_COLOURS = "cividis"
"""The same by day and by night, and to those who see no red."""
_WIDTH_IN, _CELL_IN, _LABELS_IN = 8.6, 0.42, 1.6
_LEAST_CELL_IN = 0.62
"""Width that a mean with its interval needs."""


@dataclass(frozen=True)
class Axes:
    """Which axes go along and up, and which make panels; columns of the summary."""

    along: str
    up: str
    panels: tuple[str, ...]


def map_axes(rows: Sequence[Row], columns: Sequence[str]) -> Axes | None:
    """The axes of a map of ``rows``, all of one metric; ``None`` where there is no map to draw.

    The two with most values go along and up, numbers rather along, the others make panels.
    """
    values = {column: {row[column] for row in rows} for column in columns}
    sizes = {column: len(each) for column, each in values.items()}
    wide = [column for column in columns if LEAST_VALUES <= sizes[column] <= _MOST_VALUES]
    if len(wide) < 2:
        return None
    pair = sorted(wide, key=lambda column: -sizes[column])[:2]
    numbers = [column for column in pair if all(isinstance(each, int | float) for each in values[column])]
    along = max(numbers or pair, key=lambda column: sizes[column])
    up = next(column for column in pair if column != along)
    panels = tuple(column for column in columns if column not in pair)
    count = len({tuple(row[column] for column in panels) for row in rows})
    is_filled = len(rows) >= _LEAST_FILLED * sizes[along] * sizes[up] * count
    return Axes(along, up, panels) if is_filled and count <= _MOST_PANELS else None


def heat_map(rows: Sequence[Row], metric: str, columns: Sequence[str], names: Sequence[str]) -> str | None:
    """``metric`` over two axes, panels for the others; ``None`` if :func:`map_axes` finds none.

    Hatched: variants without a run, and those with fewer runs than others, which say how many.
    """
    mine = [row for row in rows if row["metric"] == metric and row["mean"] is not None]
    chosen = map_axes(mine, columns) if mine else None
    if chosen is None:
        return None
    name_of = dict(zip(columns, names, strict=True))
    along, up = _ordered(mine, chosen.along), _ordered(mine, chosen.up)
    if isinstance(up[0], str):
        up = up[::-1]
    groups: dict[tuple[Any, ...], dict[tuple[Any, Any], Row]] = {}
    for row in mine:
        key = tuple(row[column] for column in chosen.panels)
        groups.setdefault(key, {})[row[chosen.along], row[chosen.up]] = row
    factor, unit = scale(mine[0]["unit"], [row["mean"] for row in mine])
    words = metric_text(metric)
    label = f"{words} [{unit}]" if unit else words
    norm = _norm([row["mean"] / factor for row in mine])
    most_runs = max(_repeats(row) for row in mine)
    in_row = _panels_in_row(len(groups), len(along))
    tall = ceil(len(groups) / in_row)
    with style():
        made = figure(tall * (0.75 + _CELL_IN * len(up)) + 0.35)
        grid = made.subplots(tall, in_row, squeeze=False, sharex=True, sharey=True)
        cell_in = (_WIDTH_IN - _LABELS_IN) / in_row / len(along)
        for number, (key, cells) in enumerate(groups.items()):
            axes = grid.flat[number]
            plain(axes)
            axes.grid(visible=False)
            for spine in axes.spines.values():
                spine.set_visible(False)
            axes.tick_params(length=0)
            texts = cell_in >= _LEAST_CELL_IN
            for (x, along_value), (y, up_value) in product(enumerate(along), enumerate(up)):
                _cell(axes, (x, y), cells.get((along_value, up_value)), norm, factor, most_runs, texts=texts)
            axes.set_xlim(-0.5, len(along) - 0.5)
            axes.set_ylim(-0.5, len(up) - 0.5)
            axes.set_xticks(range(len(along)), [axis_text(chosen.along, each) for each in along])
            axes.set_yticks(range(len(up)), [axis_text(chosen.up, each) for each in up])
            axes.set_title(", ".join(_named(chosen.panels, key, name_of)))
            if number >= len(groups) - in_row:
                axes.set_xlabel(name_of[chosen.along])
                axes.tick_params(labelbottom=True)
            if number % in_row == 0:
                axes.set_ylabel(name_of[chosen.up])
            set_points(axes, _points(cells, (chosen.along, chosen.up), name_of[chosen.up], factor, label))
        for unused in list(grid.flat)[len(groups) :]:
            unused.set_visible(False)
        _legend(made, grid, norm, label)
        return svg(made, f"{metric}-map", f"{metric} over {name_of[chosen.along]} and {name_of[chosen.up]}")


def _repeats(row: Row) -> int:
    """How many runs a variant has; summaries of older versions count each by itself."""
    return int(row.get("repeats", row["runs"]))


def _ordered(rows: Sequence[Row], column: str) -> list[Any]:
    """Numbers from the least, words as they come."""
    values = list(dict.fromkeys(row[column] for row in rows))
    return sorted(values) if all(isinstance(each, int | float) for each in values) else values


def _norm(means: Sequence[float]) -> Normalize:
    least, most = min(means), max(means)
    if is_wide(least, most):
        return LogNorm(least, most)
    return Normalize(least, most if most > least else least + (abs(least) or 1.0))


def _panels_in_row(panels: int, columns: int) -> int:
    """As many as leave room for the cells' texts; one if there is never room, three at most."""
    room = [count for count in (3, 2) if (_WIDTH_IN - _LABELS_IN) / count / columns >= _LEAST_CELL_IN]
    return min(panels, room[0] if room else 1)


def _cell(
    axes: Any,
    place: tuple[int, int],
    row: Row | None,
    norm: Normalize,
    factor: float,
    most_runs: int,
    *,
    texts: bool,
) -> None:
    x, y = place
    corner, size = (x - 0.48, y - 0.46), (0.96, 0.92)
    if row is None:
        axes.add_patch(
            patches.Rectangle(corner, *size, facecolor="none", edgecolor=MUTED, hatch="////", linewidth=0.5)
        )
        return
    mean = row["mean"] / factor
    red, green, blue, _ = colour = colormaps[_COLOURS](norm(mean))
    ink = "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"
    few = _repeats(row) < most_runs
    axes.add_patch(
        patches.Rectangle(
            corner,
            *size,
            facecolor=colour,
            edgecolor=ink if few else "none",
            hatch="////" if few else None,
            linewidth=0,
        )
    )
    if not texts:
        return
    half = row["half_width"]
    lines = [number_text(mean)]
    if half is not None:
        lines.append(f"±{number_text(half / factor, like=mean)}")
    if few:
        lines.append(f"{_repeats(row)} of {most_runs} runs")
    box = {"facecolor": colour, "edgecolor": "none", "pad": 1.0} if few else None
    axes.text(
        x, y, "\n".join(lines), ha="center", va="center", color=ink, fontsize=7, linespacing=1.1, bbox=box
    )


def number_text(value: float, *, like: float | None = None) -> str:
    """Three digits; with ``like``, as many places as that number has, and one digit at least."""
    of = abs(value if like is None else like)
    places = max(2 - int(log10(of) // 1), 0) if of else 0
    if like is not None and value and abs(value) < 10**-places:
        return f"{value:.1g}"
    return f"{value:.{min(places, 6)}f}"


def _named(columns: Sequence[str], key: Sequence[Any], names: Mapping[str, str]) -> list[str]:
    return [f"{names[column]} {axis_text(column, value)}" for column, value in zip(columns, key, strict=True)]


def _points(
    cells: Mapping[tuple[Any, Any], Row], columns: tuple[str, str], name: str, factor: float, label: str
) -> list[Point]:
    """Of each cell its mean and the ends of its interval, for those who want the numbers."""
    found = []
    for (along, up), row in cells.items():
        series, x = f"{name} {axis_text(columns[1], up)}", axis_text(columns[0], along)
        mean, half = row["mean"], row["half_width"]
        bounds = (None, None) if half is None else ((mean - half) / factor, (mean + half) / factor)
        found.append(Point(series, x, mean / factor, label, *bounds))
    return found


def _legend(made: Any, grid: Any, norm: Normalize, label: str) -> None:
    """A bar of the colours, for eyes that look before they read."""
    colours = cm.ScalarMappable(norm=norm, cmap=_COLOURS)
    bar = made.colorbar(colours, ax=grid, fraction=0.03, pad=0.015, aspect=30)
    bar.set_label(label, color=INK)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()
