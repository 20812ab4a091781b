"""Distributions as stairs: the same rule for a logarithmic axis everywhere, and what is 0 is not left out."""

import numpy as np
import pytest

from longhaul.report.cumulative import Curve, stairs
from longhaul.report.scales import is_wide


def drawn(*points: tuple[float, float], is_logarithmic: bool = False) -> tuple[str, np.ndarray]:
    curves = [Curve("all", np.array(points), "black"), Curve("none", np.zeros((0, 2)), "black")]
    (series,), axis = stairs(curves, "time [s]", is_logarithmic=is_logarithmic)
    assert series.kind == "steps-after"
    return "log" if axis.is_logarithmic else "linear", np.column_stack([series.x, series.y])


@pytest.mark.parametrize(
    ("least", "most", "wide"), [(1, 20, False), (1, 21, True), (0, 9, False), (-1, 9, False)]
)
def test_one_rule_says_when_an_axis_is_logarithmic(least: float, most: float, wide: bool) -> None:
    assert is_wide(least, most) is wide


def test_stairs_begin_at_no_share() -> None:
    scale, steps = drawn((2, 0.5), (30, 1))
    assert scale == "linear"
    assert steps.tolist() == [[2, 0], [2, 0.5], [30, 1]]


def test_what_is_zero_counts_before_a_logarithmic_axis_begins() -> None:
    scale, steps = drawn((0, 0.25), (2, 0.5), (50, 1))
    assert scale == "log"
    assert steps.tolist() == [[1, 0], [1, 0.25], [2, 0.5], [50, 1]]
    assert drawn((0, 0.25), (2, 0.5), (30, 1))[1][0].tolist() == [0, 0]


def test_zeros_alone_have_no_logarithmic_axis() -> None:
    assert drawn((0, 1), is_logarithmic=True)[0] == "linear"
