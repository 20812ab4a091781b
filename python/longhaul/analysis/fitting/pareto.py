"""Pareto, by maximum likelihood, and generalised Pareto and extreme values, by L-moments.

L-moments: J. R. M. Hosking, J. R. Stat. Soc. B 52 (1990) 105. Shapes above 0 mean heavy tails (S. Coles,
An Introduction to Statistical Modeling of Extreme Values, 2001), which is minus Hosking's k.
"""

import numpy as np
from scipy.special import gamma as gamma_function

from longhaul.analysis.fitting.family import (
    Family,
    FloatArray,
    Parameter,
    columns,
    least_offset,
    log_one_minus_exp,
    rows_of,
)

_ALMOST_ZERO = 1e-9
"""Shapes this near to 0 are taken as this, where formulas divide by them."""


def l_moments(gaps: FloatArray, count: int) -> FloatArray:
    """The first ``count`` (at most 5) L-moments of each row, without bias (Hosking 1990, section 3)."""
    size = gaps.shape[1]
    rank = np.arange(size, dtype=float)
    weight = np.ones(size)
    weighted = [gaps.mean(axis=1)]
    for order in range(1, count):
        weight = weight * (rank - order + 1) / (size - order)
        weighted.append(gaps @ weight / size)
    shifted_legendre = (
        (1,),
        (-1, 2),
        (1, -6, 6),
        (-1, 12, -30, 20),
        (1, -20, 90, -140, 70),
    )
    moments = [
        np.sum([factor * part for factor, part in zip(factors, weighted, strict=False)], axis=0)
        for factors in shifted_legendre[:count]
    ]
    return rows_of(*moments)


def _fit_pareto(gaps: FloatArray) -> FloatArray:
    """H. J. Malik, Metrika 15 (1970) 126: the least gap, and n / sum ln(x / least)."""
    least = gaps[:, 0]
    return rows_of(1 / np.log(gaps / least[:, None]).mean(axis=1), least)


def _pareto_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, least = columns(parameters)
    log_survival = np.minimum(-shape * np.log(gaps / least), 0.0)
    return log_one_minus_exp(log_survival), log_survival


def _pareto_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, least = columns(parameters)
    return least * np.exp(-np.log1p(-chances) / shape)


def _pareto_remarks(_gaps: FloatArray, parameters: FloatArray) -> tuple[str, ...]:
    return ("it has no mean",) if parameters[0] <= 1 else ()


def fit_generalised_pareto(gaps: FloatArray) -> FloatArray:
    """Shape, scale and location from three L-moments (Hosking, Wallis, Technometrics 29, 1987, 339).

    A location above the least gap is not possible. Then it is put just below, and two L-moments give
    the rest; if that puts the upper end below the longest gap, it is put just above that, and the mean
    gives the rest.
    """
    mean, spread, third = columns(l_moments(gaps, 3))
    offset = least_offset(gaps)[:, None]
    lowest, longest = gaps[:, :1] - offset, gaps[:, -1:] + (gaps[:, -1:] - mean) / gaps.shape[1]
    skewness = third / spread
    bend = (1 - 3 * skewness) / (1 + skewness)
    location = mean - (2 + bend) * spread
    too_high = location > lowest
    location = np.minimum(location, lowest)
    bend = np.where(too_high, (mean - location) / spread - 2, bend)
    scale = (1 + bend) * (mean - location)
    too_short = (bend > 0) & (bend * (longest - location) > scale)
    location = np.where(too_short, lowest, location)
    bend = np.where(too_short, (mean - location) / (longest - mean), bend)
    scale = (1 + bend) * (mean - location)
    return np.concatenate((-bend, scale, location), axis=1)


def _generalised_pareto_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, scale, location = columns(parameters)
    shape = _not_zero(shape)
    reduced = np.maximum(gaps - location, 0.0) / scale
    log_survival = -np.log1p(np.maximum(shape * reduced, -1.0)) / shape
    return log_one_minus_exp(log_survival), log_survival


def _generalised_pareto_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, scale, location = columns(parameters)
    shape = _not_zero(shape)
    return location + scale * np.expm1(-shape * np.log1p(-chances)) / shape


def _fit_extreme_value(gaps: FloatArray) -> FloatArray:
    """Hosking, Wallis, Wood, Technometrics 27 (1985) 251: their start, then Newton's method.

    If that puts an end among the gaps, the end is put just beyond them, and two L-moments give the
    rest: second / (end - mean) = 1 - 2^shape holds for either end.
    """
    mean, spread, third = l_moments(gaps, 3).T
    wanted = np.clip((third / spread + 3) / 2, 1e-6, None)
    start = 1 / wanted - np.log(2) / np.log(3)
    bend = 7.8590 * start + 2.9554 * start**2
    for _ in range(12):
        bend = _not_zero(bend)
        three, two = -np.expm1(-bend * np.log(3)), -np.expm1(-bend * np.log(2))
        by_bend = (np.log(3) * (1 - three) * two - np.log(2) * (1 - two) * three) / two**2
        bend = np.clip(bend - (three / two - wanted) / by_bend, -0.999, 50.0)
    bend = _not_zero(bend)
    upper = bend > 0
    longest = gaps[:, -1] + (gaps[:, -1] - mean) / gaps.shape[1]
    nearest = np.where(upper, longest, gaps[:, 0] - least_offset(gaps))
    end = mean + spread / -np.expm1(-bend * np.log(2))
    among = np.where(upper, end < nearest, end > nearest)
    bend = _not_zero(np.where(among, -np.log2(1 - spread / (nearest - mean)), bend))
    risen = gamma_function(1 + bend)
    scale = spread * bend / (-np.expm1(-bend * np.log(2)) * risen)
    return rows_of(-bend, scale, mean - scale * (1 - risen) / bend)


def _extreme_value_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, scale, location = columns(parameters)
    shape = _not_zero(shape)
    reduced = np.log1p(np.maximum(shape * (gaps - location) / scale, -1.0)) / shape
    log_below = -np.exp(-reduced)
    return log_below, log_one_minus_exp(log_below)


def _extreme_value_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, scale, location = columns(parameters)
    shape = _not_zero(shape)
    return location + scale * np.expm1(-shape * np.log(-np.log(chances))) / shape


def _not_zero(shape: FloatArray) -> FloatArray:
    return np.where(np.abs(shape) < _ALMOST_ZERO, _ALMOST_ZERO, shape)


_SHAPE_SCALE_LOCATION = (Parameter("shape"), Parameter("scale", "gap"), Parameter("location", "gap"))

PARETO = Family(
    "pareto",
    (Parameter("shape"), Parameter("least", "gap")),
    _fit_pareto,
    _pareto_tails,
    _pareto_quantile,
    least_is_a_parameter=True,
    irregular=lambda _gaps, _parameters: np.array([0.5, 1.0]),
    remarks=_pareto_remarks,
)
GENERALISED_PARETO = Family(
    "generalised-pareto",
    _SHAPE_SCALE_LOCATION,
    fit_generalised_pareto,
    _generalised_pareto_tails,
    _generalised_pareto_quantile,
)
EXTREME_VALUE = Family(
    "gev",
    _SHAPE_SCALE_LOCATION,
    _fit_extreme_value,
    _extreme_value_tails,
    _extreme_value_quantile,
)
