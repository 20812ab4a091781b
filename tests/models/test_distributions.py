"""Every random distribution against scipy: Kolmogorov-Smirnov or chi-squared, at three parameter points.

Seeds are fixed, so that what passes once passes always; a wrong distribution fails at p < 1e-4.
"""

import numpy as np
import pytest
from scipy import stats

from longhaul.run.trial import trial

from .link_models import N, Wakeby, evenly, random_delay, renewal

LEAST_P = 1e-4

DISTRIBUTIONS = [
    *[({"dist": "uniform", "low": low, "high": high}, stats.uniform(low, high - low)) for low, high in
      ((0.0, 1e6), (2e5, 3e5), (1e3, 9e6))],
    *[({"dist": "normal", "mean": mean, "sd": sd}, stats.norm(mean, sd)) for mean, sd in
      ((1e6, 1e5), (5e6, 1e6), (1e7, 1e4))],
    *[({"dist": "exponential", "mean": mean}, stats.expon(scale=mean)) for mean in (1e4, 1e6, 3e7)],
    *[({"dist": "weibull", "shape": shape, "scale": 1e6}, stats.weibull_min(shape, scale=1e6)) for shape in
      (0.8, 1.0, 2.9)],
    *[({"dist": "lognormal", "mu": 13.0, "sigma": sigma}, stats.lognorm(sigma, scale=np.exp(13.0)))
      for sigma in (0.1, 0.5, 1.5)],
    *[({"dist": "gamma", "shape": shape, "scale": 1e5}, stats.gamma(shape, scale=1e5)) for shape in
      (0.5, 2.0, 9.0)],
    *[({"dist": "pareto", "shape": shape, "scale": 1e5}, stats.pareto(shape, scale=1e5)) for shape in
      (1.5, 2.5, 5.0)],
    *[({"dist": "weibull", "shape": shape, "scale": 1e6, "location": 4e5},
       stats.weibull_min(shape, loc=4e5, scale=1e6)) for shape in (0.8, 1.5, 2.9)],
    *[({"dist": "log-logistic", "shape": shape, "scale": 1e6}, stats.fisk(shape, scale=1e6)) for shape in
      (0.9, 3.0, 8.0)],
    *[({"dist": "inverse-gaussian", "mean": 1e6, "shape": shape}, stats.invgauss(1e6 / shape, scale=shape))
      for shape in (1e5, 1e6, 2e7)],
    *[({"dist": "generalised-pareto", "shape": shape, "scale": 1e6, "location": 2e5},
       stats.genpareto(shape, loc=2e5, scale=1e6)) for shape in (-0.4, 0.0, 0.3)],
    # scipy's shape has the other sign.
    *[({"dist": "gev", "shape": shape, "scale": 1e6, "location": 8e6},
       stats.genextreme(-shape, loc=8e6, scale=1e6)) for shape in (-0.3, 0.0, 0.2)],
    *[({"dist": "wakeby", "alpha": alpha, "beta": beta, "gamma": gamma, "delta": delta, "xi": 1e6},
       Wakeby(alpha, beta, gamma, delta, 1e6)) for alpha, beta, gamma, delta in
      ((2e6, 6.0, 3e5, 0.25), (-2e5, 1.0, 1e6, 0.2), (1e6, 0.5, 5e5, -0.4))],
]  # fmt: skip


@pytest.mark.parametrize(("jitter", "expected"), DISTRIBUTIONS, ids=lambda each: str(each)[:60])
def test_delays_follow_their_distribution(jitter: dict, expected: stats.rv_continuous) -> None:
    at = evenly(N, 1e9)
    out = trial(random_delay(jitter), at_ns=at)
    delays = out.due_ns - at[out.packet]
    # Delays are whole picoseconds, far finer than what the test can see.
    assert stats.kstest(delays, expected.cdf).pvalue > LEAST_P
    tail = expected.ppf(0.999)
    beyond = int((delays > tail).sum())
    assert stats.binomtest(beyond, N, 0.001).pvalue > LEAST_P


def test_delays_that_would_be_negative_are_zero() -> None:
    jitter = {"dist": "gev", "shape": 0.1, "scale": 1e6, "location": 5e5}
    at = evenly(N, 1e9)
    out = trial(random_delay(jitter), at_ns=at)
    distribution = stats.genextreme(-0.1, loc=5e5, scale=1e6)
    delays = out.due_ns - at[out.packet]
    share = distribution.cdf(0)
    assert stats.binomtest(int((delays == 0).sum()), N, share).pvalue > LEAST_P
    left = stats.kstest(delays[delays > 0], lambda delay: (distribution.cdf(delay) - share) / (1 - share))
    assert left.pvalue > LEAST_P


@pytest.mark.parametrize("correlation", [0.25, 0.5, 0.9])
@pytest.mark.parametrize(
    ("jitter", "distribution"),
    [
        ({"dist": "weibull", "shape": 0.8, "scale": 1e6}, stats.weibull_min(0.8, scale=1e6)),
        ({"dist": "weibull", "shape": 2.9, "scale": 1e6}, stats.weibull_min(2.9, scale=1e6)),
        ({"dist": "inverse-gaussian", "mean": 1e6, "shape": 5e5}, stats.invgauss(2.0, scale=5e5)),
    ],
    ids=lambda each: str(each)[:40],
)
def test_correlation_leaves_the_distribution_alone(
    jitter: dict, distribution: stats.rv_continuous, correlation: float
) -> None:
    at = evenly(N, 1e9)
    out = trial(random_delay(jitter, correlation=correlation), at_ns=at)
    delays = (out.due_ns - at[out.packet])[np.argsort(out.packet)]
    # Every 100th is independent of the one before: 0.9^100 is 3e-5.
    assert stats.kstest(delays[::100], distribution.cdf).pvalue > LEAST_P
    ranks = stats.norm.ppf(distribution.cdf(delays))
    error = np.sqrt((1 + correlation**2) / (1 - correlation**2) / N)
    for lag in (1, 2, 3):
        got = np.corrcoef(ranks[:-lag], ranks[lag:])[0, 1]
        assert abs(got - correlation**lag) < 4.5 * error


def test_a_netem_table_is_drawn_from_evenly() -> None:
    samples = sorted(int(8192 * value) for value in stats.norm.ppf((np.arange(4096) + 0.5) / 4096))
    samples = [min(max(value, -32768), 32767) for value in samples]
    jitter = {"dist": "table", "mean": 0.0, "sd": 1e5, "samples": samples}
    at = evenly(N, 1e9)
    out = trial(random_delay(jitter, base_ns=5_000_000), at_ns=at)
    delays = out.due_ns - at[out.packet] - 5e6
    assert abs(delays.mean()) < 4.5 * 1e5 / np.sqrt(N)
    assert abs(delays.std() / 1e5 - 1) < 4.5 * np.sqrt(0.5 / N) + 1e-3  # the table's own tails are cut


def test_an_empirical_list_gives_each_value_equally_often() -> None:
    values = [1e5, 2e5, 5e5, 9e5]
    at = evenly(N, 1e9)
    out = trial(random_delay({"dist": "empirical", "values": values}), at_ns=at)
    delays = np.round(out.due_ns - at[out.packet])
    counts = [int((delays == value).sum()) for value in values]
    assert sum(counts) == N
    assert stats.chisquare(counts).pvalue > LEAST_P


def gaps_between(lost: list[int]) -> np.ndarray:
    return np.diff(np.array(lost))


@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        ({"dist": "exponential", "mean": 5000.0}, stats.expon(scale=5000)),
        ({"dist": "weibull", "shape": 2.9, "scale": 4000.0}, stats.weibull_min(2.9, scale=4000)),
        ({"dist": "weibull", "shape": 0.7, "scale": 3000.0}, stats.weibull_min(0.7, scale=3000)),
        ({"dist": "lognormal", "mu": 8.0, "sigma": 0.5}, stats.lognorm(0.5, scale=np.exp(8.0))),
        ({"dist": "gamma", "shape": 3.0, "scale": 1500.0}, stats.gamma(3.0, scale=1500)),
        ({"dist": "pareto", "shape": 2.5, "scale": 2000.0}, stats.pareto(2.5, scale=2000)),
        ({"dist": "uniform", "low": 1000.0, "high": 9000.0}, stats.uniform(1000, 8000)),
        (
            {"dist": "weibull", "shape": 1.5, "scale": 3000.0, "location": 1000.0},
            stats.weibull_min(1.5, loc=1000, scale=3000),
        ),
        ({"dist": "log-logistic", "shape": 3.0, "scale": 4000.0}, stats.fisk(3.0, scale=4000)),
        ({"dist": "inverse-gaussian", "mean": 4000.0, "shape": 8000.0}, stats.invgauss(0.5, scale=8000)),
        (
            {"dist": "generalised-pareto", "shape": 0.2, "scale": 3000.0, "location": 500.0},
            stats.genpareto(0.2, loc=500, scale=3000),
        ),
        (
            {"dist": "gev", "shape": 0.15, "scale": 1000.0, "location": 5000.0},
            stats.genextreme(-0.15, loc=5000, scale=1000),
        ),
        (
            {"dist": "wakeby", "alpha": 9000.0, "beta": 6.0, "gamma": 2000.0, "delta": 0.25, "xi": 500.0},
            Wakeby(9000.0, 6.0, 2000.0, 0.25, 500.0),
        ),
    ],
    ids=lambda each: str(each)[:40],
)
def test_gaps_between_losses_follow_their_distribution(gap: dict, expected: stats.rv_continuous) -> None:
    """On the line of wall time, with a packet every thousandth of the mean gap: fine enough for the test."""
    mean = float(expected.mean())
    scale = 1e6  # the gap's unit is the ns; a millisecond each
    amounts = {"mean", "scale", "low", "high", "location", "alpha", "gamma", "xi"}
    amounts |= {"shape"} if gap["dist"] == "inverse-gaussian" else set()
    scaled = {key: value * scale if key in amounts else value for key, value in gap.items()}
    if gap["dist"] == "lognormal":
        scaled["mu"] = gap["mu"] + np.log(scale)
    step = mean * scale / 400
    out = trial(renewal(scaled, "wall"), at_ns=evenly(400 * 600, step))
    gaps = gaps_between(out.ended("lost")) * step / scale
    assert len(gaps) > 400
    assert stats.kstest(gaps, expected.cdf).pvalue > LEAST_P


@pytest.mark.parametrize(
    ("model", "mean", "burst"),
    [
        *[({"model": "gilbert-elliott", "mean": m, "burst": b}, m, b)
          for m, b in ((0.001, 3.0), (0.02, 1.5), (0.2, 20.0))],
        *[({"model": "correlated", "mean": m, "correlation": c}, m, 1 / ((1 - m) * (1 - c)))
          for m, c in ((0.001, 0.25), (0.05, 0.5), (0.3, 0.9))],
        *[({"model": "independent", "probability": p}, p, 1 / (1 - p)) for p in (0.0002, 0.01, 0.3)],
        *[({"model": "markov", "good_to_bad": p, "bad_to_good": r, "loss_good": 0.0, "loss_bad": 1.0},
           p / (p + r), 1 / r) for p, r in ((0.001, 0.5), (0.01, 0.1), (0.2, 0.3))],
    ],
    ids=lambda each: str(each)[:70],
)  # fmt: skip
def test_bursts_are_geometric_with_the_stated_mean_and_share(model: dict, mean: float, burst: float) -> None:
    count = 1_000_000
    out = trial({"loss": model}, at_ns=evenly(count, 1000.0))
    lost = np.zeros(count, dtype=bool)
    lost[out.ended("lost")] = True
    edges = np.flatnonzero(np.diff(np.concatenate(([0], lost.astype(int), [0]))))
    lengths = edges[1::2] - edges[::2]
    # The share: bursts are independent, so their number and their lengths give its error.
    error = np.sqrt(len(lengths) * (burst**2 + burst * (burst - 1))) / count
    assert abs(lost.mean() - mean) < 4.5 * error
    q = 1 / burst
    assert abs(lengths.mean() - burst) < 4.5 * np.sqrt(max(1 - q, 1e-9)) / q / np.sqrt(len(lengths)) + 1e-9
    most = max(int(stats.geom.ppf(1 - 20 / len(lengths), q)), 1)
    if most > 1:
        observed = [int((lengths == k).sum()) for k in range(1, most)] + [int((lengths >= most).sum())]
        expected = np.array([stats.geom.pmf(k, q) for k in range(1, most)] + [stats.geom.sf(most - 1, q)])
        assert stats.chisquare(observed, expected * len(lengths)).pvalue > LEAST_P


def test_one_loss_in_every_block_of_n() -> None:
    """Acceptance check T2: NemC's drop_rate."""
    for block in (10, 1000, 4096):
        out = trial({"loss": {"model": "one-per-block", "block": block}}, at_ns=evenly(block * 20, 1000.0))
        lost = np.array(out.ended("lost"))
        assert (lost // block).tolist() == list(range(20))


def test_reordering_needs_a_gap_shorter_than_the_difference_of_delays() -> None:
    """Acceptance check T3: the late packet is overtaken if and only if the next gap is shorter."""
    delay, late = 1_000_000, 1_250_000
    model = {
        "delay": {"model": "constant", "delay_ns": delay},
        "reordering": {"model": "block", "block": 10, "delay_ns": late},
    }
    gaps = np.tile([100_000.0, 249_999.0, 250_001.0, 400_000.0, 249_000.0, 251_000.0, 10_000.0], 500)
    at = np.concatenate(([0.0], np.cumsum(gaps)))
    out = trial(model, at_ns=at)
    due = np.empty(len(at))
    due[out.packet] = out.due_ns
    is_late = np.isclose(due - at, late)
    assert is_late.sum() == pytest.approx(len(at) / 10, abs=1)
    for packet in np.flatnonzero(is_late[:-1] & ~is_late[1:]):
        overtaken = due[packet + 1] < due[packet]
        assert overtaken == (gaps[packet] < late - delay)
