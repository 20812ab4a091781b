"""Bandwidth that one flow takes from the others."""

import random
from statistics import NormalDist

import pytest

from longhaul.analysis.stealing import cross_bits_per_s, stolen_bandwidth
from longhaul.errors import LonghaulError


def flow(name: str, megabits: float | None) -> dict:
    rate = None if megabits is None else megabits * 1e6
    return {"name": name, "flow": name, "goodput_bits_per_s": rate}


def test_cross_traffic_is_everybody_else() -> None:
    summary = {"flows": [flow("x1", 100), flow("x2", 150), flow("sixth", 700), flow("x3", None)]}
    assert cross_bits_per_s(summary, "sixth") == 250e6


def test_what_the_others_lost_is_a_share_of_what_they_had() -> None:
    found = stolen_bandwidth("sixth", [600e6], [450e6])
    assert found.share == pytest.approx(0.25)
    assert found.half_width is None
    assert stolen_bandwidth("sixth", [600e6], [660e6]).share == pytest.approx(-0.1)


def test_a_flow_that_is_not_there_or_has_nobody_beside_it_is_refused() -> None:
    summary = {"flows": [flow("x1", 100), flow("x2", 100)]}
    with pytest.raises(LonghaulError, match='no flow "sixth"; name one of x1, x2'):
        cross_bits_per_s(summary, "sixth")
    with pytest.raises(LonghaulError, match='"x1" is the only flow'):
        cross_bits_per_s({"flows": [flow("x1", 100)]}, "x1")
    with pytest.raises(LonghaulError, match="sent nothing"):
        stolen_bandwidth("sixth", [0.0], [1.0])


def test_the_interval_holds_what_it_promises() -> None:
    # Of 2,000 experiments with 10 runs each, 95 % shall cover the truth: 4 deviations are 2 %.
    chance, covered, experiments = random.Random(5), 0, 2_000
    had, has = NormalDist(600, 40), NormalDist(420, 60)
    for _ in range(experiments):
        base = [had.inv_cdf(chance.random()) for _ in range(10)]
        variant = [has.inv_cdf(chance.random()) for _ in range(10)]
        found = stolen_bandwidth("sixth", base, variant)
        assert found.half_width is not None
        covered += abs(found.share - 0.3) <= found.half_width
    assert covered / experiments == pytest.approx(0.95, abs=0.02)
