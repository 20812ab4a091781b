"""Random requests follow the distributions that they are drawn from."""

import itertools
import math

import pytest

from longhaul.errors import LonghaulError
from longhaul.transfers.plan import access_points, instance
from longhaul.transfers.plan.plans import infeasible
from longhaul.transfers.plan.random_requests import VOLUMES_GB, Workload, generate

COUNT = 20_000


@pytest.fixture(scope="module")
def drawn():
    return generate(Workload(count=COUNT, gap_s=50), seed=7)


def near(mean, deviation):
    """Within five standard errors of a mean of COUNT draws."""
    return pytest.approx(mean, abs=5 * deviation / math.sqrt(COUNT))


def test_releases_are_poisson(drawn):
    _points, requests = drawn
    releases = [0.0, *(each.release_s for each in requests)]
    gaps = [after - before for before, after in itertools.pairwise(releases)]
    assert sum(gaps) / COUNT == near(50, 50)
    # Of exponential gaps, e^-2 are longer than twice the mean.
    longer = math.exp(-2)
    assert sum(gap > 100 for gap in gaps) / COUNT == near(longer, math.sqrt(longer * (1 - longer)))


def test_volumes_are_each_as_likely(drawn):
    _points, requests = drawn
    assert len(VOLUMES_GB) == 19
    for volume in VOLUMES_GB:
        share = sum(each.volume_bytes == volume * 10**9 for each in requests) / COUNT
        assert share == near(1 / 19, math.sqrt(1 / 19 * 18 / 19))


def test_rates_and_slacks_are_uniform(drawn):
    _points, requests = drawn
    # 10 MB/s to 1 GB/s; a uniform distribution's deviation is its width / sqrt(12).
    rates = [each.max_bits_per_s for each in requests]
    assert sum(rates) / COUNT == near((80e6 + 8e9) / 2, (8e9 - 80e6) / math.sqrt(12))
    assert 80e6 <= min(rates) <= max(rates) <= 8e9
    slacks = [
        (each.deadline_s - each.release_s) * each.max_bits_per_s / each.volume_bits for each in requests
    ]
    assert sum(slacks) / COUNT == near(2.5, 3 / math.sqrt(12))
    assert 1 <= min(slacks) <= max(slacks) <= 4 + 1e-4


def test_ends_differ_and_each_pair_is_as_likely(drawn):
    points, requests = drawn
    pairs = [(a, b) for a in points for b in points if a != b]
    assert len(pairs) == 90
    for pair in pairs:
        share = sum((each.source, each.destination) == pair for each in requests) / COUNT
        assert share == near(1 / 90, math.sqrt(1 / 90))


def test_three_in_ten_windows_are_long_enough_for_the_access_points(drawn):
    points, requests = drawn
    case = instance(requests, network=access_points(points))
    # Rate m MB/s and slack s fit a port of 125 MB/s where m / s <= 125: all up to 125, (4 - m/125)/3 of the
    # slacks up to 500: (115 + 375 * (1 + 0) / 2) / 990.
    fitting = (115 + 375 / 2) / 990
    assert 1 - len(infeasible(case)) / COUNT == near(fitting, math.sqrt(fitting * (1 - fitting)))


def test_a_seed_gives_one_workload():
    assert generate(Workload(), seed=1) == generate(Workload(), seed=1)
    assert generate(Workload(), seed=1) != generate(Workload(), seed=2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": 0}, "no request is asked for; ask for one or more"),
        ({"points": 1}, "one access point has nowhere to send to; have two or more"),
        ({"gap_s": 0}, "the gap between requests is not positive; give it more than zero"),
        ({"least_slack": 0.5}, "the slacks are not a range from 1; begin with the least"),
    ],
)
def test_distributions_that_there_are_not_are_refused(wrong, message):
    with pytest.raises(LonghaulError, match=message):
        Workload(**wrong)
