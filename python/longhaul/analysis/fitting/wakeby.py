"""Wakeby's distribution of five parameters, by L-moments.

x(F) = xi + (alpha/beta) (1 - (1 - F)^beta) - (gamma/delta) (1 - (1 - F)^(-delta)): J. C. Houghton, Water
Resour. Res. 14 (1978) 1105; estimates as in Hosking, Wallis, Regional Frequency Analysis (1997), A.11.
"""

import numpy as np

from longhaul.analysis.fitting.family import (
    Family,
    FloatArray,
    Parameter,
    columns,
    least_offset,
    log_one_minus_exp,
    rows_of,
)
from longhaul.analysis.fitting.pareto import fit_generalised_pareto, l_moments

_NODES = np.concatenate(([0.0], np.logspace(-8, np.log10(600), 160)))
"""Values of -ln(1 - F) between which a gap's own is looked for."""
_NEWTON_STEPS = 5


def _fit(gaps: FloatArray) -> FloatArray:
    """All five from five L-moments.

    If that cannot be, the location is put just below the least gap, and four L-moments give the rest; if
    that cannot be either, the result is a generalised Pareto distribution: Wakeby's with alpha = 0.
    """
    moments = l_moments(gaps, 5)
    highest = gaps[:, 0] - least_offset(gaps)
    free = _from_five(moments)
    fixed = _from_four(moments, highest)
    shape, scale, location = fit_generalised_pareto(gaps).T
    zero = np.zeros_like(shape)
    simple = rows_of(zero, zero, scale, shape, location)
    chosen = np.where(_possible(fixed, gaps)[:, None], fixed, simple)
    return np.where(_possible(free, gaps)[:, None], free, chosen)


def _from_five(moments: FloatArray) -> FloatArray:
    first, second, third, fourth, fifth = moments.T
    n = (
        3 * second - 25 * third + 32 * fourth,
        -3 * second + 5 * third + 8 * fourth,
        3 * second + 5 * third + 2 * fourth,
    )
    c = (
        7 * second - 85 * third + 203 * fourth - 125 * fifth,
        -7 * second + 25 * third + 7 * fourth - 25 * fifth,
        7 * second + 5 * third - 7 * fourth - 5 * fifth,
    )
    beta, delta = _exponents(n, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = (1 + beta) * (2 + beta) * (3 + beta) / (4 * (beta + delta))
        alpha = alpha * ((1 + delta) * second - (3 - delta) * third)
        gamma = -(1 - delta) * (2 - delta) * (3 - delta) / (4 * (beta + delta))
        gamma = gamma * ((1 - beta) * second - (3 + beta) * third)
        return rows_of(alpha, beta, gamma, delta, first - alpha / (1 + beta) - gamma / (1 - delta))


def _from_four(moments: FloatArray, location: FloatArray) -> FloatArray:
    """The same with a known location."""
    first, second, third, fourth = moments.T[:4]
    first = first - location
    n = (4 * first - 11 * second + 9 * third, -second + 3 * third, second + third)
    c = (
        10 * first - 29 * second + 35 * third - 16 * fourth,
        -second + 5 * third - 4 * fourth,
        second - fourth,
    )
    beta, delta = _exponents(n, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = (1 + beta) * (2 + beta) / (beta + delta) * (first - (2 - delta) * second)
        gamma = -(1 - delta) * (2 - delta) / (beta + delta) * (first - (2 + beta) * second)
    return rows_of(alpha, beta, gamma, delta, location)


def _exponents(
    n: tuple[FloatArray, FloatArray, FloatArray], c: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Beta and -delta are the larger and the smaller root of a quadratic equation; NaN without roots."""
    square = n[1] * c[2] - n[2] * c[1]
    linear = n[0] * c[2] - n[2] * c[0]
    constant = n[0] * c[1] - n[1] * c[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(linear**2 - 4 * square * constant)
        ends = np.stack(((-linear + root) / (2 * square), (-linear - root) / (2 * square)))
    return ends.max(axis=0), -ends.min(axis=0)


def _possible(parameters: FloatArray, gaps: FloatArray) -> FloatArray:
    """Whether parameters are Wakeby's, with a mean, and leave all gaps possible."""
    alpha, beta, gamma, delta, location = parameters.T
    with np.errstate(invalid="ignore", over="ignore"):
        lawful = (beta + delta > 0) & (gamma >= 0) & (alpha + gamma >= 0) & (delta < 1)
        inside = location < gaps[:, 0]
        last = np.full((len(gaps), 1), _NODES[-1])
        inside &= _at(last, np.nan_to_num(parameters))[:, 0] > gaps[:, -1]
    return np.asarray(lawful & inside)


def _at(exponent: FloatArray, parameters: FloatArray) -> FloatArray:
    """The gap whose -ln(1 - F) is ``exponent``."""
    alpha, beta, gamma, delta, location = columns(parameters)
    return location + alpha * _rise(-beta, exponent) + gamma * _rise(delta, exponent)


def _rise(power: FloatArray, exponent: FloatArray) -> FloatArray:
    """(exp(power * exponent) - 1) / power, also for a power of 0."""
    flat = np.abs(power) < 1e-12
    return np.where(flat, exponent, np.expm1(power * exponent) / np.where(flat, 1.0, power))


def _tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By Newton's method on -ln(1 - F), from a table, between its neighbours there."""
    nodes = np.broadcast_to(_NODES, (len(parameters), len(_NODES)))
    heights = _at(nodes, parameters)
    alpha, beta, gamma, delta, location = columns(parameters)
    exponent = np.empty_like(gaps)
    low, high = np.empty_like(gaps), np.empty_like(gaps)
    for row, height in enumerate(heights):
        place = np.clip(np.searchsorted(height, gaps[row]), 1, len(_NODES) - 1)
        low[row], high[row] = _NODES[place - 1], _NODES[place]
        exponent[row] = np.interp(gaps[row], height, _NODES)
    for _ in range(_NEWTON_STEPS):
        slope = alpha * np.exp(-beta * exponent) + gamma * np.exp(delta * exponent)
        off = _at(exponent, parameters) - gaps
        step = np.where(slope > 0, off / np.where(slope > 0, slope, 1.0), 0.0)
        exponent = np.clip(exponent - step, low, high)
    exponent = np.where(gaps <= location, 0.0, exponent)
    log_survival = np.where(gaps >= heights[:, -1:], -np.inf, -exponent)
    return log_one_minus_exp(log_survival), log_survival


def _quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    return _at(-np.log1p(-chances), parameters)


def _remarks(_gaps: FloatArray, parameters: FloatArray) -> tuple[str, ...]:
    if parameters[0] == 0:
        return ("five L-moments allow no Wakeby distribution; this is a generalised Pareto one",)
    return ()


WAKEBY = Family(
    "wakeby",
    (
        Parameter("alpha", "gap"),
        Parameter("beta"),
        Parameter("gamma", "gap"),
        Parameter("delta"),
        Parameter("xi", "gap"),
    ),
    _fit,
    _tails,
    _quantile,
    remarks=_remarks,
)
