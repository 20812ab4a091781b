"""Gamma and log-logistic: by maximum likelihood, with Newton's method."""

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, expit, gammainc, gammaincc, gammaincinv, log_expit, logit, polygamma

from longhaul.analysis.fitting.family import Family, FloatArray, Parameter, columns, rows_of

_PRECISE = 1e-11


def _fit_gamma(gaps: FloatArray) -> FloatArray:
    """The shape k solves ln k - psi(k) = ln(mean) - mean(ln x); start as T. P. Minka (2002) has it.

    S. C. Choi, R. Wette, Technometrics 11 (1969) 683.
    """
    mean = gaps.mean(axis=1)
    spread = np.maximum(np.log(mean) - np.log(gaps).mean(axis=1), 1e-15)
    shape = (3 - spread + np.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)
    for _ in range(40):
        step = (np.log(shape) - digamma(shape) - spread) / (1 / shape - polygamma(1, shape))
        shape = np.maximum(shape - step, shape / 4)
        if (np.abs(step) <= _PRECISE * shape).all():
            break
    return rows_of(shape, mean / shape)


def _gamma_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, scale = columns(parameters)
    reduced = gaps / scale
    return np.log(gammainc(shape, reduced)), np.log(gammaincc(shape, reduced))


def _gamma_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, scale = columns(parameters)
    return np.asarray(scale * gammaincinv(shape, chances))


def _gamma_draw(stream: Generator, parameters: FloatArray, count: int) -> FloatArray:
    shape, scale = columns(parameters)
    drawn = stream.standard_gamma(shape, (len(parameters), count))
    return np.maximum(drawn, np.finfo(float).tiny) * scale


def _fit_log_logistic(gaps: FloatArray) -> FloatArray:
    """With ln x logistic, the likelihood is concave in slope and offset of z = slope * ln x - offset."""
    logs = np.log(gaps)
    middle, width = logs.mean(axis=1), np.maximum(logs.std(axis=1), 1e-12)
    reduced = (logs - middle[:, None]) / width[:, None]
    slope, offset = np.full(len(gaps), np.pi / np.sqrt(3)), np.zeros(len(gaps))
    for _ in range(60):
        below = expit(slope[:, None] * reduced - offset[:, None])
        pull = 2 * below - 1
        weight = 2 * below * (1 - below)
        weighted = weight * reduced
        by_slope = 1 / slope - np.einsum("ij,ij->i", pull, reduced) / gaps.shape[1]
        by_offset = pull.mean(axis=1)
        first = 1 / slope**2 + np.einsum("ij,ij->i", weighted, reduced) / gaps.shape[1]
        mixed, second = -weighted.mean(axis=1), weight.mean(axis=1)
        determinant = first * second - mixed**2
        slope_step = (second * by_slope - mixed * by_offset) / determinant
        offset_step = (first * by_offset - mixed * by_slope) / determinant
        slope = np.maximum(slope + slope_step, slope / 4)
        offset = offset + offset_step
        if max(np.abs(slope_step).max(), np.abs(offset_step).max()) < _PRECISE:
            break
    return rows_of(slope / width, np.exp(middle + width * offset / slope))


def _log_logistic_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, scale = columns(parameters)
    reduced = shape * np.log(gaps / scale)
    return log_expit(reduced), log_expit(-reduced)


def _log_logistic_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, scale = columns(parameters)
    return np.asarray(scale * np.exp(logit(chances) / shape))


GAMMA = Family(
    "gamma",
    (Parameter("shape"), Parameter("scale", "gap")),
    _fit_gamma,
    _gamma_tails,
    _gamma_quantile,
    _gamma_draw,
)
LOG_LOGISTIC = Family(
    "log-logistic",
    (Parameter("shape"), Parameter("scale", "gap")),
    _fit_log_logistic,
    _log_logistic_tails,
    _log_logistic_quantile,
)
