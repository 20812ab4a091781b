"""Heat maps drawn with matplotlib: cells in shades of one colour, with their numbers, on any background."""

from math import isnan, log
from typing import Any

from longhaul.report.chart import LEAST_CELL_IN, Axis, Panel
from longhaul.report.colours import INK, LIGHT, MUTED, SERIES
from longhaul.report.mpl import Axes, Figure, patches, to_rgb

PAPER = "#ffffff"
SHADES = (
    *((share, PAPER) for share in (0.04, 0.11, 0.18, 0.26, 0.34, 0.42, 0.46, 0.94)),
    *((share, LIGHT[INK]) for share in (0.90, 0.76)),
)
"""How much of each is the colour of series, and what is the rest; those of ``web/src/charts/charts.css``."""
_DARK = 7
"""The first shade on which paper's colour is read better than ink's."""


def shade_of(value: float, axis: Axis) -> int:
    """The place in :data:`SHADES` of a value between the ends of ``axis``."""
    assert axis.low is not None
    assert axis.high is not None
    low, value, high = (log(each) if axis.is_logarithmic else each for each in (axis.low, value, axis.high))
    share = (value - low) / (high - low)
    return min(max(int(share * (len(SHADES) - 1) + 0.5), 0), len(SHADES) - 1)


def draw_cells(axes: Axes, panel: Panel) -> None:
    """A row for each series, from the top; a cell for each name of x."""
    columns, rows = len(panel.x.names), len(panel.series)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    inches = axes.get_position().width * axes.get_figure().get_figwidth()  # type: ignore[union-attr]
    for row, series in enumerate(panel.series):
        words = series.words or [""] * len(series.x)
        for x, value, text in zip(series.x.tolist(), series.y.tolist(), words, strict=True):
            if isnan(value):
                axes.add_patch(_empty(x, row))
                continue
            shade = shade_of(value, panel.y)
            colour = _mixed(*SHADES[shade])
            axes.add_patch(patches.Rectangle((x - 0.48, row - 0.46), 0.96, 0.92, facecolor=colour))
            if inches / columns >= LEAST_CELL_IN:
                ink = PAPER if shade >= _DARK else LIGHT[INK]
                axes.text(x, row, text, ha="center", va="center", color=ink, fontsize=7, linespacing=1.1)
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), title=panel.title)
    axes.set_xticks(range(columns), panel.x.names)
    axes.set_yticks(range(rows), [series.name for series in panel.series])


def _empty(x: float, row: int) -> Any:
    """A cell without a value."""
    look: dict[str, Any] = {"linestyle": (0, (2, 2)), "linewidth": 0.8}
    return patches.Rectangle((x - 0.48, row - 0.46), 0.96, 0.92, fill=False, edgecolor=MUTED, **look)


def draw_shades(made: Figure, axis: Axis) -> None:
    """What the shades mean, above all panels."""
    samples = [patches.Patch(color=_mixed(*each)) for each in SHADES]
    made.legend(
        handles=samples,
        labels=[""] * len(samples),
        title=f"{axis.label}: {axis.low:.3g} to {axis.high:.3g}",
        loc="outside upper center",
        ncols=len(samples),
        columnspacing=-0.6,
        handlelength=1.2,
    )


def _mixed(share: float, rest: str) -> tuple[float, float, float]:
    """``share`` of the colour of series, and the rest of another."""
    pairs = zip(to_rgb(LIGHT[SERIES[0]]), to_rgb(rest), strict=True)
    red, green, blue = (share * one + (1 - share) * other for one, other in pairs)
    return red, green, blue
