"""Of many metrics of two groups of runs, which tell them apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from longhaul.analysis.comparing import Row

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
