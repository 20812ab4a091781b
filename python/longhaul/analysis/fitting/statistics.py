"""Goodness-of-fit statistics: Anderson-Darling, Kolmogorov-Smirnov, chi-squared."""

from math import log2

import numpy as np

from longhaul.analysis.fitting.family import Family, FloatArray

STATISTICS = ("a2", "ks", "chi2")
"""The columns of what :func:`statistics` gives."""


def bins_for(count: int) -> int:
    """Intervals of equal chance that chi-squared counts gaps in: 1 + log2 n (Sturges, JASA 21, 1926, 65)."""
    return int(1 + log2(count))


def statistics(family: Family, gaps: FloatArray, parameters: FloatArray, bins: int) -> FloatArray:
    """A2, D and chi-squared of each row of ascending gaps; infinite where a gap is impossible.

    Where the least gap is a parameter, the others are tested: given the least, they are drawn from the
    same distribution.
    """
    tested = gaps[:, 1:] if family.least_is_a_parameter else gaps
    with np.errstate(all="ignore"):
        log_below, log_above = family.tails(tested, parameters)
        found = np.stack(
            (
                anderson_darling(log_below, log_above),
                kolmogorov_smirnov(log_below),
                chi_squared(log_below, bins),
            ),
            axis=1,
        )
    impossible = ~np.isfinite(found[:, :1])
    return np.where(impossible, np.array([np.inf, 1.0, np.inf]), found)


def anderson_darling(log_below: FloatArray, log_above: FloatArray) -> FloatArray:
    """A2 = -n - (1/n) sum (2i - 1) (ln F(x_i) + ln(1 - F(x_(n+1-i)))).

    T. W. Anderson, D. A. Darling, JASA 49 (1954) 765.
    """
    count = log_below.shape[1]
    odd = 2 * np.arange(1, count + 1, dtype=float) - 1
    return np.asarray(-count - ((log_below + log_above[:, ::-1]) @ odd) / count)


def kolmogorov_smirnov(log_below: FloatArray) -> FloatArray:
    """D: the largest distance of the two distribution functions."""
    count = log_below.shape[1]
    below = np.exp(log_below)
    steps = np.arange(count + 1, dtype=float) / count
    return np.asarray(np.maximum((steps[1:] - below).max(axis=1), (below - steps[:-1]).max(axis=1)))


def chi_squared(log_below: FloatArray, bins: int) -> FloatArray:
    """Sum of (observed - expected)^2 / expected over intervals of equal chance."""
    rows, count = log_below.shape
    place = np.nan_to_num(np.exp(log_below)) * bins
    place = np.minimum(place.astype(np.intp), bins - 1) + bins * np.arange(rows)[:, None]
    observed = np.bincount(place.ravel(), minlength=rows * bins).reshape(rows, bins)
    expected = count / bins
    return np.asarray(((observed - expected) ** 2).sum(axis=1) / expected)
