"""Flows that share a bottleneck, and the share of each over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_LEAST_OVERLAP = 0.5
"""Of the shorter of two flows, from which on they ran together."""
_EDGE = 0.01
"""Of what a flow carries, at each end."""


def bottleneck(path: Sequence[tuple[int, str]], links: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """The link and way of ``path`` that was used most, for its rate; ``None`` if none has a rate.

    ``path`` has positions of links in the plan, ``links`` their summaries, two for each.
    """
    rows = [links[2 * link + (way == "reverse")] for link, way in path]
    limited = [row for row in rows if row["achieved"]["utilisation"] is not None]
    if not limited:
        return None
    found = max(limited, key=lambda row: row["achieved"]["utilisation"])
    return {"link": found["name"], "way": found["way"]}


def together(spans: Sequence[tuple[float, float]]) -> list[list[int]]:
    """Positions of spans of time in groups: two that overlap by half of the shorter are in one group."""
    groups: list[list[int]] = []
    for number, span in enumerate(spans):
        met = [group for group in groups if any(_overlap(span, spans[other]) for other in group)]
        groups = [group for group in groups if group not in met]
        groups.append(sorted([number, *(other for group in met for other in group)]))
    return sorted(groups)


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    shorter = min(one[1] - one[0], other[1] - other[0])
    common = min(one[1], other[1]) - max(one[0], other[0])
    return common > 0 and common >= _LEAST_OVERLAP * shorter


def carried_span(begin_s: Array, end_s: Array, bits_per_s: Array) -> tuple[float, float] | None:
    """From when to when a stream carried the middle 98 % of its bits; ``None`` without any.

    An early handshake and a late last packet do not count.
    """
    order = np.argsort(end_s, kind="stable")
    bits = np.cumsum((bits_per_s * (end_s - begin_s))[order])
    if not len(bits) or bits[-1] <= 0:
        return None
    first, last = np.searchsorted(bits, np.array([_EDGE, 1 - _EDGE]) * bits[-1])
    return float(begin_s[order][first]), float(end_s[order][last])


def rates_over(edges_s: Array, begin_s: Array, end_s: Array, bits_per_s: Array) -> Array:
    """The mean rate of one stream between each two neighbours of ``edges_s``.

    It has a rate in each of its intervals, and none between them. What it sent stays the same.
    """
    order = np.argsort(begin_s, kind="stable")
    begin_s, end_s, bits_per_s = begin_s[order], end_s[order], bits_per_s[order]
    bits = np.concatenate([[0.0], np.cumsum(bits_per_s * (end_s - begin_s))])
    times = np.column_stack([begin_s, end_s]).reshape(-1)
    sums = np.column_stack([bits[:-1], bits[1:]]).reshape(-1)
    found: Array = np.diff(np.interp(edges_s, times, sums)) / np.diff(edges_s)
    return found
