"""When live and simulated disagree."""

from math import inf

import pytest

from longhaul.analysis import agreement as of
from longhaul.analysis.estimates import estimate


def agreement(live, simulated, **settings):
    return of.agreement(estimate(live), estimate(simulated), **settings)


def test_fifteen_per_cent_agree_and_sixteen_do_not():
    assert not agreement([100.0], [115.0]).disagrees
    assert not agreement([100.0], [85.0]).disagrees
    found = agreement([100.0], [116.0])
    assert found.disagrees
    assert found.difference == pytest.approx(0.16)
    assert found.certain is None
    assert agreement([100.0], [84.0]).disagrees


def test_what_matters_to_nobody_is_no_disagreement():
    assert not agreement([0.0001], [0.0009], least=0.001).disagrees
    assert agreement([0.0001], [0.0012], least=0.001).disagrees


def test_something_where_there_was_nothing_is_infinitely_more():
    found = agreement([0.0, 0.0], [0.5, 0.5])
    assert (found.difference, found.disagrees) == (inf, True)
    assert agreement([0.0], [0.0]).difference == 0
    assert not agreement([0.0], [0.0]).disagrees


def test_a_difference_within_the_scatter_of_runs_may_be_chance():
    # Variance 100 and 100 over 3 runs: half width t(4) sqrt(200 / 3) = 2.776 * 8.165 = 22.7.
    scattered = agreement([90.0, 100.0, 110.0], [110.0, 120.0, 130.0])
    assert (scattered.disagrees, scattered.certain) == (True, False)
    apart = agreement([90.0, 100.0, 110.0], [113.0, 123.0, 133.0])
    assert (apart.disagrees, apart.certain) == (True, True)
