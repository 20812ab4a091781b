"""Distributions that several engines measured, as one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_QUANTILES = (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p999_ns", 0.999))


def counts_of(found: Mapping[str, Any]) -> Counter[int]:
    """How many values a distribution has by their size in ns, from its distribution function."""
    counts: Counter[int] = Counter()
    before = 0
    for ns, share in found["cdf"]:
        seen = round(share * found["count"])
        counts[ns] += seen - before
        before = seen
    return counts


def merged(every: Sequence[Mapping[str, Any]]) -> Json:
    """All values of some distributions, with the same keys; the largest value stays exact."""
    if len(every) == 1:
        return dict(every[0])
    counts: Counter[int] = Counter()
    for each in every:
        counts += counts_of(each)
    count = sum(each["count"] for each in every)
    seen, cdf = 0, []
    for ns in sorted(counts):
        seen += counts[ns]
        cdf.append([ns, seen / max(count, 1)])
    return {
        "count": count,
        "mean_ns": sum(each["mean_ns"] * each["count"] for each in every) / max(count, 1),
        **{name: _quantile(cdf, share) for name, share in _QUANTILES},
        "max_ns": max((each["max_ns"] for each in every), default=0),
        "cdf": cdf,
    }


def _quantile(cdf: Sequence[Sequence[float]], share: float) -> int:
    # A share of 0.99 of 100 values is the 99th, though 99 / 100 may be a little less in binary.
    return next((int(ns) for ns, below in cdf if below >= share - 1e-12), 0)
