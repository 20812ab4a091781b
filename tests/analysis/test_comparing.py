"""Confidence intervals that hold what they promise."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from longhaul.analysis.comparison import compare, digest, independent, simulated
from longhaul.analysis.estimates import estimate

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)


@given(VALUES)
def test_an_interval_is_students(values: list[float]) -> None:
    found = estimate(values)
    low, high = stats.t.interval(0.95, len(values) - 1, loc=found.mean, scale=stats.sem(values) or 1e-300)
    if len(set(values)) > 1:
        assert found.half_width == pytest.approx((high - low) / 2, rel=1e-6, abs=1e-9)
    else:
        assert found.half_width is None, "values that are all equal have no scatter to judge by"


@given(VALUES, VALUES)
def test_a_difference_is_welchs(first: list[float], last: list[float]) -> None:
    if len(set(first)) < 2 or len(set(last)) < 2:
        return
    (row,) = compare([[{"m": value} for value in group] for group in (first, last)])
    welch = stats.ttest_ind(last, first, equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert row.difference is not None
    assert row.difference_half_width == pytest.approx((interval.high - interval.low) / 2, rel=1e-6, abs=1e-6)
    if abs(welch.pvalue - 0.05) > 1e-6:
        assert row.differs == (welch.pvalue < 0.05)


def test_nineteen_intervals_of_twenty_hold_the_mean() -> None:
    chance = random.Random(1)
    hold = 0
    for _ in range(2_000):
        found = estimate([chance.gauss(5, 2) for _ in range(5)])
        assert found.half_width is not None
        hold += abs(found.mean - 5) <= found.half_width
    # 1,900 expected, with a standard deviation of 9.7.
    assert 1_860 < hold < 1_940


def test_what_not_every_run_has_is_left_out() -> None:
    rows = compare([[{"a": 1.0, "b": 2.0, "c": "word"}], [{"a": 3.0, "b": None, "c": "word"}]])
    assert [row.metric for row in rows] == ["a"]
    assert rows[0].difference == 2
    assert rows[0].differs is None


def test_patterns_choose_metrics() -> None:
    runs = [[{"flows.a.goodput": 1.0, "flows.a.loss": 0.0, "links.x.loss": 0.0}]] * 2
    assert [row.metric for row in compare(runs, ["*.loss"])] == ["flows.a.loss", "links.x.loss"]


def test_an_equal_run_on_the_virtual_clock_is_no_other_repetition() -> None:
    free = {"virtual_clock": {"digest": "12ab", "cpu_speed": None}}
    measured = {"virtual_clock": {"digest": "12ab", "cpu_speed": 1.0}}
    real = {"virtual_clock": None}
    assert [digest(each) for each in (free, measured, real)] == ["12ab", None, None]
    each = [(1, free), (1, free), (2, free), (1, measured)]
    runs = [simulated({"seed": seed}, summary) for seed, summary in each]
    assert independent(runs) == [0, 2, 3]
