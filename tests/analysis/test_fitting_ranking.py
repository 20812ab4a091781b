"""The order of families, and what stands beside it."""

from dataclasses import replace

import numpy as np
import pytest

from longhaul.analysis.fitting import FAMILIES, Fits, fit_gaps, quantiles, survival
from longhaul.analysis.fitting.ranking import EASYFIT_CRITICAL
from longhaul.analysis.fitting.statistics import statistics
from longhaul.errors import LonghaulError

LOSSES = 1346
"""Of the measured trace: one each 16.05 s for 6 h."""


def measured(count: int) -> np.ndarray:
    """Samples of the losses that were measured: Weibull gaps of shape 2.9 and scale 18 s."""
    drawn = 18 * np.random.default_rng(2008).weibull(2.9, (count, LOSSES))
    return np.sort(drawn, axis=1)


def by_name(fits: Fits) -> dict:
    return {fit.family: fit for fit in fits.fits}


def test_the_measured_shape_is_found_within_what_theory_says() -> None:
    """sd of the shape is k sqrt(6)/pi / sqrt(n) = 0.78 k/sqrt(n); an sd of 200 is known to 1/sqrt(400)."""
    shape, scale = FAMILIES["weibull"].fit(measured(200)).T
    theory = np.sqrt(6) / np.pi * 2.9 / np.sqrt(LOSSES)
    assert theory == pytest.approx(0.06, abs=0.003)
    assert shape.std(ddof=1) == pytest.approx(theory, rel=4.5 / np.sqrt(400))
    assert shape.mean() == pytest.approx(2.9, abs=4.5 * theory / np.sqrt(200) + 2.9 / LOSSES)
    # sd of the scale: 1.053/(k sqrt(n)) of itself (Lawless, Statistical Models and Methods, 2003, 5.2).
    assert scale.mean() == pytest.approx(18, abs=4.5 * 18 * 1.053 / 2.9 / np.sqrt(LOSSES * 200))


def test_a_measured_weibull_is_nearest_in_95_of_100() -> None:
    gaps = measured(200)
    names = ("weibull", "normal", "gamma", "lognormal", "exponential")
    a2 = {name: statistics(FAMILIES[name], gaps, FAMILIES[name].fit(gaps), 11)[:, 0] for name in names}
    nearest = np.argmin([a2[name] for name in names], axis=0)
    assert (nearest == 0).mean() >= 0.95
    # Only a normal distribution comes near: a Weibull of shape 2.9 has a skewness of 0.06.
    assert set(nearest.tolist()) <= {0, 1}
    assert 0.2 < np.median(a2["weibull"]) < 0.5
    for name, expected in {"normal": 1.35, "gamma": 5, "lognormal": 15, "exponential": 240}.items():
        # A2 of a wrong family varies by tens of percent from sample to sample; these are round figures.
        assert np.median(a2[name]) == pytest.approx(expected, rel=0.25), name


def test_a_measured_weibull_comes_first_of_all_twelve() -> None:
    """Of 12 samples at least 8, which is 4.5 standard deviations below 95 of 100."""
    first = [fit_gaps(row, replicates=99).best.family for row in measured(12)]
    assert first.count("weibull") >= 8
    assert 12 * 0.95 - 4.5 * np.sqrt(12 * 0.95 * 0.05) > 8


def test_uncontradicted_families_come_first_by_parameters_and_then_by_distance() -> None:
    fits = fit_gaps(measured(1)[0], replicates=199)
    contradicted = [fit.contradicted for fit in fits.fits]
    assert contradicted == sorted(contradicted)
    kept = [fit for fit in fits.fits if not fit.contradicted]
    assert len(kept) > 1
    assert kept == sorted(kept, key=lambda fit: (len(fit.parameters), fit.a2.value))
    others = [fit.a2.value for fit in fits.fits if fit.contradicted]
    assert others == sorted(others)
    assert all((fit.a2.p <= 0.01) == fit.contradicted for fit in fits.fits)


def test_without_replicates_distance_alone_decides() -> None:
    fits = fit_gaps(measured(1)[0], replicates=0)
    distances = [fit.a2.value for fit in fits.fits]
    assert distances == sorted(distances)
    assert [fit.easyfit_rank for fit in fits.fits] == list(range(1, 13))
    assert all(fit.contradicted is None and fit.a2.p is None for fit in fits.fits)
    assert all(each.standard_error is None for fit in fits.fits for each in fit.parameters)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("exponential", [18.0]),
        ("weibull", [0.8, 18.0]),
        ("lognormal", [2.0, 0.9]),
        ("gamma", [2.5, 4.0]),
        ("log-logistic", [3.0, 10.0]),
        ("normal", [20.0, 3.0]),
        ("inverse-gaussian", [10.0, 5.0]),
        ("pareto", [2.5, 3.0]),
        ("weibull-3", [1.5, 10.0, 4.0]),
        ("generalised-pareto", [0.2, 5.0, 2.0]),
        ("gev", [0.15, 4.0, 12.0]),
        ("wakeby", [20.0, 6.0, 3.0, 0.25, 1.0]),
    ],
)
def test_each_family_comes_first_on_its_own_gaps(name: str, parameters: list[float]) -> None:
    gaps = FAMILIES[name].sample(np.random.default_rng(11), np.array([parameters]), 2000)[0]
    fits = fit_gaps(gaps, replicates=199)
    assert fits.best.family == name
    for estimate, truth in zip(fits.best.parameters, parameters, strict=True):
        assert estimate.standard_error is not None
        # The standard error of 199 replicates is itself known to 5 %.
        assert abs(estimate.value - truth) < 4.5 * 1.25 * estimate.standard_error


def test_standard_errors_are_those_of_repeated_samples() -> None:
    gaps = measured(200)
    for name in ("weibull", "gamma", "gev"):
        seen = FAMILIES[name].fit(gaps).std(axis=0, ddof=1)
        fit = fit_gaps(gaps[0], families=[name], replicates=999).best
        told = np.array([each.standard_error for each in fit.parameters])
        # Each of 200 and 999 samples has an sd known to 1/sqrt(2n); the sample itself is one of many.
        if name == "weibull":
            assert told == pytest.approx(seen, rel=4.5 * np.sqrt(1 / 400 + 1 / 1998))
        # Gaps that are not of the family spread otherwise than the family's own.
        assert told == pytest.approx(seen, rel=0.5)


def test_standard_errors_shrink_with_the_gaps_that_there_are() -> None:
    gaps = np.random.default_rng(4).exponential(3.0, 50_000)
    (mean,) = fit_gaps(gaps, families=["exponential"], replicates=999).best.parameters
    assert mean.standard_error == pytest.approx(mean.value / np.sqrt(50_000), rel=4.5 / np.sqrt(2 * 999))
    heavy = 1 + np.random.default_rng(4).pareto(2.0, 50_000)
    _shape, least = fit_gaps(heavy, families=["pareto"], replicates=999).best.parameters
    # The least of n gaps lies least/(shape n) above the lower end, with as much deviation.
    assert least.standard_error == pytest.approx(1 / (2 * 50_000), rel=0.25)


def test_kolmogorov_smirnov_has_its_p_also_beyond_the_size_of_replicates() -> None:
    """With 40,000 gaps D is 4.5 times smaller than in replicates of 2,000; p must not notice."""
    found = []
    for seed in range(40):
        gaps = np.random.default_rng(seed).exponential(1.0, 40_000)
        found.append(fit_gaps(gaps, families=["exponential"], replicates=99).best.ks.p)
    # Uniform p: the mean of 40 is 1/2 to 1/sqrt(12 * 40).
    assert np.mean(found) == pytest.approx(0.5, abs=4.5 / np.sqrt(12 * 40))


def test_equal_arguments_give_equal_results_and_families_move_no_others_draws() -> None:
    gaps = measured(1)[0]
    some = fit_gaps(gaps, families=["weibull", "gamma"], replicates=99, seed=7)
    all_of_them = by_name(fit_gaps(gaps, replicates=99, seed=7))
    for fit in some.fits:
        other = all_of_them[fit.family]
        assert replace(fit, easyfit_rank=0) == replace(other, easyfit_rank=0)
    other_seed = fit_gaps(gaps, families=["gamma"], replicates=99, seed=8)
    assert other_seed.best.parameters != by_name(some)["gamma"].parameters


def test_the_order_of_gaps_does_not_matter() -> None:
    gaps = measured(1)[0]
    shuffled = np.random.default_rng(1).permutation(gaps)
    assert fit_gaps(shuffled, replicates=99).fits == fit_gaps(gaps, replicates=99).fits


def test_easyfits_verdict_is_its_limit_and_its_rank_a2_alone() -> None:
    fits = fit_gaps(measured(1)[0], replicates=99)
    for fit in fits.fits:
        assert fit.easyfit_accepts == (fit.a2.value < EASYFIT_CRITICAL[0.05])
    by_rank = sorted(fits.fits, key=lambda fit: fit.easyfit_rank)
    assert [fit.easyfit_rank for fit in by_rank] == list(range(1, 13))
    assert [fit.a2.value for fit in by_rank] == sorted(fit.a2.value for fit in fits.fits)


def test_survival_and_quantiles_belong_together() -> None:
    best = fit_gaps(measured(1)[0], families=["weibull"], replicates=0).best
    chances = np.array([0.1, 0.5, 0.99])
    assert 1 - survival(best, quantiles(best, chances)) == pytest.approx(chances)


@pytest.mark.parametrize(
    ("gaps", "arguments", "words"),
    [
        (np.ones(19), {}, "19 gaps are too few"),
        (np.append(np.ones(30), 0.0), {}, "a gap of 0; gaps are numbers above zero"),
        (np.append(np.ones(30), -2.5), {}, "a gap of -2.5"),
        (np.append(np.arange(1.0, 30), np.nan), {}, "a gap of nan"),
        (np.append(np.arange(1.0, 30), np.inf), {}, "a gap of inf"),
        (np.full(30, 4.0), {}, "all gaps are 4; nothing is random here"),
        (
            np.arange(1.0, 30),
            {"families": ["weibul"]},
            '"weibul" is not a family of distributions; there are',
        ),
        (np.arange(1.0, 30), {"families": []}, "there is no family to fit"),
        (np.arange(1.0, 30), {"replicates": 98}, "98 replicates cannot tell a p of 0.01; ask for 99 or more"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_remedy(
    gaps: np.ndarray, arguments: dict, words: str
) -> None:
    with pytest.raises(LonghaulError) as caught:
        fit_gaps(gaps, **arguments)
    assert words in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 2


def test_the_fewest_and_the_strangest_gaps_still_give_an_order() -> None:
    stream = np.random.default_rng(6)
    for gaps in (
        stream.weibull(2.9, 20),
        np.append(np.full(29, 1.0), 2.0),
        np.append(stream.random(30) * 1e-9, 1e9),
        1e6 + stream.random(50),
        np.ceil(stream.exponential(2.0, 200)),
    ):
        fits = fit_gaps(gaps, replicates=99)
        assert len(fits.fits) == 12
        assert np.isfinite(fits.best.a2.value)
        assert not any(np.isnan(fit.a2.value) for fit in fits.fits)
