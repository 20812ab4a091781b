"""Exponential and Weibull, the latter also with a location: by maximum likelihood.

W. Weibull, J. Appl. Mech. 18 (1951) 293: P(X > x) = exp(-((x - location) / scale)^shape).
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

_GRID = 9
"""Locations at which the profile likelihood is looked at before the best of them is refined."""
_REFINEMENTS = 14
_PRECISE = 1e-11
_SEARCHED = 1e-9
"""Relative precision of the distance between the location and the least gap."""


def _fit_exponential(gaps: FloatArray) -> FloatArray:
    return rows_of(gaps.mean(axis=1))


def _exponential_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    (mean,) = columns(parameters)
    log_survival = -gaps / mean
    return log_one_minus_exp(log_survival), log_survival


def _exponential_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    (mean,) = columns(parameters)
    return -mean * np.log1p(-chances)


def _fit_weibull(gaps: FloatArray) -> FloatArray:
    logs = np.log(gaps)
    shape, log_scale = _shape_and_log_scale(logs)
    return rows_of(shape, np.exp(log_scale))


def _shape_and_log_scale(logs: FloatArray, start: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Where the likelihood is greatest, given ln of the gaps.

    The shape k solves sum(x^k ln x) / sum(x^k) - 1/k = mean(ln x), whose left side ascends in k
    (Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 1, 1994, section 21.4.1.1); by
    Newton's method. Then scale^k = mean(x^k).
    """
    count = logs.shape[1]
    top = logs.max(axis=1)
    lowered = logs - top[:, None]
    mean = lowered.mean(axis=1)
    shape = 1.2 / np.maximum(lowered.std(axis=1), 1e-9) if start is None else start.copy()
    for _ in range(60):
        weights = np.exp(shape[:, None] * lowered)
        weighted = weights * lowered
        total = weights.sum(axis=1)
        first = weighted.sum(axis=1) / total
        second = np.einsum("ij,ij->i", weighted, lowered) / total
        step = (first - 1 / shape - mean) / (second - first**2 + 1 / shape**2)
        shape = np.clip(shape - step, shape / 4, shape * 4)
        if (np.abs(step) <= _PRECISE * shape).all():
            break
    total = np.exp(shape[:, None] * lowered).sum(axis=1)
    return shape, top + np.log(total / count) / shape


def _weibull_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    shape, scale = columns(parameters)
    log_survival = -np.exp(shape * np.log(gaps / scale))
    return log_one_minus_exp(log_survival), log_survival


def _weibull_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    shape, scale = columns(parameters)
    return scale * (-np.log1p(-chances)) ** (1 / shape)


def _fit_shifted(gaps: FloatArray) -> FloatArray:
    """The location by the profile likelihood between 0 and just below the least gap.

    For shapes below 1 the likelihood has no bound as the location nears the least gap (R. L. Smith,
    Biometrika 72, 1985, 67); the search ends :func:`least_offset` before it. A location below 0 would
    make negative gaps possible.
    """
    least = gaps[:, 0]
    nearest = np.minimum(least_offset(gaps), least)
    steps = np.linspace(0.0, 1.0, _GRID)
    # Distances from the least gap down to the location, from the longest (location 0) to the shortest.
    grid = least[:, None] * (nearest / least)[:, None] ** steps
    shape = None
    heights = []
    for distance in grid.T:
        shape, _log_scale, height, _slope = _profile(gaps, least - distance, shape)
        heights.append(height)
    best = np.argmax(np.stack(heights), axis=0)
    every = np.arange(len(gaps))
    location = least - _refine(
        gaps, grid[every, np.maximum(best - 1, 0)], grid[every, np.minimum(best + 1, _GRID - 1)]
    )
    shape, log_scale, height, _slope = _profile(gaps, location, shape)
    at_grid = least - grid[every, best]
    worse = height < np.stack(heights)[best, every]
    if worse.any():
        location = np.where(worse, at_grid, location)
        shape, log_scale, _height, _slope = _profile(gaps, location, shape)
    # The search has a relative precision: nearer to 0 than that, a location differs from 0 by rounding alone.
    return rows_of(shape, np.exp(log_scale), np.where(location > _SEARCHED * least, location, 0.0))


def _refine(gaps: FloatArray, far: FloatArray, near: FloatArray) -> FloatArray:
    """The distance at which the profile's slope is zero between two, or the better end.

    By the Illinois method on the logarithm of the distance.
    """
    least = gaps[:, 0]
    low, high = np.log(near), np.log(far)
    shape, _, _, at_low = _profile(gaps, least - near, None)
    shape, _, _, at_high = _profile(gaps, least - far, shape)
    # Slopes are with respect to the location, which falls as the distance grows: a maximum between
    # them has a falling slope at the near end and a rising one at the far end.
    inside = (at_low < 0) & (at_high > 0)
    middle = np.where(at_low >= 0, low, high)
    for _ in range(_REFINEMENTS):
        guess = high - at_high * (high - low) / np.where(at_high == at_low, 1.0, at_high - at_low)
        middle = np.where(inside, guess, middle)
        shape, _, _, slope = _profile(gaps, least - np.exp(middle), shape)
        same_side = (slope > 0) == (at_high > 0)
        low, at_low = (
            np.where(same_side, low, high),
            np.where(same_side, at_low / 2, at_high),
        )
        high, at_high = middle, slope
        if (~inside | (np.abs(high - low) < _SEARCHED) | (slope == 0)).all():
            break
    return np.exp(middle)


def _profile(
    gaps: FloatArray, location: FloatArray, start: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Shape, ln scale, mean log-likelihood and its slope with respect to the location."""
    shifted = gaps - location[:, None]
    logs = np.log(shifted)
    shape, log_scale = _shape_and_log_scale(logs, start)
    height = np.log(shape) - shape * log_scale + (shape - 1) * logs.mean(axis=1) - 1
    inverse = 1 / shifted
    powers = np.exp(shape[:, None] * (logs - log_scale[:, None]))
    slope = shape * (powers * inverse).mean(axis=1) - (shape - 1) * inverse.mean(axis=1)
    return shape, log_scale, height, slope


def _shifted_tails(gaps: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    location = parameters[:, 2, None]
    return _weibull_tails(np.maximum(gaps - location, 0.0), parameters[:, :2])


def _shifted_quantile(chances: FloatArray, parameters: FloatArray) -> FloatArray:
    return parameters[:, 2, None] + _weibull_quantile(chances, parameters[:, :2])


def _shifted_powers(_gaps: FloatArray, parameters: FloatArray) -> FloatArray:
    """A lower end is approached as n^(-1/shape) where the shape is below 2 (Smith 1985)."""
    return np.array([0.5, 0.5, max(0.5, 1 / float(parameters[0]))])


def _shifted_remarks(gaps: FloatArray, parameters: FloatArray) -> tuple[str, ...]:
    shape, _scale, location = parameters.tolist()
    if location == 0:
        return ("its location is 0, as that of weibull",)
    if gaps[0] - location <= 1.001 * float(least_offset(gaps[None, :])[0]):
        unbounded = "its likelihood has no bound" if shape < 1 else "its likelihood has no maximum"
        return (f"{unbounded} near the least gap; the location is kept (mean - least)/n below it",)
    return ()


EXPONENTIAL = Family(
    "exponential", (Parameter("mean", "gap"),), _fit_exponential, _exponential_tails, _exponential_quantile
)
WEIBULL = Family(
    "weibull",
    (Parameter("shape"), Parameter("scale", "gap")),
    _fit_weibull,
    _weibull_tails,
    _weibull_quantile,
)
WEIBULL_3 = Family(
    "weibull-3",
    (Parameter("shape"), Parameter("scale", "gap"), Parameter("location", "gap")),
    _fit_shifted,
    _shifted_tails,
    _shifted_quantile,
    irregular=_shifted_powers,
    remarks=_shifted_remarks,
)
