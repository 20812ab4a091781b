"""Cumulative distributions as step functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longhaul.report.mpl import Axes
from longhaul.report.scales import is_wide

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Curve:
    """One distribution."""

    label: str
    points: Array
    """Values in the unit of the axis, in order, each with the share of all that is no greater."""
    colour: str
    width: float = 1.2


def draw_cumulative(axes: Axes, curves: Sequence[Curve], *, is_logarithmic: bool = False) -> None:
    """Each curve as stairs from 0; the axis is logarithmic if asked for, or if the values are wide.

    On a logarithmic axis, what is 0 counts before its beginning.
    """
    shown = [each for each in curves if len(each.points)]
    values = np.concatenate([np.zeros(0), *(each.points[:, 0] for each in shown)])
    positive = values[values > 0]
    least = float(positive.min(initial=np.inf))
    logarithmic = bool(len(positive)) and (is_logarithmic or is_wide(least, float(positive.max())))
    for each in shown:
        at = np.maximum(each.points[:, 0], least / 2) if logarithmic else each.points[:, 0]
        stairs = ([at[0], *at], [0, *each.points[:, 1]])
        axes.step(*stairs, where="post", color=each.colour, linewidth=each.width, label=each.label)
    axes.set_xscale("log" if logarithmic else "linear")
    axes.set_ylim(0, 1.02)
