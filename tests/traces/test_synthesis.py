"""Drawn traces come back with the mean and the deviation that were asked for."""

import math
import statistics
from itertools import pairwise

import pytest

from longhaul.errors import LonghaulError
from longhaul.scenario.traces.synthesis import Figures, Sampling, cut_normal_sigma, round_trip, synthesise

DRAWS = 100_000
LONG = Sampling(period_s=1.0, duration_s=float(DRAWS))
SPIKY = Figures(rtt_ms=12.7, rtt_sd_ms=27.03, floor_ms=6.75, spikes=0.03)
CALM = Figures(rtt_ms=37.19, rtt_sd_ms=1.66, floor_ms=34.87)


def rtts(figures: Figures, sampling: Sampling = LONG, seed: str = "1") -> list[float]:
    return [
        value for value in synthesise(figures, sampling, seed=seed).columns["rtt_ms"] if value is not None
    ]


def moments(figures: Figures) -> tuple[float, float, float]:
    """Mean, variance and fourth central moment of the distribution, from its raw moments in closed form."""
    distribution = round_trip(figures)
    body = [math.exp(k * distribution.mu + k * k * distribution.sigma**2 / 2) for k in range(5)]
    spike = [1.0, *(distribution.spikes * math.factorial(k) * distribution.spike_ms**k for k in range(1, 5))]
    raw = [sum(math.comb(k, j) * body[j] * spike[k - j] for j in range(k + 1)) for k in range(5)]
    mean, variance = raw[1], raw[2] - raw[1] ** 2
    fourth = raw[4] - 4 * raw[3] * mean + 6 * raw[2] * mean**2 - 3 * mean**4
    return distribution.floor_ms + mean, variance, fourth


@pytest.mark.parametrize("figures", [SPIKY, CALM], ids=["spikes", "calm"])
def test_the_distribution_has_exactly_the_mean_and_deviation(figures: Figures) -> None:
    mean, variance, _ = moments(figures)
    assert mean == pytest.approx(figures.rtt_ms, rel=1e-9)
    assert math.sqrt(variance) == pytest.approx(figures.rtt_sd_ms, rel=1e-9)


@pytest.mark.parametrize("figures", [SPIKY, CALM], ids=["spikes", "calm"])
def test_mean_and_deviation_of_a_long_draw_come_back_within_sampling_error(figures: Figures) -> None:
    drawn = rtts(figures)
    mean, variance, fourth = moments(figures)
    assert len(drawn) == DRAWS
    assert abs(statistics.fmean(drawn) - mean) < 4.5 * math.sqrt(variance / DRAWS)
    # The standard error of a variance is sqrt((mu4 - sigma^4) / n).
    error = math.sqrt((fourth - variance**2) / DRAWS)
    assert abs(statistics.variance(drawn) - variance) < 4.5 * error


@pytest.mark.parametrize("figures", [SPIKY, CALM], ids=["spikes", "calm"])
def test_no_round_trip_is_below_the_floor(figures: Figures) -> None:
    assert min(rtts(figures)) >= figures.floor_ms


def test_spikes_strike_in_their_share() -> None:
    distribution = round_trip(SPIKY)
    # A body above this has a chance below 1e-9; of the spikes exp(-t/e) are above it.
    most = distribution.floor_ms + math.exp(distribution.mu + 6 * distribution.sigma)
    above = sum(value > most for value in rtts(SPIKY))
    least = distribution.spikes * math.exp(-(most - distribution.floor_ms) / distribution.spike_ms)
    error = math.sqrt(DRAWS * distribution.spikes)
    assert DRAWS * least - 4.5 * error < above < DRAWS * distribution.spikes + 4.5 * error


@pytest.mark.parametrize(("mean", "sd"), [(10.6, 3.22), (3.19, 0.08), (4.75, 2.3)])
def test_a_rate_has_its_mean_and_deviation_and_is_never_near_zero(mean: float, sd: float) -> None:
    drawn = synthesise(Figures(rate_mbit=mean, rate_sd_mbit=sd), LONG, seed="1").columns["rate_mbit"]
    values = [value for value in drawn if value is not None]
    assert abs(statistics.fmean(values) - mean) < 4.5 * sd / math.sqrt(DRAWS)
    # A cut normal has a kurtosis below 3, so the standard error of its deviation is below sd / sqrt(2 n).
    assert abs(statistics.stdev(values) - sd) < 4.5 * sd / math.sqrt(2 * DRAWS)
    assert min(values) >= 0.1 * mean - 1e-4
    assert max(values) <= 1.9 * mean + 1e-4


def test_a_narrow_rate_is_not_cut() -> None:
    assert cut_normal_sigma(3.19, 0.08) == pytest.approx(0.08, rel=1e-9)
    assert cut_normal_sigma(10.0, 5.0) > 5.0


def test_correlation_falls_to_1_over_e_after_its_time() -> None:
    sampling = Sampling(period_s=1.0, duration_s=float(DRAWS), correlation_s=10.0)
    trace = synthesise(Figures(rate_mbit=100.0, rate_sd_mbit=5.0), sampling, seed="1")
    values = [value - 100.0 for value in trace.columns["rate_mbit"] if value is not None]
    power = statistics.fmean(value * value for value in values)
    for lag, share in ((1, math.exp(-0.1)), (10, math.exp(-1))):
        product = statistics.fmean(a * b for a, b in zip(values, values[lag:], strict=False))
        # Bartlett: the variance of AR(1)'s correlation is at most (1 + rho^2) / (1 - rho^2) / n, 10 / n.
        assert abs(product / power - share) < 4.5 * math.sqrt(10 / DRAWS)
    # The distribution stays.
    assert math.sqrt(power) == pytest.approx(5.0, rel=4.5 * math.sqrt(10 / DRAWS))


def test_samples_stand_alone_without_a_correlation() -> None:
    values = [value - 37.19 for value in rtts(CALM)]
    power = statistics.fmean(value * value for value in values)
    product = statistics.fmean(a * b for a, b in pairwise(values))
    assert abs(product / power) < 4.5 / math.sqrt(DRAWS)


def test_a_balanced_draw_has_its_mean_even_if_it_is_short() -> None:
    short = Sampling(duration_s=200.0, balanced=True)
    error = CALM.rtt_sd_ms / math.sqrt(200)
    for seed in "123456":
        # Each of n parts holds one value: what is left is n^(-1/2) smaller still, but for the tail.
        assert abs(statistics.fmean(rtts(CALM, short, seed)) - 37.19) < error / 2


def test_equal_seeds_give_equal_traces_and_others_do_not() -> None:
    short = Sampling(duration_s=10.0)
    assert rtts(SPIKY, short, "a") == rtts(SPIKY, short, "a") != rtts(SPIKY, short, "b")


def test_spikes_move_no_body() -> None:
    short = Sampling(duration_s=50.0)
    few, more = (
        synthesise(Figures(20.0, 4.0, 18.0, share, 10.0, 1.0), short, seed="1").columns["rate_mbit"]
        for share in (0.01, 0.2)
    )
    assert few == more


@pytest.mark.parametrize(
    ("figures", "sampling", "said"),
    [
        (Figures(10.0, 1.0, 11.0), LONG, "a floor of 11 ms under a mean of 10 ms; write a lower floor"),
        (Figures(10.0, 1.0, 9.0, 1.5), LONG, "a share of spikes of 1.5; write 0% or more"),
        (
            Figures(10.0, 0.2, 9.0, 0.03),
            LONG,
            "spikes with a deviation of 0.2 ms around 10 ms; write more than 0.5",
        ),
        (
            Figures(10.0, 9.0, 9.0, 0.03),
            LONG,
            "a deviation of 9 ms with 0.03 spikes .*; write less than 8.103 ms",
        ),
        (Figures(rate_mbit=10.0, rate_sd_mbit=6.0), LONG, "a rate of 10 with a deviation of 6; write half"),
        (Figures(rate_mbit=0.0), LONG, "a rate of 0; write more than 0"),
        (Figures(rtt_ms=0.0), LONG, "a round trip of 0; write more than that"),
        (Figures(), LONG, "the trace has neither RTT nor rate; give an RTT or a rate"),
        (CALM, Sampling(period_s=2.0, duration_s=1.0), "a duration without a period in it"),
        (CALM, Sampling(period_s=0.001, duration_s=1e6), "a trace of 1000000000 rows; write 1000000 at most"),
    ],
)
def test_what_no_distribution_has_is_refused_with_what_would_do(
    figures: Figures, sampling: Sampling, said: str
) -> None:
    with pytest.raises(LonghaulError, match=said):
        synthesise(figures, sampling, seed="1")
