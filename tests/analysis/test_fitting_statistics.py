"""Statistics against their definitions, critical values against published tables."""

import numpy as np
import pytest
from scipy import stats

from longhaul.analysis.fitting import FAMILIES
from longhaul.analysis.fitting.bootstrap import chance, replicate
from longhaul.analysis.fitting.ranking import EASYFIT_CRITICAL
from longhaul.analysis.fitting.statistics import anderson_darling, bins_for, statistics

LEVELS = (0.25, 0.10, 0.05, 0.025, 0.01)
SIZE, COUNT = 100, 20_000

# R. B. D'Agostino, M. A. Stephens, Goodness-of-Fit Techniques (1986), tables 4.2, 4.7, 4.14 and 4.17:
# the factor of A2 for n gaps, and what it exceeds with the chance of each level.
STEPHENS = {
    "weibull": (1 + 0.2 / np.sqrt(SIZE), (0.474, 0.637, 0.757, 0.877, 1.038), [2.9, 18.0]),
    "exponential": (1 + 0.6 / SIZE, (0.736, 1.062, 1.321, 1.591, 1.959), [1.0]),
    "normal": (1 + 0.75 / SIZE + 2.25 / SIZE**2, (0.470, 0.631, 0.752, 0.873, 1.035), [20.0, 3.0]),
    "lognormal": (1 + 0.75 / SIZE + 2.25 / SIZE**2, (0.470, 0.631, 0.752, 0.873, 1.035), [0.0, 1.0]),
}
KNOWN = (1.248, 1.933, 2.492, 3.070, 3.880)


def within(share: float, level: float, *, table: float) -> bool:
    """4.5 standard errors of a share of COUNT, and the error of the table relative to the level."""
    return abs(share - level) < 4.5 * np.sqrt(level * (1 - level) / COUNT) + table * level


@pytest.mark.parametrize("name", STEPHENS)
def test_replicates_reproduce_stephens_critical_values(name: str) -> None:
    factor, critical, parameters = STEPHENS[name]
    found = replicate(FAMILIES[name], np.array(parameters), count=COUNT, size=SIZE, bins=5, seed=3)
    for level, limit in zip(LEVELS, critical, strict=True):
        share = float((factor * found.statistics[:, 0] > limit).mean())
        assert within(share, level, table=0.05), (level, share)


def known_parameters() -> np.ndarray:
    chances = np.sort(np.random.default_rng(5).random((COUNT, SIZE)), axis=1)
    return anderson_darling(np.log(chances), np.log1p(-chances))


def test_known_parameters_give_the_critical_values_of_case_0() -> None:
    found = known_parameters()
    for level, limit in zip(LEVELS, KNOWN, strict=True):
        assert within(float((found > limit).mean()), level, table=0.02), level


def test_easyfits_limits_are_those_of_known_parameters() -> None:
    found = known_parameters()
    for level, limit in EASYFIT_CRITICAL.items():
        assert within(float((found > limit).mean()), level, table=0.08), level


def test_easyfits_limit_hardly_ever_rejects_a_fitted_weibull() -> None:
    found = replicate(FAMILIES["weibull"], np.array([2.9, 18.0]), count=COUNT, size=SIZE, bins=5, seed=3)
    # Of a test at 5 % one expects 1,000 rejections in 20,000.
    assert (found.statistics[:, 0] > EASYFIT_CRITICAL[0.05]).sum() < 10


def test_statistics_are_those_of_their_definitions() -> None:
    gaps = np.sort(np.random.default_rng(1).gamma(2, size=(3, 64)), axis=1)
    parameters = np.array([[1.3, 2.0], [1.0, 1.0], [2.0, 3.0]])
    found = statistics(FAMILIES["weibull"], gaps, parameters, 7)
    for row, (shape, scale), (a2, ks, chi2) in zip(gaps, parameters, found, strict=True):
        distribution = stats.weibull_min(shape, scale=scale)
        below = distribution.cdf(row)
        n = len(row)
        terms = sum((2 * i - 1) * (np.log(below[i - 1]) + np.log(1 - below[n - i])) for i in range(1, n + 1))
        assert a2 == pytest.approx(-n - terms / n, rel=1e-9)
        assert ks == pytest.approx(stats.kstest(row, distribution.cdf).statistic, rel=1e-9)
        observed = np.histogram(below, bins=np.linspace(0, 1, 8))[0]
        assert chi2 == pytest.approx(stats.chisquare(observed).statistic, rel=1e-9)


def test_impossible_gaps_are_infinitely_far() -> None:
    gaps = np.array([[1.0, 2.0, 3.0]])
    pareto = np.array([[0.0001, 5.0, 1.5]])  # of a generalised Pareto, from 1.5 on
    assert statistics(FAMILIES["generalised-pareto"], gaps, pareto, 2)[0].tolist() == [np.inf, 1.0, np.inf]
    assert chance(np.inf, np.array([0.3, np.inf])) == (0.0, 0.0)


def test_given_the_least_gap_a_pareto_is_tested_as_an_exponential() -> None:
    """ln(x / least) of the other gaps is exponential, and the fit is its mean: so A2 must be the same."""
    gaps = np.sort(1 + np.random.default_rng(2).pareto(1.5, (1, 200)), axis=1)
    pareto = FAMILIES["pareto"]
    found = statistics(pareto, gaps, pareto.fit(gaps), 5)
    logs = np.log(gaps[:, 1:] / gaps[:, :1])
    mean = logs.sum(axis=1, keepdims=True) / 200  # the likelihood counts the least gap, whose ln is 0
    assert found == pytest.approx(statistics(FAMILIES["exponential"], logs, mean, 5), rel=1e-9)


def test_p_counts_replicates_as_far_and_says_its_error() -> None:
    replicated = np.arange(1.0, 100.0)
    p, error = chance(91.0, replicated)  # 91 to 99 are as far
    assert p == pytest.approx((1 + 9) / (1 + 99))
    assert error == pytest.approx(np.sqrt(0.1 * 0.9 / 99))


@pytest.mark.parametrize(("count", "bins"), [(20, 5), (64, 7), (1346, 11), (100_000, 17)])
def test_chi_squared_has_one_bin_more_than_the_gaps_have_doublings(count: int, bins: int) -> None:
    assert bins_for(count) == bins


def test_p_of_a_true_family_is_uniform() -> None:
    """Of 150 p-values each from 199 replicates, Kolmogorov-Smirnov sees no difference (p > 1e-4)."""
    family = FAMILIES["gamma"]
    stream = np.random.default_rng(9)
    found = []
    for seed in range(150):
        gaps = np.sort(stream.gamma(2.0, size=(1, 60)))
        parameters = family.fit(gaps)
        value = statistics(family, gaps, parameters, 6)[0, 0]
        again = replicate(family, parameters[0], count=199, size=60, bins=6, seed=seed)
        found.append(chance(float(value), again.statistics[:, 0])[0])
    assert stats.kstest(found, "uniform").pvalue > 1e-4
