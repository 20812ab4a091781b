"""Charts drawn with matplotlib: for files, notebooks and papers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.report.chart import Chart, Key, Level, Panel, Series
from longhaul.report.colours import DASHES, INK, MUTED
from longhaul.report.heat_map_drawing import draw_cells, draw_shades
from longhaul.report.mpl import Axes, Figure, Line2D, settings
from longhaul.report.plotting import anywhere, figure, mark, plain, style, svg

Array = np.ndarray[Any, Any]

_DASHED, _DOTTED = (0, (4, 3)), (0, (1, 2))
_DOTS_PER_INCH = 200
_STEPS = {"line": "default", "steps-before": "steps-pre", "steps-after": "steps-post"}
_SIGNS: Mapping[str, Mapping[str, Any]] = {
    "dots": {"marker": "."},
    "discs": {"marker": "o"},
    "squares": {"marker": "s"},
    "crosses": {"marker": "x"},
    "circles": {"marker": "o", "fillstyle": "none"},
}
_COLUMNS, _ROWS = 700, 240
"""Places that a panel of strokes tells apart."""


def draw_svg(chart: Chart) -> str:
    """The chart as an ``<svg>`` that needs no page, in colours that can be seen in both themes."""
    with anywhere(), style():
        return svg(_draw(chart), chart.name, chart.title)


def save(chart: Chart, path: Path) -> None:
    """Write the chart into a file: SVG, PDF or PNG by its name, in the colours of the light theme."""
    metadata = {
        "svg": {"Title": chart.title, "Date": None},
        "pdf": {"Title": chart.title, "CreationDate": None},
    }
    with style(), settings({"pdf.fonttype": 42, "svg.hashsalt": path.stem}):
        _draw(chart).savefig(path, dpi=_DOTS_PER_INCH, metadata=metadata.get(path.suffix[1:]))


def draw_series(axes: Axes, series: Series) -> None:
    """Draw ``series`` in the units of ``axes``."""
    label = series.name if series.listed else ""
    look: dict[str, Any] = {"color": series.colour, "alpha": series.opacity, "label": label}
    if series.kind == "area":
        del look["color"]
        low = series.low if series.low is not None else np.zeros_like(series.y)
        look |= {"facecolor": series.colour, "linewidth": 0}
        axes.fill_between(series.x, low, series.y, step="post", **look)
    elif series.kind == "bars":
        _draw_bars(axes, series, look)
    elif series.kind == "strokes":
        _draw_strokes(axes, series, look)
    elif series.kind in _SIGNS:
        line = {"linestyle": _dashes(series), "linewidth": 1.1} if series.joined else {"linestyle": "None"}
        sign: Any = {"markersize": series.size, **_SIGNS[series.kind], **line, **look}
        across, up = _spread(series.x, series.x_interval), _spread(series.y, series.y_interval)
        axes.errorbar(series.x, series.y, xerr=across, yerr=up, capsize=2.5, elinewidth=1.1, **sign)
    else:
        drawstyle: Any = _STEPS.get(series.kind, "default")
        line = {"linestyle": _dashes(series), "linewidth": series.size}
        axes.plot(series.x, series.y, drawstyle=drawstyle, **line, **look)


def _dashes(of: Series | Key) -> Any:
    own = DASHES.get(of.colour)
    return _DASHED if of.dashed else (0, own) if own else "solid"


def _spread(middle: Array, interval: tuple[Array, Array] | None) -> list[Array] | None:
    """How far the ends of an interval are from its middle."""
    return None if interval is None else [middle - interval[0], interval[1] - middle]


def _draw(chart: Chart) -> Figure:
    rows, widths = _with_parts(chart)
    made = figure(chart.height_in, width_in=chart.width_in)
    ratios: dict[str, Any] = {"height_ratios": chart.heights} if chart.heights else {}
    share: Any = "col" if _share_x(rows) else False
    grid = made.subplots(len(rows), len(widths), squeeze=False, width_ratios=widths, sharex=share, **ratios)
    if rows[0][0].rows_of and rows[0][0].y.low is not None:
        draw_shades(made, rows[0][0].y)
    for axes_of_row, row in zip(grid, rows, strict=True):
        for unused in axes_of_row[len(row) :]:
            unused.set_visible(False)
        for axes, panel in zip(axes_of_row, row, strict=False):
            _draw_panel(axes, panel)
            if chart.legend == "inside" and axes.get_legend_handles_labels()[0]:
                axes.legend(loc="best")
            elif chart.legend == "beside":
                handles, labels = _in_legend(axes, panel)
                axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for axes_of_column, panels in zip(grid.T, _columns(rows), strict=True):
        _label(axes_of_column, panels)
    if chart.legend == "above":
        handles, labels = _in_legend(grid[0][0], rows[0][0])
        columns = 6 if len(widths) > 1 else 2 if rows[0][0].levels else 3
        place: Any = "outside upper left" if len(widths) > 1 else "outside upper center"
        made.legend(handles, labels, loc=place, ncols=columns, columnspacing=1.2, handlelength=1.4)
    if chart.key:
        handles = [_sample(each) for each in chart.key]
        made.legend(
            handles=handles, loc="outside upper center", ncols=min(len(handles), 9), columnspacing=1.2
        )
    if chart.note:
        made.suptitle(chart.note, x=0.01, ha="left", fontsize=8.5, color=MUTED)
    return made


def _with_parts(chart: Chart) -> tuple[Sequence[Sequence[Panel]], tuple[float, ...]]:
    """Rows of panels, where each that has a part is followed by a panel of it."""
    if not any(panel.part for panel in chart.panels):
        return chart.rows, chart.widths
    return [(panel, panel) for row in chart.rows for panel in row], (3, 2)


def _share_x(rows: Sequence[Sequence[Panel]]) -> bool:
    """Whether the panels of each column show the same stretch."""
    return not any(panel.part for row in rows for panel in row) and all(
        len({panel.x for panel in column}) == 1 for column in _columns(rows)
    )


def _columns(rows: Sequence[Sequence[Panel]]) -> list[list[Panel]]:
    """The panels of each column; the last row may be shorter than others."""
    return [[row[place] for row in rows if place < len(row)] for place in range(len(rows[0]))]


def _sample(key: Key) -> Line2D:
    """For the legend."""
    if key.kind in _SIGNS:
        return Line2D([], [], color=key.colour, label=key.name, linestyle="", **_SIGNS[key.kind])
    return Line2D([], [], color=key.colour, label=key.name, linestyle=_dashes(key))


def _draw_panel(axes: Axes, panel: Panel) -> None:
    plain(axes)
    if panel.rows_of:
        draw_cells(axes, panel)
        return
    part = panel.part
    # Of two panels that show the same, the second is that of the part.
    is_close = part is not None and axes.get_subplotspec().colspan.start % 2 == 1  # type: ignore[union-attr]
    for series in panel.series:
        draw_series(axes, _seen(series, (part.begin, part.end)) if is_close and part else series)
    for level in panel.levels:
        _draw_level(axes, level)
    for foot in panel.feet:
        across: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        zeros = np.zeros(len(foot.x))
        axes.plot(foot.x, zeros, "x", color=foot.colour, markersize=4, label=foot.name, **across)
    _set_limits(axes, panel)
    if part is not None:
        _show_part(axes, panel, is_close=is_close)
    else:
        axes.set_title(panel.title)
    for each in panel.marks:
        mark(axes, each)


def _set_limits(axes: Axes, panel: Panel) -> None:
    for axis, name in ((panel.x, "x"), (panel.y, "y")):
        if axis.is_logarithmic:
            axes.set(**{f"{name}scale": "log"})
        if axis.low is not None or axis.high is not None:
            axes.set(**{f"{name}lim": (axis.low, axis.high)})
    if panel.x.names:
        axes.set_xticks(range(len(panel.x.names)), panel.x.names)
        axes.set_xlim(-0.5, len(panel.x.names) - 0.5)
    if panel.y.names:
        axes.grid(visible=False, axis="y")
        axes.set_yticks(range(len(panel.y.names)), panel.y.names)
        axes.set_ylim(len(panel.y.names) - 0.4, -0.6)


def _show_part(axes: Axes, panel: Panel, *, is_close: bool) -> None:
    """Limits and title of the whole and of its part, as high as what they show of the data."""
    part = panel.part
    assert part is not None
    reach = [series.x for series in panel.series] + [
        each.to_x for each in panel.series if each.to_x is not None
    ]
    x = np.concatenate(reach)
    begin, end = (part.begin, part.end) if is_close else (float(x.min()), float(x.max()))
    axes.set_title(part.name if is_close else panel.title)
    axes.set_xlim(begin, end)
    if not is_close:
        axes.axvspan(part.begin, part.end, color=MUTED, alpha=0.15, linewidth=0)
    heights = [np.zeros(0)]
    for series in panel.series:
        if series.name not in panel.ignored:
            inside = (series.x >= begin) & (series.x <= end)
            heights += [series.y[inside], *([series.low[inside]] if series.low is not None else ())]
    y = np.concatenate(heights)
    low, high = (float(y.min()), float(y.max())) if len(y) else (0.0, 1.0)
    axes.set_ylim(low - 0.05 * (high - low), high + 0.25 * (high - low))


def _seen(series: Series, span: tuple[float, float]) -> Series:
    """What of a series can be seen within a span of x: lines also as they were when it began."""
    if series.kind == "strokes":
        assert series.low is not None
        assert series.to_x is not None
        kept = np.flatnonzero((series.to_x >= span[0]) & (series.x <= span[1]))
        return replace(
            series, x=series.x[kept], y=series.y[kept], low=series.low[kept], to_x=series.to_x[kept]
        )
    first = max(int(np.searchsorted(series.x, span[0])) - 1, 0)
    until = int(np.searchsorted(series.x, span[1], side="right"))
    return replace(series, x=series.x[first:until], y=series.y[first:until])


def _draw_level(axes: Axes, level: Level) -> None:
    across = axes.axvline if level.along == "x" else axes.axhline
    dashes = _DOTTED if level.look == "dotted" else _DASHED
    label: dict[str, Any] = {"label": level.name} if level.name else {}
    across(level.at, color=level.colour, linewidth=1.0 if level.name else 0.8, linestyle=dashes, **label)


def _draw_bars(axes: Axes, series: Series, look: dict[str, Any]) -> None:
    assert series.to_x is not None
    spread = None
    if series.x_interval is not None:
        spread = _spread(series.to_x, series.x_interval)
    axes.barh(
        series.y,
        series.to_x - series.x,
        series.size,
        left=series.x,
        xerr=spread,
        ecolor=INK,
        linewidth=0,
        **look,
    )
    ends = series.to_x if series.x_interval is None else series.x_interval[1]
    for words, end, row in zip(series.words, ends, series.y, strict=False):
        axes.annotate(words, (end, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5)


def _draw_strokes(axes: Axes, series: Series, look: dict[str, Any]) -> None:
    """One line that lifts its pen between strokes; of strokes that would be the same dots, one."""
    assert series.low is not None
    assert series.to_x is not None
    if not len(series.x):
        return
    kept = _distinct(series)
    gaps = np.full(len(kept), np.nan)
    x = np.column_stack([series.x[kept], series.to_x[kept], gaps]).reshape(-1)
    y = np.column_stack([series.low[kept], series.y[kept], gaps]).reshape(-1)
    (line,) = axes.plot(x, y, linewidth=series.size, solid_capstyle="round", **look)
    line.get_path().should_simplify = False
    if series.tipped:
        tips = {"linestyle": "None", "marker": "v", "markersize": 4, "zorder": 6}
        axes.plot(
            series.x,
            series.y,
            color=series.colour,
            **tips,  # type: ignore[arg-type]
        )


def _distinct(series: Series) -> Array:
    places = []
    for values, steps in ((series.x, _COLUMNS), (series.y, _ROWS)):
        width = np.ptp(values) or 1.0
        places.append(np.round((values - values.min()) / width * steps).astype(np.int64))
    found: Array = np.sort(np.unique(places[0] * (_ROWS + 1) + places[1], return_index=True)[1])
    return found


def _in_legend(axes: Axes, panel: Panel) -> tuple[list[Any], list[str]]:
    """Handles and names; of areas that lie on one another the top one first."""
    handles, labels = axes.get_legend_handles_labels()
    if any(series.kind == "area" for series in panel.series):
        return handles[::-1], labels[::-1]
    return handles, labels


def _label(axes_of_column: Sequence[Axes], panels: Sequence[Panel]) -> None:
    """A y label that all panels share stands once, in the middle; an x axis is labelled where it ends."""
    labels = [panel.rows_of or panel.y.label for panel in panels]
    once = len(set(labels)) == 1
    for place, (axes, panel) in enumerate(zip(axes_of_column, panels, strict=False)):
        axes.set_ylabel(labels[place] if not once or place == len(panels) // 2 else "")
        if place + 1 == len(panels) or panel.x != panels[place + 1].x:
            axes.set_xlabel(panel.x.label)
            axes.tick_params(labelbottom=True)
