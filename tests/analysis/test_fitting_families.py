"""Every family: its formulas against scipy's, its fit against its own samples and the likelihood."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from longhaul.analysis.fitting import FAMILIES
from longhaul.analysis.fitting.pareto import l_moments

N = 2000
SEED = 20080619

# Ours, and the same distribution in scipy's words; Wakeby is not in scipy.
TRUTHS: dict[str, tuple[list[float], stats.rv_continuous]] = {
    "exponential": ([18.0], stats.expon(scale=18)),
    "weibull": ([0.8, 18.0], stats.weibull_min(0.8, scale=18)),
    "lognormal": ([2.0, 0.9], stats.lognorm(0.9, scale=np.exp(2.0))),
    "gamma": ([2.5, 4.0], stats.gamma(2.5, scale=4)),
    "log-logistic": ([3.0, 10.0], stats.fisk(3, scale=10)),
    "normal": ([20.0, 3.0], stats.norm(20, 3)),
    "inverse-gaussian": ([10.0, 20.0], stats.invgauss(10 / 20, scale=20)),
    "pareto": ([2.5, 3.0], stats.pareto(2.5, scale=3)),
    "weibull-3": ([1.5, 10.0, 4.0], stats.weibull_min(1.5, loc=4, scale=10)),
    "generalised-pareto": ([0.2, 5.0, 2.0], stats.genpareto(0.2, loc=2, scale=5)),
    "gev": ([0.15, 4.0, 12.0], stats.genextreme(-0.15, loc=12, scale=4)),
}
WAKEBY = [20.0, 6.0, 3.0, 0.25, 1.0]

# What scipy calls our parameters: shapes, location, scale; and what of them its own fit holds fixed.
LIKELIHOODS: dict[str, tuple[stats.rv_continuous, dict, Callable[..., tuple[float, ...]]]] = {
    "exponential": (stats.expon, {"floc": 0}, lambda mean: (0, mean)),
    "weibull": (stats.weibull_min, {"floc": 0}, lambda shape, scale: (shape, 0, scale)),
    "lognormal": (stats.lognorm, {"floc": 0}, lambda mu, sigma: (sigma, 0, np.exp(mu))),
    "gamma": (stats.gamma, {"floc": 0}, lambda shape, scale: (shape, 0, scale)),
    "log-logistic": (stats.fisk, {"floc": 0}, lambda shape, scale: (shape, 0, scale)),
    "normal": (stats.norm, {}, lambda mean, sd: (mean, sd)),
    "inverse-gaussian": (stats.invgauss, {"floc": 0}, lambda mean, shape: (mean / shape, 0, shape)),
    "pareto": (stats.pareto, {"floc": 0}, lambda shape, least: (shape, 0, least)),
}


def samples(name: str, count: int, size: int) -> np.ndarray:
    drawn = TRUTHS[name][1].rvs(size=(count, size), random_state=np.random.default_rng(SEED))
    return np.sort(drawn, axis=1)


def wakeby_quantile(chances: np.ndarray) -> np.ndarray:
    alpha, beta, gamma, delta, xi = WAKEBY
    left = 1 - chances
    return xi + alpha / beta * (1 - left**beta) - gamma / delta * (1 - left**-delta)


@pytest.mark.parametrize("name", TRUTHS)
def test_tails_and_quantiles_are_those_of_scipy(name: str) -> None:
    ours, theirs = TRUTHS[name]
    row = np.array([ours])
    chances = np.array([[1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9]])
    gaps = theirs.ppf(chances)
    log_below, log_above = FAMILIES[name].tails(gaps, row)
    assert log_below == pytest.approx(np.log(chances), rel=1e-6, abs=1e-12)
    assert log_above == pytest.approx(np.log1p(-chances), rel=1e-6, abs=1e-9)
    # 1 - 1e-9 holds its distance from 1 to seven digits.
    assert FAMILIES[name].quantile(chances, row) == pytest.approx(gaps, rel=1e-6)


def test_wakebys_tails_undo_its_quantiles() -> None:
    row = np.array([WAKEBY])
    chances = np.array([[1e-9, 1e-4, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-12]])
    gaps = wakeby_quantile(chances)
    assert FAMILIES["wakeby"].quantile(chances, row) == pytest.approx(gaps, rel=1e-9)
    log_below, log_above = FAMILIES["wakeby"].tails(gaps, row)
    assert log_below == pytest.approx(np.log(chances), rel=1e-7, abs=1e-12)
    # 1 - 1e-12 itself has but four digits left of its distance from 1.
    assert log_above == pytest.approx(np.log1p(-chances), rel=1e-4)


@pytest.mark.parametrize("name", TRUTHS)
def test_draws_follow_their_family(name: str) -> None:
    ours, theirs = TRUTHS[name]
    family = FAMILIES[name]
    drawn = family.sample(np.random.default_rng(SEED), np.array([ours]), 20_000)[0]
    assert (np.diff(drawn) >= 0).all()
    assert stats.kstest(drawn, theirs.cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_no_parameters_are_likelier_than_ours(name: str) -> None:
    distribution, fixed, in_scipys_words = LIKELIHOODS[name]
    gaps = samples(name, 1, 500)
    ours = FAMILIES[name].fit(gaps)[0]
    theirs = distribution.fit(gaps[0], **fixed)
    assert in_scipys_words(*ours) == pytest.approx(theirs, rel=2e-3)

    def likelihood(*parameters: float) -> float:
        # Rounding may leave out the least gap, which is a Pareto's scale.
        *others, scale = parameters
        return float(distribution.logpdf(gaps[0], *others, scale * (1 - 1e-12)).sum())

    height = likelihood(*in_scipys_words(*ours))
    assert height >= likelihood(*theirs) - 1e-6
    for index in range(len(ours)):
        for factor in (0.999, 1.001):
            moved = ours.copy()
            moved[index] *= factor
            assert likelihood(*in_scipys_words(*moved)) < height


def test_the_location_of_a_weibull_is_the_likeliest_of_a_fine_grid() -> None:
    gaps = samples("weibull-3", 3, 300)
    for row, (shape, scale, location) in zip(gaps, FAMILIES["weibull-3"].fit(gaps), strict=True):
        height = stats.weibull_min(shape, loc=location, scale=scale).logpdf(row).sum()
        offset = (row.mean() - row[0]) / len(row)
        for other in np.linspace(0, row[0] - offset, 300):
            ((k, s),) = FAMILIES["weibull"].fit((row - other)[None, :])
            assert stats.weibull_min(k, scale=s).logpdf(row - other).sum() <= height + 1e-6


def test_a_location_that_only_rounding_keeps_from_zero_is_zero() -> None:
    gaps = np.sort(np.random.default_rng(SEED).weibull(0.7, (40, 300)), axis=1)
    family = FAMILIES["weibull-3"]
    located = family.fit(gaps)[:, 2]
    assert (located == 0).any()
    assert (located[located > 0] > 1e-12).all()


def test_a_weibull_whose_likelihood_has_no_bound_keeps_its_distance_from_the_least_gap() -> None:
    family = FAMILIES["weibull-3"]
    drawn = 5 + np.sort(np.random.default_rng(SEED).weibull(0.5, 500))
    ((shape, scale, location),) = family.fit(drawn[None, :])
    assert drawn[0] - location == pytest.approx((drawn.mean() - drawn[0]) / len(drawn), rel=1e-6)
    # sd of a fitted shape is 0.78 k/sqrt(n) (Lawless 2003, section 5.2); location 5 and scale 1 were drawn.
    assert abs(shape - 0.5) < 4.5 * 0.78 * 0.5 / np.sqrt(500) + 0.03
    assert "no bound" in family.remarks(drawn, np.array([shape, scale, location]))[0]


@pytest.mark.parametrize("name", [*TRUTHS, "wakeby"])
def test_a_family_finds_its_own_parameters_again(name: str) -> None:
    """In the mean of 200 samples of 2,000 gaps, within 4.5 standard errors and the bias of the estimate.

    That of a regular one is of order 1/n, small beside its deviation of order 1/sqrt(n). A lower end
    is fitted from one side, and its bias is about as large as its deviation.
    """
    family = FAMILIES[name]
    if name == "wakeby":
        truth = np.array(WAKEBY)
        gaps = np.sort(wakeby_quantile(np.random.default_rng(SEED).random((200, N))), axis=1)
    else:
        truth, gaps = np.array(TRUTHS[name][0]), samples(name, 200, N)
    found = family.fit(gaps)
    spread = found.std(axis=0, ddof=1)
    bias = spread if name in ("pareto", "weibull-3", "generalised-pareto", "wakeby") else 0.1 * spread
    assert (np.abs(found.mean(axis=0) - truth) < 4.5 * spread / np.sqrt(200) + bias).all()
    assert (spread < 0.35 * np.abs(truth) + 1e-12).all()


def test_l_moments_without_bias_are_those_of_the_definition() -> None:
    """l_r is the mean over all subsamples of r gaps of what Hosking's definition says (1990, section 3)."""
    from itertools import combinations

    gaps = np.sort(np.random.default_rng(SEED).gamma(2, size=9))
    weights = {2: [-1, 1], 3: [1, -2, 1], 4: [-1, 3, -3, 1], 5: [1, -4, 6, -4, 1]}
    expected = [gaps.mean()] + [
        float(np.mean([np.dot(weight, chosen) / order for chosen in combinations(gaps, order)]))
        for order, weight in weights.items()
    ]
    assert l_moments(gaps[None, :], 5)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shape", [0.8, 2.9])
@pytest.mark.parametrize("name", ["generalised-pareto", "gev", "wakeby", "weibull-3", "pareto", "gamma"])
def test_no_end_of_a_distribution_lies_among_the_gaps(name: str, shape: float) -> None:
    gaps = np.sort(np.random.default_rng(SEED).weibull(shape, (100, 300)), axis=1)
    family = FAMILIES[name]
    begin = 1 if family.least_is_a_parameter else 0
    for part in family.tails(gaps[:, begin:], family.fit(gaps)):
        assert np.isfinite(part).all()


@pytest.mark.parametrize("name", FAMILIES)
def test_gaps_in_another_unit_give_the_same_distribution(name: str) -> None:
    gaps = np.sort(np.random.default_rng(SEED).gamma(2, size=(1, 400)))
    family = FAMILIES[name]
    ours, theirs = family.fit(gaps)[0], family.fit(1000 * gaps)[0]
    for parameter, one, other in zip(family.parameters, ours, theirs, strict=True):
        expected = {"number": one, "gap": 1000 * one, "log gap": one + np.log(1000)}[parameter.dimension]
        assert other == pytest.approx(expected, rel=1e-5, abs=1e-5)
