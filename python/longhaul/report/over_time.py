"""Configuration and changes that every figure over time shows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from longhaul.report.mpl import Axes
from longhaul.report.plotting import INK, MUTED, Mark, mark

Json = Mapping[str, Any]

_MOST_LABELS = 24
"""Of more changes the numbers would cover one another."""
_DASHES = (0, (4, 3))


def draw_configured(
    axes: Axes, phases: Sequence[Json], key: str, *, unit: float, colour: str = MUTED
) -> None:
    """Draw what was configured of a direction, dashed: a level, or steps where it changed."""
    runs = groupby(phases, lambda phase: phase["configured"][key])
    draw_steps(axes, [(next(run)["from_ns"], value) for value, run in runs], unit=unit, colour=colour)


def draw_steps(
    axes: Axes, steps: Sequence[Sequence[float | None]], *, unit: float, colour: str = MUTED
) -> None:
    """Draw what held from each instant (ns) on, dashed, up to the end of what the axes show by now."""
    values = [value for _at_ns, value in steps]
    if not any(value is not None for value in values):
        return
    look: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": _DASHES}
    if len(steps) == 1:
        axes.axhline((values[0] or 0) / unit, **look)
        return
    times = [(at_ns or 0) / 1e9 for at_ns, _value in steps]
    shown = [float("nan") if value is None else value / unit for value in values]
    end = max(axes.dataLim.x1, times[-1])
    axes.plot([*times, end], [*shown, shown[-1]], drawstyle="steps-post", label="configured", **look)


def mark_changes(panels: Iterable[Axes], changes: Sequence[Json], *, from_s: float = 0.0) -> None:
    """Mark on each panel when the configuration changed; above the first stands which change it was.

    Numbers are those of the report's list of changes, from 1. Interventions are solid lines, events dotted
    ones, and a gradual change is shaded from its beginning to its end. Time begins at ``from_s``.
    """
    places = list(enumerate(panels))
    for number, change in enumerate(changes, start=1):
        at_s, until_s = (change[key] / 1e9 - from_s for key in ("at_ns", "until_ns"))
        by_user = change["kind"] == "intervention"
        for place, axes in places:
            label = str(number) if place == 0 and len(changes) <= _MOST_LABELS else ""
            mark(axes, Mark(at_s, until_s, label, INK if by_user else MUTED, solid=by_user))
