"""Comparison of groups of runs: means, confidence intervals, differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from longhaul.analysis.estimates import Digests, Estimate, difference_half_width, estimate
from longhaul.scenario.model.metrics import matching_metrics

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


_NEGLIGIBLE = 1e-6
"""Relative differences that rounding makes."""


@dataclass(frozen=True)
class Contrast:
    """Two groups, metric by metric. Every metric is in exactly one of the lists."""

    certain: tuple[Row, ...]
    """Statistically significant differences (95 %): the metrics named first, then by size."""
    open: tuple[Row, ...]
    """Differ, and nothing says whether by chance: a group has a single run. In the same order."""
    same: tuple[Row, ...]
    """Without a statistically significant difference."""

    @property
    def judged(self) -> int:
        """How many of them have an interval of their difference."""
        return sum(row.difference_half_width is not None for row in (*self.certain, *self.same))

    @property
    def count(self) -> int:
        """How many metrics were compared."""
        return len(self.certain) + len(self.open) + len(self.same)


def contrast(rows: Sequence[Row], *, first: Sequence[str] = ()) -> Contrast:
    """``rows`` by what they say; metrics named in ``first`` stand before others that say the same."""
    preferred = frozenset(first)

    def order(row: Row) -> tuple[bool, float, str]:
        return row.metric not in preferred, -relative(row), row.metric

    ordered = sorted(rows, key=order)
    moved = [row for row in ordered if relative(row) > _NEGLIGIBLE]
    certain = tuple(row for row in moved if row.differs)
    unknown = tuple(row for row in moved if row.differs is None)
    known = {row.metric for row in (*certain, *unknown)}
    return Contrast(certain, unknown, tuple(row for row in ordered if row.metric not in known))


def relative(row: Row) -> float:
    """The size of the difference as a share of the first group's mean; infinite if that is 0."""
    first = row.estimates[0]
    if row.difference is None or first is None or row.difference == 0:
        return 0.0
    return abs(row.difference / first.mean) if first.mean else inf


Simulated = tuple[int, str]
"""The seed of a run that can be repeated, and the digest of its results."""


def simulated(run: Mapping[str, Any], summary: Mapping[str, Any]) -> Simulated | None:
    """Of ``run.json`` and ``summary.json``; ``None`` for a run on the real clock, never repeated."""
    equal = digest(summary)
    return None if equal is None else (int(run["seed"]), equal)


def digest(summary: Mapping[str, Any]) -> str | None:
    """The digest of results that equal runs repeat: of a simulation, or of a run on the virtual clock.

    ``None`` for a run on the real clock, and where computing took measured time.
    """
    found = (summary.get("simulation") or {}).get("digest")
    clock = summary.get("virtual_clock")
    if found is None and clock is not None and clock.get("cpu_speed") is None:
        found = clock["digest"]
    return None if found is None else str(found)


def independent(runs: Sequence[Simulated | None]) -> list[int]:
    """Positions of runs that are repetitions of one another: those on the real clock, and each other once.

    Equal seeds with equal results are one run, however often it was made. Equal results of different
    seeds are repetitions, which :func:`longhaul.analysis.estimates.estimate` counts once.
    """
    first = {run: place for place, run in reversed(list(enumerate(runs)))}
    return [place for place, run in enumerate(runs) if run is None or first[run] == place]
