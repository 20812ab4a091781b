"""Charts as data: what a chart shows, in the units of its axes, without saying how it is drawn.

:mod:`longhaul.report.chart_json` writes a chart for the browser, :mod:`longhaul.report.chart_drawing` draws
it with matplotlib. Colours are names of :mod:`longhaul.report.colours`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]

Kind = Literal[
    "line",
    "steps-before",  # a value holds until its x
    "steps-after",  # a value holds from its x on
    "curve",  # a line through the points in their order, which need not be that of x
    "area",  # from `low` to `y`, each from its x on
    "dots",
    "discs",
    "circles",
    "squares",
    "crosses",
    "strokes",  # from (x, low) to (to_x, y)
    "bars",  # horizontal, from x to `to_x` in the row y
]


Look = Literal["dashed", "dotted"]


@dataclass(frozen=True)
class Series:
    """Points that have one name and one look."""

    name: str
    colour: str
    x: Array
    y: Array
    """NaN where there is no value."""
    kind: Kind = "line"
    listed: bool = True
    """In the legend."""
    dashed: bool = False
    size: float = 1.4
    """Width of a line or diameter of a sign in points; height of bars in rows."""
    opacity: float = 1.0
    low: Array | None = None
    """Lower edge of areas, first y of strokes."""
    to_x: Array | None = None
    """End of strokes and bars."""
    x_interval: tuple[Array, Array] | None = None
    """Least and most x of each bar or sign; NaN where there is none."""
    y_interval: tuple[Array, Array] | None = None
    """Least and most y of each sign or cell; NaN where there is none."""
    words: Sequence[str] = ()
    """At the end of each bar, or below the value of each cell."""
    joined: bool = False
    """Signs through which a line goes, in their order."""
    tipped: bool = False
    """Strokes with a triangle at their end, which is seen however short they are."""


@dataclass(frozen=True)
class Level:
    """A line over the whole panel: a value that is not data."""

    at: float
    colour: str
    name: str = ""
    """In the legend; without one the level is not listed."""
    look: Look = "dashed"
    along: Literal["x", "y"] = "y"
    """The axis on which the value is."""


@dataclass(frozen=True)
class Foot:
    """Crosses at the foot of a panel: instants without a value, such as losses."""

    name: str
    colour: str
    x: Array


@dataclass(frozen=True)
class Mark:
    """An instant, or a time from one to another, over the whole height of a panel."""

    at: float
    until: float
    label: str
    colour: str
    solid: bool


@dataclass(frozen=True)
class Part:
    """A stretch of the x axis that deserves a closer look, and what it is."""

    begin: float
    end: float
    name: str


@dataclass(frozen=True)
class Axis:
    """An axis of a panel. Panels with equal x axes move together."""

    label: str
    """With its unit: ``time [s]``."""
    is_logarithmic: bool = False
    low: float | None = None
    """Where the axis begins and ends; by its data where not given."""
    high: float | None = None
    names: tuple[str, ...] = ()
    """Of the places 0, 1, 2 ..., instead of numbers: from the left, or from the top."""
    step: float | None = None
    """All values are multiples of it, if they are."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series] = ()
    levels: Sequence[Level] = ()
    feet: Sequence[Foot] = ()
    marks: Sequence[Mark] = ()
    part: Part | None = None
    ignored: frozenset[str] = frozenset()
    """Names of series that do not stretch the y axis: it may end below what they show."""
    note: str = ""
    rows_of: str = ""
    """What the names of the series are values of, in a heat map: a table with a row for each series and a
    column for each name of ``x``, whose cells are shaded from the low to the high end of ``y``."""


LEAST_CELL_IN = 0.6
"""Width of a cell of a heat map, in inches, in which a mean with its interval can be read."""


@dataclass(frozen=True)
class Key:
    """What a colour or a sign means in all panels of a chart."""

    name: str
    colour: str
    kind: Kind = "discs"
    dashed: bool = False


Legend = Literal["none", "inside", "beside", "above"]


@dataclass(frozen=True)
class Chart:
    """A figure: a grid of panels."""

    name: str
    """Of its file."""
    title: str
    """For those who do not see it."""
    rows: Sequence[Sequence[Panel]]
    height_in: float
    """On paper."""
    width_in: float = 8.6
    widths: tuple[float, ...] = (1.0,)
    """Of the columns, relative to one another."""
    heights: tuple[float, ...] = ()
    """Of the rows, relative to one another; equal where not given."""
    legend: Legend = "none"
    """On paper. A browser lists the series of each panel above it."""
    key: Sequence[Key] = ()
    """Above all panels."""
    note: str = ""
    """What is left out."""

    @property
    def panels(self) -> Iterator[Panel]:
        """From the top left to the bottom right."""
        return (panel for row in self.rows for panel in row)


def column(panels: Sequence[Panel]) -> list[tuple[Panel]]:
    """Rows of one panel each."""
    return [(panel,) for panel in panels]


def left_out_text(every: int, shown: int, what: str) -> str:
    """``The 8 links of 12 that carried most``; nothing if all are shown."""
    return what.format(shown=shown, every=every) if every > shown else ""
