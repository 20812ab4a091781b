"""Repetitions with equal results count once, wherever an interval is computed."""

import random
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from longhaul.analysis.comparison import compare
from longhaul.analysis.estimates import (
    difference_half_width,
    estimate,
    estimate_groups,
    number_results,
    runs_text,
)
from longhaul.analysis.stealing import stolen_bandwidth

RUNS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=12)


def test_five_equal_runs_are_one_run_without_an_interval() -> None:
    found = estimate([93.7e6] * 5, ["d"] * 5)
    assert (found.mean, found.half_width, found.runs, found.repeats) == (93.7e6, None, 1, 5)
    assert runs_text(found.runs, found.repeats) == "deterministic, n = 1"


def test_equal_results_count_once_in_the_interval_and_as_often_as_they_occur_in_the_mean() -> None:
    # Four of five seeds meet no loss: the mean is that of five, the interval that of two runs.
    found = estimate([10.0, 10.0, 10.0, 10.0, 5.0], ["a", "a", "a", "a", "b"])
    assert (found.mean, found.runs, found.repeats) == (9.0, 2, 5)
    sd = sqrt((4 * 1**2 + 4**2) / 4)
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 1) * sd / sqrt(2), rel=1e-9)
    assert runs_text(found.runs, found.repeats) == "2 of 5"


@given(RUNS)
def test_live_runs_are_each_one_of_their_own(drawn: list[tuple[int, str | None]]) -> None:
    values, digests = [float(value) for value, _ in drawn], [digest for _, digest in drawn]
    found = estimate(values, digests)
    assert found.runs == digests.count(None) + len(set(digests) - {None})
    assert found.repeats == len(values)
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert (found.half_width is None) == (found.runs < 2 or len(set(values)) < 2)


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_many_groups_at_once_are_estimated_as_each_by_itself(
    drawn: list[list[tuple[int, str | None]]],
) -> None:
    rows = [(group, *run) for group, runs in enumerate(drawn) for run in runs]
    random.Random(1).shuffle(rows)
    groups, values = np.array([row[0] for row in rows]), np.array([float(row[1]) for row in rows])
    found = estimate_groups(groups, values, number_results([row[2] for row in rows]), count=len(drawn))
    for place, runs in enumerate(drawn):
        alone = estimate([float(value) for value, _ in runs], [digest for _, digest in runs])
        assert found.mean[place] == pytest.approx(alone.mean)
        assert (found.runs[place], found.repeats[place]) == (alone.runs, alone.repeats)
        half = found.half_width[place]
        assert half == pytest.approx(alone.half_width) if alone.half_width else np.isnan(half)


def test_a_difference_from_equal_runs_is_not_certain() -> None:
    once, varied = estimate([5.0] * 5, ["d"] * 5), estimate([9.0, 9.1, 8.9], ["a", "b", "c"])
    assert difference_half_width(once, varied) is None
    (row,) = compare(
        [[{"m": 5.0}] * 5, [{"m": 9.0}, {"m": 9.1}, {"m": 8.9}]], digests=[["d"] * 5, ["a", "b", "c"]]
    )
    assert row.differs is None
    stolen = stolen_bandwidth("x", [5.0] * 5, [4.0, 4.1], digests=(["d"] * 5, ["a", "b"]))
    assert stolen.half_width is None
