"""Figures as objects with a representation for notebooks, in light and dark."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.report.chart import Chart
from longhaul.report.colours import ANYWHERE, INK, MUTED, SERIES
from longhaul.report.formats import FORMATS
from longhaul.storage import writing


@dataclass(frozen=True)
class Picture:
    """A figure of a run, a sweep, a comparison, a fit or a plan. A notebook shows it."""

    name: str
    svg: str = field(repr=False)
    """Text of an ``<svg>`` that needs nothing else, in colours for light and dark."""
    chart: Chart | None = field(default=None, repr=False, compare=False)
    """What it draws; None for a drawing, such as that of a network."""

    def _repr_mimebundle_(self, **_asked: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def save(self, path: str | Path) -> Path:
        """Write it into a file: SVG, PDF, PNG, or its points as CSV, by the name's ending.

        The SVG is :attr:`svg`; PDF and PNG have the colours of the light theme. Drawings of networks are SVG
        alone.
        """
        written = Path(path)
        formats = ("svg",) if self.chart is None else FORMATS
        if written.suffix.removeprefix(".") not in formats:
            endings = " or ".join(f".{each}" for each in formats)
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f"{written} has no ending of a format of this figure",
                remedy=f"name it {endings}",
                exit_code=2,
            )
        with writing(written):
            if self.chart is None or written.suffix == ".svg":
                written.write_text(self.svg, encoding="utf-8")
            else:
                from longhaul.report.files import write_chart

                write_chart(self.chart, written)
        return written


Drawings = Mapping[str, Callable[[], str | Chart | None]]
"""How to make each figure, by name: a chart, or a drawing; None where there is nothing to draw."""


def picture(drawings: Drawings, name: str) -> Picture:
    """The figure of a name. Raises KeyError with the names that have something to draw."""
    if name not in drawings:
        raise KeyError(f'there is no figure "{name}"; there are: {_told(drawings)}')
    made = drawings[name]()
    if made is None:
        raise KeyError(f'there is nothing to draw as "{name}"; there are: {_told(drawings)}')
    return Picture(name, _drawn(made), made) if isinstance(made, Chart) else Picture(name, made)


def charts_of(drawings: Drawings, wanted: Sequence[str]) -> list[Chart]:
    """The charts of these names, or all. Raises KeyError with the names that there are."""
    made = {name: drawn for name, draw in drawings.items() if isinstance(drawn := draw(), Chart)}
    unknown = next((name for name in wanted if name not in made), None)
    if not made:
        raise KeyError(f"there is no chart; there are figures: {_told(drawings)}")
    if unknown is not None:
        raise KeyError(f'there is no chart "{unknown}"; there are: {", ".join(made)}')
    return [made[name] for name in wanted] if wanted else list(made.values())


def _drawn(chart: Chart) -> str:
    from longhaul.report.chart_drawing import draw_svg

    return draw_svg(chart)


def _told(drawings: Drawings) -> str:
    return ", ".join(names(drawings)) or "none"


def names(drawings: Drawings) -> tuple[str, ...]:
    """The names of the figures that have something to draw."""
    return tuple(name for name, draw in drawings.items() if draw() is not None)


def network_picture(plan: Plan, **where: Any) -> Picture | None:
    """The network of a plan; ``None`` if it is too large to draw. ``where`` is what the drawing takes."""
    from longhaul.report import topology

    drawn = topology.draw(plan, where.pop("positions", {}), **where)
    if drawn is None:
        return None
    opened = re.sub(r"^<svg", '<svg xmlns="http://www.w3.org/2000/svg"', drawn)
    sized = f' style="max-width: 860px"><style>{_network_look()}</style>'
    return Picture("topology", opened.replace(">", sized, 1))


def _network_look() -> str:
    """What the page's style sheet says of such drawings, in colours for anywhere."""
    blue, _, green, violet = (ANYWHERE[each] for each in SERIES[:4])
    rules = {
        "text": f"font: 12px system-ui, sans-serif; text-anchor: middle; fill: {ANYWHERE[INK]}",
        ".small": f"font-size: 11px; fill: {ANYWHERE[MUTED]}",
        ".name": "font-weight: 700",
        ".wire": f"stroke: {blue}; stroke-width: 2",
        ".router": f"fill: {blue}",
        ".host": f"fill: {green}",
        ".core": f"fill: {violet}",
    }
    return " ".join(f".topology {what} {{ {how} }}" for what, how in rules.items())


class Drawn:
    """Something with figures, each asked for by its name."""

    def _drawings(self) -> Drawings:
        raise NotImplementedError

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of its figures: those that have something to draw."""
        return names(self._drawings())

    def figure(self, name: str) -> Picture:
        """A figure, which a notebook shows. Raises KeyError with the names that there are."""
        return picture(self._drawings(), name)

    def charts(self, *names: str) -> Any:
        """The charts of these names, or all of them, as a widget of a notebook in which they can be zoomed.

        Raises KeyError with the names that there are, and LonghaulError without anywidget.
        """
        from longhaul.report.widgets import widget

        return widget(charts_of(self._drawings(), names))
