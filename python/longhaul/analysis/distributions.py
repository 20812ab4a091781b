"""Distributions of times in results, in ns.

Count, mean, quantiles, maximum, and points of the distribution function: each a value with the share of
values that are not above it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import ceil
from typing import Any

Distribution = Mapping[str, Any]

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
STEP = 0.005
"""Least increase of the share between two points that are kept; the last 1 % is kept finer."""


def distribution(counted: Mapping[int, int], *, mean_ns: float | None = None) -> dict[str, Any]:
    """Of values with how often each occurred; the mean too, where the values are rounded."""
    values = sorted(counted)
    seen = list(accumulate(counted[value] for value in values))
    count = seen[-1] if seen else 0
    total = sum(value * times for value, times in counted.items())

    def quantile(share: float) -> int:
        rank = max(ceil(share * count), 1)
        return next((value for value, up_to in zip(values, seen, strict=True) if up_to >= rank), 0)

    return {
        "count": count,
        "mean_ns": mean_ns if mean_ns is not None else total / max(count, 1),
        **{f"{name}_ns": quantile(share) for name, share in QUANTILES.items()},
        "max_ns": values[-1] if values else 0,
        "cdf": [[value, up_to / count] for value, up_to in zip(values, seen, strict=True)],
    }


def merged(each: Iterable[Distribution]) -> dict[str, Any]:
    """All values of several distributions together."""
    known = [one for one in each if one["count"]]
    if len(known) == 1:
        return dict(known[0])
    counted: dict[int, int] = {}
    for one in known:
        before = 0
        for value, share in one["cdf"]:
            up_to = round(share * one["count"])
            counted[value] = counted.get(value, 0) + up_to - before
            before = up_to
    count = sum(one["count"] for one in known)
    mean_ns = sum(one["mean_ns"] * one["count"] for one in known) / max(count, 1)
    return distribution(counted, mean_ns=mean_ns)


def thinned(one: Distribution) -> dict[str, Any]:
    """The same with as many points as a figure can show."""
    return {**one, "cdf": _few(one["cdf"])}


def _few(points: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    few = []
    kept, fine = -1.0, STEP
    for point in points[:-1]:
        share = point[1]
        if share - kept >= fine:
            few.append(point)
            kept, fine = share, min(STEP, (1 - share) / 4)
    return [*few, *points[-1:]]
