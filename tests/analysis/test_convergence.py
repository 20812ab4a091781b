"""Measures of convergence and response, on series whose answers are known."""

from math import sqrt

import numpy as np
import pytest

from longhaul.analysis.convergence import (
    Series,
    convergence_time,
    share_ratio,
    time_until,
    time_until_bytes,
    variation,
)


def series(rates, span_s=0.1):
    count = len(rates)
    return Series(span_s * np.arange(1, count + 1), np.full(count, span_s), np.asarray(rates, dtype=float))


def test_bits_between_two_times_are_the_area_under_the_rates():
    flow = series([100.0, 200.0, 300.0, 400.0], span_s=1.0)
    assert flow.bits(0, 4) == pytest.approx(1000)
    assert flow.bits(0.5, 2.25) == pytest.approx(50 + 200 + 75)
    assert flow.mean(1, 3) == pytest.approx(250)
    assert flow.bits(5, 9) == 0


def test_bins_are_whole_and_mean_the_same_however_fine_the_samples_are():
    fine, coarse = series([10.0] * 50 + [30.0] * 55, span_s=0.1), series([10.0] * 5 + [30.0] * 5, span_s=1.0)
    assert fine.binned(0, 10.4, 2.5) == pytest.approx([10, 10, 30, 30])
    assert coarse.binned(0, 10, 2.5) == pytest.approx([10, 10, 30, 30])


def test_a_line_that_grows_reaches_a_level_when_it_should():
    # The mean of second n is n + 0.5: it is 7.5 first in the eighth.
    flow = series(np.arange(0.05, 20, 0.1))
    assert time_until(flow, 7.5 - 1e-9, after_s=0, until_s=20, bin_s=1) == 8
    assert time_until(flow, 7.5 - 1e-9, after_s=3, until_s=20, bin_s=1) == 5
    assert time_until(flow, 19.6, after_s=0, until_s=20, bin_s=1) is None


def test_a_number_of_bytes_has_passed_to_the_fraction_of_an_interval():
    flow = series([0.0] * 10 + [8000.0] * 100)  # 1000 B/s from 1 s on
    assert time_until_bytes(flow, 2550, after_s=0, until_s=11) == pytest.approx(3.55)
    assert time_until_bytes(flow, 2550, after_s=1, until_s=11) == pytest.approx(2.55)
    assert time_until_bytes(flow, 2550, after_s=1.03, until_s=11) == pytest.approx(2.55)
    assert time_until_bytes(flow, 10_000, after_s=1, until_s=11) == pytest.approx(10)
    assert time_until_bytes(flow, 10_001, after_s=1, until_s=11) is None


def test_two_flows_converge_when_both_are_within_a_fifth_of_the_half():
    # Shares of the second: (t + 0.5) / 20 in second t; 0.4 or more from 0.425 in second 8 on, until 0.6.
    share = (np.arange(20) + 0.5) / 20
    flows = [series(100 * (1 - share), span_s=1.0), series(100 * share, span_s=1.0)]
    limits = {"after_s": 0, "until_s": 20, "bin_s": 1}
    assert convergence_time(flows, hold_s=3, **limits) == 8
    assert convergence_time(flows, hold_s=3, delta=0.1, **limits) is None  # 0.475 and 0.525: two seconds only
    assert convergence_time(flows, hold_s=2, delta=0.1, **limits) == 9
    assert convergence_time(flows, hold_s=5, **limits) is None


def test_what_meets_for_a_moment_has_not_converged():
    crossing = [series([90, 80, 50, 20, 10, 50, 50, 50], 1.0), series([10, 20, 50, 80, 90, 50, 50, 50], 1.0)]
    assert convergence_time(crossing, after_s=0, until_s=8, bin_s=1, hold_s=3) == 5
    idle = [series([0.0] * 8, 1.0)] * 2
    assert convergence_time(idle, after_s=0, until_s=8, bin_s=1, hold_s=3) is None


def test_variation_is_deviation_over_mean():
    assert variation([1, 3]) == pytest.approx(sqrt(2) / 2)
    assert variation([5, 5, 5]) == 0
    assert variation([5]) is None
    assert variation([0, 0]) is None


def test_a_share_ratio_is_that_of_the_weaker():
    assert share_ratio(2, 8) == share_ratio(8, 2) == 0.25
    assert share_ratio(0, 3) == 0
    assert share_ratio(0, 0) is None
