"""Means over repetitions with their confidence intervals; every interval that Longhaul shows comes from here.

Repetitions whose results are equal bit by bit (equal digests) are one run: chance had no part in them, and
counting them again would make an interval out of nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Digests = Sequence[str | None]
"""The digest of each repetition's results; ``None`` for a live run, which never happens twice."""

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over the repetitions of a group."""

    mean: float
    half_width: float | None
    """Of the mean's confidence interval (Student's t); ``None`` for one run, or if no repetition differs."""
    runs: int
    """Independent runs: repetitions with equal digests count once."""
    repeats: int
    """Repetitions that were made."""
    variance: float
    """Of the values, with Bessel's correction; 0 for a single one."""


def runs_text(runs: int, repeats: int) -> str:
    """``5``, ``2 of 5`` where some repetitions are equal, ``deterministic, n = 1`` where all are."""
    if repeats > 1 and runs == 1:
        return "deterministic, n = 1"
    return str(runs) if runs == repeats else f"{runs} of {repeats}"


@dataclass(frozen=True)
class Estimates:
    """The columns of many estimates, one group after another."""

    mean: Array
    half_width: Array
    """NaN where an :class:`Estimate` has ``None``."""
    variance: Array
    least: Array
    most: Array
    runs: Array
    repeats: Array


def estimate(values: Sequence[float], digests: Digests | None = None) -> Estimate:
    """Mean and confidence interval of a group's values; without ``digests`` each is a run of its own."""
    numbers = np.asarray(values, dtype=float)
    results = np.arange(len(numbers)) if digests is None else number_results(digests)
    found = estimate_groups(np.zeros(len(numbers), np.int64), numbers, results, count=1)
    half = float(found.half_width[0])
    return Estimate(
        float(found.mean[0]),
        None if np.isnan(half) else half,
        int(found.runs[0]),
        int(found.repeats[0]),
        float(found.variance[0]),
    )


def number_results(digests: Digests) -> Array:
    """A number for each repetition, the same for equal digests; live runs each have one of their own."""
    numbers: dict[str | int, int] = {}
    keys = (place if each is None else each for place, each in enumerate(digests))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def estimate_groups(groups: Array, values: Array, results: Array, *, count: int) -> Estimates:
    """The estimate of each of ``count`` groups; none of them is empty.

    ``groups`` has the group of each value, from 0, and ``results`` what :func:`number_results` numbered.
    The mean is over all repetitions, so that results which occur more often weigh more; the interval's
    degrees of freedom and its width are those of the results that differ.
    """
    from scipy.special import stdtrit  # scipy.stats has the same, and takes a second to load

    repeats = np.bincount(groups, minlength=count)
    least, most = np.full(count, inf), np.full(count, -inf)
    np.minimum.at(least, groups, values)
    np.maximum.at(most, groups, values)
    mean = np.clip(_exact_sums(groups, values, count=count) / repeats, least, most)
    squares = _exact_sums(groups, (values - mean[groups]) ** 2, count=count)
    variance = squares / np.maximum(repeats - 1, 1)
    distinct = np.unique(np.stack([groups, results]), axis=1)
    runs = np.bincount(distinct[0], minlength=count)
    quantile = stdtrit(np.maximum(runs - 1, 1), (1 + CONFIDENCE) / 2)
    half_width = np.where((runs > 1) & (most > least), quantile * np.sqrt(variance / runs), np.nan)
    return Estimates(mean, half_width, variance, least, most, runs, repeats)


def _exact_sums(groups: Array, values: Array, *, count: int) -> Array:
    """The sum of each group, rounded once, so that it does not depend on the order of the values."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(np.bincount(groups, minlength=count))[:-1]
    return np.array([fsum(part.tolist()) for part in np.split(values[order], ends)])


def difference_half_width(first: Estimate, last: Estimate) -> float | None:
    """Half of the interval of the difference of two means with unequal variances (Welch 1947).

    ``None`` if one of them is of a single run.
    """
    if min(first.runs, last.runs) < 2:
        return None
    parts = [each.variance / each.runs for each in (first, last)]
    total = sum(parts)
    if total == 0:
        return 0.0
    # As shares of the total, whose squares do not vanish however small it is.
    freedom = 1 / sum(
        (part / total) ** 2 / (each.runs - 1) for part, each in zip(parts, (first, last), strict=True)
    )
    return _t(freedom) * sqrt(total)


def _t(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) if freedom > 0 else inf
