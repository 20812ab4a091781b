"""Configuration and changes that every chart over time shows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from longhaul.report.chart import Level, Mark, Panel, Series
from longhaul.report.colours import INK, MUTED

Json = Mapping[str, Any]

_MOST_LABELS = 24
"""Of more changes the numbers would cover one another."""


def with_configured(
    panel: Panel, phases: Sequence[Json], key: str, *, unit: float, colour: str = MUTED
) -> Panel:
    """``panel`` with what was configured of a direction: a level, or steps where it changed."""
    runs = groupby(phases, lambda phase: phase["configured"][key])
    return with_steps(panel, [(next(run)["from_ns"], value) for value, run in runs], unit=unit, colour=colour)


def with_steps(
    panel: Panel, steps: Sequence[Sequence[float | None]], *, unit: float, colour: str = MUTED
) -> Panel:
    """``panel`` with what held from each instant (ns) on, dashed, up to the end of what it shows by now."""
    values = [value for _at_ns, value in steps]
    if not any(value is not None for value in values):
        return panel
    if len(steps) == 1:
        return replace(panel, levels=[*panel.levels, Level((values[0] or 0) / unit, colour)])
    times = [(at_ns or 0) / 1e9 for at_ns, _value in steps]
    shown = [float("nan") if value is None else value / unit for value in values]
    end = max([times[-1], *(float(np.nanmax(each.x)) for each in panel.series if len(each.x))])
    configured = Series(
        "configured",
        colour,
        np.array([*times, end]),
        np.array([*shown, shown[-1]]),
        kind="steps-after",
        dashed=True,
        size=0.8,
    )
    return replace(panel, series=[*panel.series, configured])


def with_marks(panels: Sequence[Panel], changes: Sequence[Json], *, from_s: float = 0.0) -> list[Panel]:
    """Panels, one below the other, that mark when the configuration changed; the first says which change.

    Numbers are those of the report's list of changes, from 1. Interventions are solid lines, events dotted
    ones, and a gradual change is shaded from its beginning to its end. Time begins at ``from_s``.
    """
    found = []
    for place, panel in enumerate(panels):
        marks = []
        for number, change in enumerate(changes, start=1):
            at_s, until_s = (change[key] / 1e9 - from_s for key in ("at_ns", "until_ns"))
            by_user = change["kind"] == "intervention"
            label = str(number) if place == 0 and len(changes) <= _MOST_LABELS else ""
            marks.append(Mark(at_s, until_s, label, INK if by_user else MUTED, solid=by_user))
        found.append(replace(panel, marks=marks))
    return found
