"""How much longer a sweep takes, from what it has done."""

import random

import pytest

from longhaul.analysis.pace import Pace, TimeLeft, left_text
from longhaul.units.text import duration_text


def test_nothing_is_known_before_a_run_has_ended() -> None:
    assert Pace().left(10) is None
    assert left_text(None) == ""


def test_equal_runs_take_as_long_again() -> None:
    pace = Pace()
    for number in range(1, 21):
        pace.done(5, at_s=2.0 * number)
    left = pace.left(50)
    assert left is not None
    assert (left.low_s, left.high_s) == pytest.approx((20.0, 20.0))
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
    assert left_text(TimeLeft(60.0, 110.0)) == "60 to 110 s left"
    assert left_text(TimeLeft(100.0, 500.0)) == "2 to 8 min left"
    assert left_text(TimeLeft(119.0, 180.0)) == "2 to 3 min left"
    assert left_text(TimeLeft(125.0, 150.0)) == "2 min left"
    assert left_text(TimeLeft(5.0, 130.0)) == "5 s to 2 min left"
    assert left_text(TimeLeft(0.0, 3.0)) == "0 to 3 s left"
    assert left_text(TimeLeft(6_000.0, 10_000.0)) == "1.7 to 2.8 h left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (40, "40 s"), (119, "119 s"), (720, "12 min"), (7_199, "120 min"), (9_000, "2.5 h"),
     (7_200, "2 h"), (36_000, "10 h"), (360_000, "100 h"), (3.6e9, "1000000 h")],
)  # fmt: skip
def test_durations_are_never_written_as_a_power_of_ten(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
