"""A simulation made twice is one run."""

import random

from hypothesis import given
from hypothesis import strategies as st

from longhaul.analysis.comparison import Simulated, independent, simulated
from longhaul.analysis.estimates import estimate


@given(st.lists(st.none() | st.tuples(st.integers(0, 2), st.sampled_from("abc"))))
def test_each_simulation_counts_once_and_every_live_run(runs: list[Simulated | None]) -> None:
    kept = [runs[place] for place in independent(runs)]
    assert kept.count(None) == runs.count(None)
    assert sorted(each for each in kept if each) == sorted({each for each in runs if each})
    assert independent(runs) == sorted(independent(runs))


def test_other_seeds_with_equal_results_are_repetitions_that_estimates_count_once() -> None:
    runs = [({"seed": seed}, {"simulation": {"digest": "a"}}) for seed in (1, 2, 2)]
    assert independent([simulated(*each) for each in runs]) == [0, 1]
    assert simulated({"seed": 1}, {}) is None


def test_an_estimate_does_not_depend_on_the_order_of_its_values() -> None:
    chance = random.Random(20)
    values = [chance.lognormvariate(0, 9) for _ in range(1000)]
    first = estimate(values)
    for _trial in range(20):
        chance.shuffle(values)
        assert estimate(values) == first
