"""Fairness of flows: Jain's index."""

from collections.abc import Mapping, Sequence
from typing import Any


def jain(rates: Sequence[float]) -> float | None:
    """Jain's index: 1 if all are equal, 1/n if one has everything; ``None`` without traffic.

    R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984).
    """
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else None


def fairness(flows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Jain's index over all streams of all TCP flows; ``None`` for fewer than two, or without traffic."""
    rates = [rate for flow in flows if flow["kind"] == "tcp" for rate in flow.get("stream_rates") or ()]
    index = jain(rates) if len(rates) > 1 else None
    return None if index is None else {"jain": index, "streams": len(rates)}
