"""Groups of runs side by side: means, confidence intervals, differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from longhaul.analysis.estimates import Digests, Estimate, difference_half_width, estimate
from longhaul.scenario.metrics import matching_metrics

Metrics = Mapping[str, float | str | None]


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
    groups: Sequence[Sequence[Metrics]],
    patterns: Iterable[str] = ("*",),
    *,
    digests: Sequence[Digests] | None = None,
) -> list[Row]:
    """Each metric that every group has and that is a number in all its runs.

    ``groups`` has, for each group, the metrics of its runs, and ``digests`` those of their results, if any is
    simulated. ``patterns`` are those of :func:`matching_metrics`.
    """
    results = digests or [[None] * len(group) for group in groups]
    names = dict.fromkeys(name for group in groups for run in group for name in run)
    found = {name for pattern in patterns for name in matching_metrics(pattern, names)}
    wanted = [name for name in names if name in found]
    return [row for name in wanted if (row := _row(name, groups, results)) is not None]


def _row(metric: str, groups: Sequence[Sequence[Metrics]], digests: Sequence[Digests]) -> Row | None:
    values = [[run.get(metric) for run in group] for group in groups]
    numbers = [
        [float(value) for value in group if isinstance(value, int | float) and not isinstance(value, bool)]
        for group in values
    ]
    if any(len(found) != len(group) or not found for found, group in zip(numbers, values, strict=True)):
        return None
    estimates = tuple(estimate(group, each) for group, each in zip(numbers, digests, strict=True))
    first, last = estimates[0], estimates[-1]
    return Row(metric, estimates, last.mean - first.mean, difference_half_width(first, last))
