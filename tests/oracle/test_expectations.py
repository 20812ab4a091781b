"""Tolerances against arithmetic."""

from math import sqrt

import pytest

from longhaul.oracle.expectations import (
    LEAST_LOSSES,
    Z,
    burstiness,
    goodput_tolerance,
    median_tolerance_ns,
    ping_resolution_ns,
    share_tolerance,
)


def test_without_a_loss_model_nothing_may_be_lost() -> None:
    assert share_tolerance(0.0, 1000, 1000) == 0


def test_two_binomial_samples_differ_by_the_sum_of_their_variances() -> None:
    found = share_tolerance(0.01, 10_000, 10_000)
    assert found == pytest.approx(Z * sqrt(2 * 0.01 * 0.99 / 10_000) + 1e-4)


def test_nothing_is_said_of_no_packets() -> None:
    assert share_tolerance(0.01, 0, 10) is None


def test_bursts_of_n_losses_make_the_variance_almost_2_n_minus_1_times_larger() -> None:
    found = burstiness({"model": "gilbert-elliott", "mean": 1e-6, "burst": 4.0})
    assert found == pytest.approx(2 * 4 - 1, rel=1e-4)


def test_losses_that_do_not_know_each_other_are_not_bursty() -> None:
    assert burstiness({"model": "independent", "probability": 0.5}) == 1
    assert burstiness({"model": "gilbert-elliott", "mean": 0.5, "burst": 2.0}) == 1


def test_goodput_without_random_losses_may_differ_by_3_percent() -> None:
    assert goodput_tolerance(100e6, (0, 0)) == pytest.approx(3e6)


def test_few_random_losses_say_nothing_about_goodput() -> None:
    assert goodput_tolerance(1e6, (LEAST_LOSSES - 1, 1000)) is None
    assert goodput_tolerance(1e6, (LEAST_LOSSES, LEAST_LOSSES), burst=2) is None


def test_more_random_losses_leave_less_to_chance() -> None:
    few, many = goodput_tolerance(1.0, (100, 100)), goodput_tolerance(1.0, (10_000, 10_000))
    assert few is not None
    assert many is not None
    assert (few - 0.03) / (many - 0.03) == pytest.approx(10)


@pytest.mark.parametrize(
    ("rtt_ns", "digit_ns"),
    [(20_013_440, 100_000), (123_000_000, 1_000_000), (1_500_000, 10_000), (45_000, 1000)],
)
def test_ping_prints_three_digits(rtt_ns: int, digit_ns: float) -> None:
    assert ping_resolution_ns(rtt_ns) == digit_ns


def test_the_median_of_uniform_jitter_has_the_standard_error_of_a_uniform_one() -> None:
    # Half width w: sd = w / sqrt(3), and that of the median of n is w / sqrt(n).
    assert median_tolerance_ns(1000 / sqrt(3), 400, 400) == pytest.approx(Z * 1000 / sqrt(200))
