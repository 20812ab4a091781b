"""Totals over all flows of a run."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]


def total_goodput(flows: Sequence[Json]) -> float | None:
    """The sum of the goodputs of all flows, each over its own time; ``None`` if none has one."""
    found = [each["goodput_bits_per_s"] for each in flows if each.get("goodput_bits_per_s") is not None]
    return sum(found) if found else None


def totals(flows: Sequence[Json]) -> dict[str, Any] | None:
    """The total goodput and the number of its flows; ``None`` for less than two flows."""
    goodput = total_goodput(flows) if len(flows) > 1 else None
    return None if goodput is None else {"goodput_bits_per_s": goodput, "flows": len(flows)}
