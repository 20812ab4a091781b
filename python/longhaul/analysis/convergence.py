"""Convergence of flows: times to share evenly, to use free capacity and to yield, from their rates.

RFC 5166 names the measures; draft-irtf-iccrg-tcpeval-01 applies them. A :class:`Series` has the mean rates of
intervals that follow one another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

DELTA = 0.2
"""How far shares may be from equal, as a share of the fair one, to count as converged."""


@dataclass(frozen=True)
class Series:
    """Rates of one flow: ``bits_per_s[i]`` is the mean from the end before to ``ends_s[i]``."""

    ends_s: Array
    spans_s: Array
    bits_per_s: Array

    def bits(self, from_s: float, to_s: float) -> float:
        """What passed between two times; an interval that is cut counts in proportion."""
        begins = self.ends_s - self.spans_s
        overlap = np.minimum(self.ends_s, to_s) - np.maximum(begins, from_s)
        return float(np.sum(np.clip(overlap, 0, None) * self.bits_per_s))

    def mean(self, from_s: float, to_s: float) -> float:
        """The mean rate between two times."""
        return self.bits(from_s, to_s) / (to_s - from_s)

    def binned(self, from_s: float, to_s: float, bin_s: float) -> Array:
        """Mean rates of the whole bins of ``bin_s`` between two times."""
        count = int((to_s - from_s) / bin_s + 1e-9)
        edges = from_s + bin_s * np.arange(count + 1)
        return np.array([self.mean(low, high) for low, high in pairwise(edges)])


def variation(rates: Sequence[float] | Array) -> float | None:
    """Standard deviation over mean, of at least two rates; ``None`` without traffic (RFC 5166, 2.2)."""
    values = np.asarray(rates, dtype=float)
    if len(values) < 2 or values.mean() <= 0:
        return None
    return float(values.std(ddof=1) / values.mean())


def time_until(
    series: Series, level_bits_per_s: float, *, after_s: float, until_s: float, bin_s: float
) -> float | None:
    """Seconds from ``after_s`` to the end of the first bin whose mean reaches the level.

    ``None`` if it does not until ``until_s``. The answer is a whole number of bins.
    """
    reached = np.flatnonzero(series.binned(after_s, until_s, bin_s) >= level_bits_per_s)
    return float((reached[0] + 1) * bin_s) if len(reached) else None


def time_until_bytes(series: Series, size_bytes: float, *, after_s: float, until_s: float) -> float | None:
    """Seconds from ``after_s`` until so many bytes have passed, interpolated; ``None`` if they have not."""
    begins = np.maximum(series.ends_s - series.spans_s, after_s)
    ends = np.minimum(series.ends_s, until_s)
    kept = ends > begins
    begins, ends, rates = begins[kept], ends[kept], series.bits_per_s[kept]
    passed = np.cumsum((ends - begins) * rates)
    place = int(np.searchsorted(passed, size_bytes * 8 * (1 - 1e-12)))
    if place >= len(passed):
        return None
    missing = size_bytes * 8 - (passed[place - 1] if place else 0.0)
    return float(begins[place] + missing / rates[place] - after_s)


def convergence_time(
    flows: Sequence[Series],
    *,
    after_s: float,
    until_s: float,
    bin_s: float,
    hold_s: float,
    delta: float = DELTA,
) -> float | None:
    """The delta-fair convergence time: seconds until every flow has its fair share, give or take ``delta``.

    The fair share is what all flows have together in a bin, divided by their number. It must hold for
    ``hold_s``, and the time counts to the start of that. ``None`` if it does not happen until ``until_s``.
    """
    rates = np.stack([flow.binned(after_s, until_s, bin_s) for flow in flows])
    fair = rates.mean(axis=0)
    near = (fair > 0) & np.all(np.abs(rates - fair) <= delta * fair * (1 + 1e-9), axis=0)
    needed = max(1, round(hold_s / bin_s))
    run = 0
    for place, good in enumerate(near):
        run = run + 1 if good else 0
        if run == needed:
            return float((place + 1 - needed) * bin_s)
    return None


def share_ratio(first: float, second: float) -> float | None:
    """The smaller of two rates over the larger: 1 if they are equal, 0 if one has nothing."""
    larger = max(first, second)
    return min(first, second) / larger if larger > 0 else None
