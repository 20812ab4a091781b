"""The look of figures that matplotlib draws, and figures as inline SVG."""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from longhaul.report.chart import Mark
from longhaul.report.colours import ANYWHERE, GRID, INK, LIGHT, MUTED, SERIES
from longhaul.report.mpl import (
    Axes,
    Figure,
    cycler,
    get_named_colors_mapping,
    settings,
)

_NAMED: Any = get_named_colors_mapping()


def _use(values: Mapping[str, str]) -> None:
    """Say what our names stand for from now on; one by one, so that matplotlib forgets what it resolved."""
    for name, value in values.items():
        _NAMED[name] = value


_use(LIGHT)

_ANYWHERE: ContextVar[bool] = ContextVar("anywhere", default=False)
_STYLE: Any = {
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=SERIES),
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "path.simplify_threshold": 0.4,
}


@contextmanager
def style() -> Iterator[None]:
    """Our look, for the figures made inside: in the colours of the light theme, or in those for both."""
    if _ANYWHERE.get():
        _use(ANYWHERE)
    try:
        with settings({**_STYLE, "grid.alpha": 0.3 if _ANYWHERE.get() else 1.0}, fresh=True):
            yield
    finally:
        _use(LIGHT)


@contextmanager
def anywhere() -> Iterator[None]:
    """Make figures inside that need no page: in :data:`ANYWHERE`'s colours, no wider than reads well."""
    token = _ANYWHERE.set(True)
    try:
        yield
    finally:
        _ANYWHERE.reset(token)


@contextmanager
def paper() -> Iterator[None]:
    """The same look in the light theme, for figures that stand alone; the cycle has the colours of lines."""
    day = {key: LIGHT.get(value, value) if isinstance(value, str) else value for key, value in _STYLE.items()}
    with settings({**day, "axes.prop_cycle": cycler(color=[LIGHT[each] for each in SERIES])}, fresh=True):
        yield


def figure(height_in: float, *, width_in: float = 8.6) -> Figure:
    """An empty figure, transparent."""
    made = Figure(figsize=(width_in, height_in), layout="constrained")
    made.patch.set_alpha(0)
    return made


def mark(axes: Axes, each: Mark) -> None:
    """Draw a line over the whole height of ``axes``, and a shade if it lasts; no data of theirs."""
    dashes = "solid" if each.solid else (0, (1, 2))
    axes.axvline(each.at, color=each.colour, linewidth=0.9, linestyle=dashes, zorder=1.5)
    if each.until > each.at:
        axes.axvspan(each.at, each.until, color=each.colour, alpha=0.12, linewidth=0)
    if each.label:
        axes.annotate(
            each.label,
            (each.at, 1.0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(2, -1),
            textcoords="offset points",
            va="top",
            fontsize=7.5,
            color=each.colour,
            annotation_clip=True,
        )


def plain(axes: Axes) -> None:
    """No background of its own."""
    axes.patch.set_alpha(0)
    axes.set_axisbelow(True)


def svg(made: Figure, name: str, title: str) -> str:
    """The figure as an ``<svg>`` element with a title for those who do not see it."""
    with settings({"svg.hashsalt": name}):
        buffer = io.StringIO()
        made.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Names that matplotlib gives in every figure would meet those of the next one on the page.
    text = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text)
    widest = f' style="max-width: {made.get_figwidth() * 96:.0f}px"'
    return _lighter(text).replace(">", f' role="img" aria-label="{title}"{widest}>', 1)


_MARKS = re.compile(r'<g( clip-path="[^"]*")?>\n((?:\s*<use [^>]*style="([^"]*)"/>\n)+)\s*</g>')


def _lighter(text: str) -> str:
    """The same drawing in fewer bytes: hundredths of a point, and the look of many marks once."""
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag.group()), text)

    def together(found: re.Match[str]) -> str:
        clip, marks, look = found.group(1) or "", found.group(2), f' style="{found.group(3)}"'
        if marks.count(look) < marks.count("<use "):
            return found.group(0)
        bare = re.sub(r"\s*<use", "<use", marks.replace(look, ""))
        return f"<g{clip}{look}>{bare}</g>"

    return _DOTS.sub(_as_strokes, _MARKS.sub(together, text))


_DOTS = re.compile(
    r'(<defs>\s*<path id="[^"]*" d="M 0 ([\d.]+) \nC[^"]*z\n" '
    r'style="stroke: ([^";]*)(?:; stroke-width: ([\d.]+))?"/>\s*</defs>)\s*'
    r'<g( clip-path="[^"]*")? style="fill: \3; stroke: \3">((?:<use [^>]*/>\n?)+)</g>'
)


def _as_strokes(found: re.Match[str]) -> str:
    """Filled dots of one colour as strokes without length, whose round ends are the dots."""
    # A legend may use the definition, too.
    definition, radius, colour, edge, clip, marks = found.groups()
    at, before = "", (0, 0)
    for x, y in re.findall(r'x="([^"]*)" y="([^"]*)"', marks):
        # From dot to dot in whole tenths of a point, which do not add up to an error.
        here = (round(float(x) * 10), round(float(y) * 10))
        across, down = ((now - then) / 10 for now, then in zip(here, before, strict=True))
        at += f"m{across:g} {down:g}h0"
        before = here
    look = f"fill: none; stroke: {colour}; stroke-width: {2 * float(radius) + float(edge or 1):g}"
    return f'{definition}<path{clip or ""} d="{at}" style="{look}; stroke-linecap: round"/>'
