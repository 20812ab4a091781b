"""Distributions, merged and thinned."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.distributions import STEP, distribution, merged, thinned

COUNTED = st.dictionaries(st.integers(0, 10**9), st.integers(1, 1000), min_size=1, max_size=50)


@given(COUNTED)
def test_quantiles_are_those_of_the_sorted_list(counted: dict[int, int]) -> None:
    values = sorted(value for value, times in counted.items() for _ in range(times))
    found = distribution(counted)
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert found[f"{name}_ns"] == values[max(math.ceil(share * len(values)), 1) - 1]
    assert found["mean_ns"] == pytest.approx(sum(values) / len(values))
    assert (found["count"], found["max_ns"]) == (len(values), values[-1])


@given(COUNTED, COUNTED)
def test_merging_is_counting_together(first: dict[int, int], last: dict[int, int]) -> None:
    together = {value: first.get(value, 0) + last.get(value, 0) for value in first | last}
    found, expected = merged([distribution(first), distribution(last)]), distribution(together)
    assert found.pop("mean_ns") == pytest.approx(expected.pop("mean_ns"))
    assert found == expected


def test_nothing_merges_with_nothing() -> None:
    assert merged([distribution({}), distribution({})])["count"] == 0
    assert merged([])["cdf"] == []


def test_a_thinned_distribution_keeps_its_ends_its_quantiles_and_its_shape() -> None:
    whole = distribution(dict.fromkeys(range(1, 10_001), 1))
    thin = thinned(whole)
    assert {**whole, "cdf": None} == {**thin, "cdf": None}
    assert thin["cdf"][0] == whole["cdf"][0]
    assert thin["cdf"][-1] == whole["cdf"][-1] == [10_000, 1.0]
    assert len(thin["cdf"]) < 1.2 / STEP
    # A step function through fewer points is nowhere lower by more than a step.
    shares = [share for _, share in thin["cdf"]]
    assert max(b - a for a, b in pairwise(shares)) <= STEP + 1e-4 + 1e-9
    assert sum(share > 0.99 for share in shares) > 10
