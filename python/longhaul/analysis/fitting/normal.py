"""Normal, lognormal and inverse Gaussian: by maximum likelihood, which has closed forms."""

import numpy as np
from numpy.random import Generator
from scipy.special import log_ndtr, ndtri

from longhaul.analysis.fitting.family import (
    Family,
    FloatArray,
    Parameter,
    columns,
    log_one_minus_exp,
    rows_of,
)


def _fit_normal(gaps: FloatArray) -> FloatArray:
    return rows_of(gaps.mean(axis=1), gaps.std(axis=1))


def _normal_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean, sd = columns(parameters)
    away = (gaps - mean) / sd
    return log_ndtr(away), log_ndtr(-away)


def _normal_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    mean, sd = columns(parameters)
    return np.asarray(mean + sd * ndtri(chances))


def _normal_draw(stream: Generator, parameters: FloatArray, count: int) -> FloatArray:
    mean, sd = columns(parameters)
    return mean + sd * stream.standard_normal((len(parameters), count))


def _normal_remarks(_gaps: FloatArray, parameters: FloatArray) -> tuple[str, ...]:
    mean, sd = parameters.tolist()
    below = float(np.exp(log_ndtr(-mean / sd)))
    return (f"{below:.2g} of its gaps would be negative",) if below > 1e-4 else ()


def _fit_lognormal(gaps: FloatArray) -> FloatArray:
    return _fit_normal(np.log(gaps))


def _lognormal_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    return _normal_tails(np.log(gaps), parameters)


def _lognormal_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    return np.exp(_normal_quantile(chances, parameters))


def _lognormal_draw(stream: Generator, parameters: FloatArray, count: int) -> FloatArray:
    return np.exp(_normal_draw(stream, parameters, count))


def _fit_inverse_gaussian(gaps: FloatArray) -> FloatArray:
    """M. C. K. Tweedie, Ann. Math. Stat. 28 (1957) 362, section 2."""
    mean = gaps.mean(axis=1)
    excess = (1 / gaps).mean(axis=1) - 1 / mean
    return rows_of(mean, 1 / np.maximum(excess, np.finfo(float).tiny))


def _inverse_gaussian_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F = Phi(a) + exp(2 shape / mean) Phi(-b) (Giner, Smyth, The R Journal 8, 2016, 339)."""
    mean, shape = columns(parameters)
    root = np.sqrt(shape / gaps)
    above = root * (gaps / mean - 1)
    second = 2 * shape / mean + log_ndtr(-root * (gaps / mean + 1))
    log_below = np.logaddexp(log_ndtr(above), second)
    survival = log_ndtr(-above)
    log_above = survival + log_one_minus_exp(np.minimum(second - survival, 0.0))
    return np.minimum(log_below, 0.0), log_above


def _inverse_gaussian_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    from scipy.stats import invgauss

    mean, shape = columns(parameters)
    return np.asarray(invgauss.ppf(chances, mean / shape, scale=shape))


def _inverse_gaussian_draw(stream: Generator, parameters: FloatArray, count: int) -> FloatArray:
    mean, shape = columns(parameters)
    drawn = stream.wald(mean, shape, (len(parameters), count))
    return np.maximum(drawn, np.finfo(float).tiny)


NORMAL = Family(
    "normal",
    (Parameter("mean", "gap"), Parameter("sd", "gap")),
    _fit_normal,
    _normal_tails,
    _normal_quantile,
    _normal_draw,
    remarks=_normal_remarks,
)
LOGNORMAL = Family(
    "lognormal",
    (Parameter("mu", "log gap"), Parameter("sigma")),
    _fit_lognormal,
    _lognormal_tails,
    _lognormal_quantile,
    _lognormal_draw,
)
INVERSE_GAUSSIAN = Family(
    "inverse-gaussian",
    (Parameter("mean", "gap"), Parameter("shape", "gap")),
    _fit_inverse_gaussian,
    _inverse_gaussian_tails,
    _inverse_gaussian_quantile,
    _inverse_gaussian_draw,
)
