"""Dots of a figure: none is drawn twice, and none that would be seen is left out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longhaul.report.monitor_figures import _distinct

POINTS = arrays(float, st.tuples(st.integers(1, 300), st.just(2)), elements=st.floats(0, 1, width=32))


@given(POINTS)
def test_every_point_has_a_dot_within_half_a_pixel(points: np.ndarray) -> None:
    x, y = points.T
    kept = points[_distinct(x, y)]
    span = np.ptp(points, axis=0)
    near = np.abs(points[:, None] - kept[None]) <= span / (600, 120) * 1.001 + 1e-12
    assert near.all(axis=2).any(axis=1).all()


def test_a_crowd_is_drawn_by_as_many_dots_as_there_are_pixels() -> None:
    at = np.linspace(0, 10, 40_000)
    assert len(_distinct(at, np.zeros(40_000))) == 601
    assert len(_distinct(np.zeros(0), np.zeros(0))) == 0
