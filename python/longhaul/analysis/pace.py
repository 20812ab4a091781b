"""Estimated time of the remaining runs of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from longhaul.analysis.estimates import estimate
from longhaul.units.text import duration_range_text

BATCHES = 10
"""Into which the ended runs are divided; the scatter of these gives the interval."""


@dataclass(frozen=True)
class TimeLeft:
    """The 95 % confidence interval of the time left; of no width before the scatter is known."""

    low_s: float
    high_s: float


@dataclass
class Pace:
    """When runs ended, and how long the remaining ones take at that rate."""

    ended: list[tuple[float, int]] = field(default_factory=list)
    """Seconds since the start, and how many runs ended then."""

    def done(self, runs: int, *, at_s: float) -> None:
        """Record that ``runs`` runs ended at ``at_s``."""
        self.ended.append((at_s, runs))

    def left(self, runs: int) -> TimeLeft | None:
        """How long ``runs`` more take; ``None`` before any has ended."""
        if not self.ended:
            return None
        last_s = self.ended[-1][0]
        mean_s = runs * last_s / sum(count for _at_s, count in self.ended)
        batches = _batches(self.ended)
        half = estimate(batches).half_width or 0.0
        share = half / (sum(batches) / len(batches)) if half else 0.0
        return TimeLeft(max(0.0, mean_s * (1 - share)), mean_s * (1 + share))


def _batches(ended: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds per run in consecutive batches of ended runs, each of about the same size."""
    count = min(BATCHES, len(ended) // 2)
    if count < 2:
        return [ended[-1][0] / sum(runs for _at_s, runs in ended)]
    edges = [len(ended) * place // count for place in range(count + 1)]
    found = []
    for low, high in pairwise(edges):
        began_s = ended[low - 1][0] if low else 0.0
        found.append((ended[high - 1][0] - began_s) / sum(runs for _at_s, runs in ended[low:high]))
    return found


def left_text(left: TimeLeft | None) -> str:
    """``20 to 35 s left``."""
    if left is None:
        return ""
    return f"{duration_range_text(left.low_s, left.high_s)} left"
