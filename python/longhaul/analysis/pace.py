"""How much longer runs take, from those that are done: a mean, and a range that narrows as more end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from longhaul.analysis.estimates import estimate

BATCHES = 10
"""Into which what is done is divided; their scatter is that of the rest."""


@dataclass(frozen=True)
class TimeLeft:
    """Seconds."""

    mean_s: float
    low_s: float
    high_s: float
    """Both are the mean's 95 % interval; equal to it before anything is known of the scatter."""


@dataclass
class Pace:
    """Is told when runs end."""

    ended: list[tuple[float, int]] = field(default_factory=list)
    """Seconds since the begin, and how many runs ended then."""

    def done(self, runs: int, *, at_s: float) -> None:
        """So many runs ended at this time."""
        self.ended.append((at_s, runs))

    def left(self, runs: int) -> TimeLeft | None:
        """How long so many more take; ``None`` before any has ended."""
        if not self.ended:
            return None
        last_s = self.ended[-1][0]
        mean_s = runs * last_s / sum(count for _at_s, count in self.ended)
        batches = _batches(self.ended)
        half = estimate(batches).half_width or 0.0
        share = half / (sum(batches) / len(batches)) if half else 0.0
        return TimeLeft(mean_s, max(mean_s * (1 - share), 0.0), mean_s * (1 + share))


def _batches(ended: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds per run in consecutive parts of what is done, each of about as many endings."""
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
    low, high = _rounded(left.low_s), _rounded(left.high_s)
    if low == high:
        return f"{high} left"
    unit = f" {high.rpartition(' ')[2]}"
    return f"{low.removesuffix(unit)} to {high} left"


def _rounded(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
