"""Groups of runs side by side: means, confidence intervals, differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import inf, sqrt
from statistics import mean, variance

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over the runs of a group."""

    mean: float
    half_width: float | None
    """Of the confidence interval of the mean (Student's t); ``None`` for a single run."""
    runs: int


@dataclass(frozen=True)
class Row:
    """One metric in every group."""

    metric: str
    estimates: tuple[Estimate | None, ...]
    """In the order of the groups; ``None`` where the metric is missing."""
    difference: float | None
    """Last group minus first, if both have the metric."""
    difference_half_width: float | None
    """Of its confidence interval (Welch); ``None`` if a group has a single run."""

    @property
    def differs(self) -> bool | None:
        """Whether the interval of the difference leaves out 0; ``None`` if it is not known."""
        if self.difference is None or self.difference_half_width is None:
            return None
        return abs(self.difference) > self.difference_half_width


def compare(
    groups: Sequence[Sequence[Mapping[str, float | str | None]]], patterns: Iterable[str] = ("*",)
) -> list[Row]:
    """Each metric that every group has and that is a number in all its runs.

    ``groups`` has, for each group, the metrics of its runs. ``patterns`` are those of file names.
    """
    names = dict.fromkeys(name for group in groups for run in group for name in run)
    wanted = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    return [row for name in wanted if (row := _row(name, groups)) is not None]


def _row(metric: str, groups: Sequence[Sequence[Mapping[str, float | str | None]]]) -> Row | None:
    values = [[run.get(metric) for run in group] for group in groups]
    numbers = [
        [float(value) for value in group if isinstance(value, int | float) and not isinstance(value, bool)]
        for group in values
    ]
    if any(len(found) != len(group) or not found for found, group in zip(numbers, values, strict=True)):
        return None
    estimates = tuple(estimate(group) for group in numbers)
    first, last = numbers[0], numbers[-1]
    return Row(metric, estimates, mean(last) - mean(first), welch_half_width(first, last))


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and confidence interval of independent values."""
    count = len(values)
    if count < 2:
        return Estimate(mean(values), None, count)
    return Estimate(mean(values), _t(count - 1) * sqrt(variance(values) / count), count)


def welch_half_width(first: Sequence[float], last: Sequence[float]) -> float | None:
    """Half of the interval of the difference of two means with unequal variances (Welch 1947)."""
    if min(len(first), len(last)) < 2:
        return None
    parts = [variance(group) / len(group) for group in (first, last)]
    total = sum(parts)
    if total == 0:
        return 0.0
    # As shares of the total, whose squares do not vanish however small it is.
    freedom = 1 / sum(
        (part / total) ** 2 / (len(group) - 1) for part, group in zip(parts, (first, last), strict=True)
    )
    return _t(freedom) * sqrt(total)


def _t(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, freedom)) if freedom > 0 else inf
