"""Cumulative distributions as step functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Series
from longhaul.report.scales import is_wide

Array = np.ndarray[Any, Any]

SHARES = 1.02
"""Where the axis of shares ends."""


@dataclass(frozen=True)
class Curve:
    """One distribution."""

    label: str
    points: Array
    """Values in the unit of the axis, in order, each with the share of all that is no greater."""
    colour: str
    width: float = 1.2


def stairs(curves: Sequence[Curve], label: str, *, is_logarithmic: bool = False) -> tuple[list[Series], Axis]:
    """Each curve as stairs from 0, and their axis: logarithmic if requested, or if the values are wide.

    On a logarithmic axis, what is 0 counts before its beginning.
    """
    shown = [each for each in curves if len(each.points)]
    values = np.concatenate([np.zeros(0), *(each.points[:, 0] for each in shown)])
    positive = values[values > 0]
    least = float(positive.min(initial=np.inf))
    logarithmic = bool(len(positive)) and (is_logarithmic or is_wide(least, float(positive.max())))
    found = []
    for each in shown:
        at = np.maximum(each.points[:, 0], least / 2) if logarithmic else each.points[:, 0]
        x, y = np.append(at[:1], at), np.append(0.0, each.points[:, 1])
        found.append(Series(each.label, each.colour, x, y, kind="steps-after", size=each.width))
    return found, Axis(label, is_logarithmic=logarithmic)
