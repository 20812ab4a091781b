"""Rates that a direction of a link had, and how much of them was used."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from longhaul.scenario.laws import rate_of_law

Array = np.ndarray[Any, Any]
Steps = list[tuple[int, int | None]]


def steps(plan: Mapping[str, Any], link: int, way: str) -> Steps:
    """From which ns on the direction had which bit/s (``None``: unlimited), those of its routes together.

    A rate that a trace moves counts with its mean. That the link is down does not change its rate.
    """
    direction = plan["links"][link][way]
    routes = direction["bundle"]["routes"] if direction.get("bundle") else [direction]
    lanes = [rate_of_law(route["rate"]) for route in routes]
    found: Steps = [(0, _together(lanes))]
    for event in plan["events"]:
        law = event["change"]["rate"]
        if event["link"] != link or event["direction"] not in (None, way) or not law:
            continue
        for lane in range(len(lanes)):
            if event.get("route") in (None, lane):
                lanes[lane] = rate_of_law(law)
        found.append((event["at_ns"], _together(lanes)))
    return found


def capacity_bits(rates: Steps, from_ns: Array, to_ns: Array) -> Array:
    """Bits that fit between two times, for each pair of them; NaN where the rate was unlimited."""
    ends = [at_ns for at_ns, _rate in rates[1:]] + [np.iinfo(np.int64).max]
    total = np.zeros(len(from_ns))
    for (start_ns, rate), end_ns in zip(rates, ends, strict=True):
        overlap_ns = np.minimum(to_ns, end_ns) - np.maximum(from_ns, start_ns)
        bits = np.nan if rate is None else overlap_ns * (rate / 1e9)
        total += np.where(overlap_ns > 0, bits, 0.0)
    return total


def utilisation(rates: Steps, wire_bytes: Array, from_ns: Array, to_ns: Array) -> Array:
    """What was put on the wire between two times, as a share of what fits; NaN without a rate.

    A packet counts when its first bit leaves, so an interval shorter than a packet may show more than 1.
    """
    bits = capacity_bits(rates, from_ns, to_ns)
    return wire_bytes * 8 / np.where(bits > 0, bits, np.nan)


def _together(lanes: list[int | None]) -> int | None:
    known = [rate for rate in lanes if rate is not None]
    return sum(known) if len(known) == len(lanes) else None
