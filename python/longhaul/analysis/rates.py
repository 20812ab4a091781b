"""Throughput and utilisation of a direction of a link, and its rates."""

from typing import Any

import numpy as np

from longhaul.analysis.configuration import Configuration, Steps, planned
from longhaul.plan import Plan, Way

Array = np.ndarray[Any, Any]


def steps(plan: Plan, link: int, way: Way) -> Steps:
    """From which ns on the direction had which bit/s (``None``: unlimited), those of its routes together.

    As the plan's events change them: of a run that has recorded its changes, ask its configuration.
    """
    return Configuration(plan, planned(plan)).rates(link, way)


def capacity_bits(rates: Steps, from_ns: Array, to_ns: Array) -> Array:
    """Bits that fit between two times, for each pair of them; NaN where the rate was unlimited."""
    ends = [at_ns for at_ns, _rate in rates[1:]] + [np.iinfo(np.int64).max]
    total = np.zeros(len(from_ns))
    for (start_ns, rate), end_ns in zip(rates, ends, strict=True):
        overlap_ns = np.minimum(to_ns, end_ns) - np.maximum(from_ns, start_ns)
        bits = np.nan if rate is None else overlap_ns * (rate / 1e9)
        total += np.where(overlap_ns > 0, bits, 0.0)
    return total


def bits_at_constant_rates(rates: Array, starts_ns: Array, from_ns: Array, to_ns: Array) -> Array:
    """The same for many directions at once, each with one rate from its start on; NaN: unlimited."""
    overlap_ns = to_ns - np.maximum(from_ns, starts_ns)
    return np.where(overlap_ns > 0, overlap_ns * (rates / 1e9), 0.0)


def rate_at(rates: Steps, t_ns: Array) -> Array:
    """The rate in bit/s at each of some times; NaN where it is unlimited."""
    begins = [at_ns for at_ns, _rate in rates]
    values = np.array([np.nan if rate is None else rate for _at_ns, rate in rates], dtype=float)
    found: Array = values[np.searchsorted(begins, t_ns, side="right") - 1]
    return found


def queueing_delay_ns(queue_bytes: Array, bits_per_s: Array) -> Array:
    """What a packet that arrives now would wait behind ``queue_bytes``; NaN without a rate."""
    found: Array = queue_bytes * 8e9 / bits_per_s
    return found


def throughput(wire_bytes: Array, from_ns: Array, to_ns: Array) -> Array:
    """Throughput in bit/s: bytes whose transmission began between two times, over the time between them.

    ``wire_bytes`` are those that the rate counts: of IP, and with ``count`` also of the framing. Throughput
    over the rate is the utilisation, since both count the same bytes at the same place and time.
    """
    found: Array = wire_bytes * 8e9 / (to_ns - from_ns)
    return found


def utilisation(rates: Steps, wire_bytes: Array, from_ns: Array, to_ns: Array) -> Array:
    """Utilisation: throughput as a share of the mean rate between two times; NaN without a rate.

    A packet counts when its first bit leaves, so an interval shorter than a packet may show more than 1.
    """
    return share_of(capacity_bits(rates, from_ns, to_ns), wire_bytes)


def share_of(bits: Array, wire_bytes: Array) -> Array:
    """Bytes as a share of the ``bits`` that would have fitted; NaN where none would."""
    found: Array = wire_bytes * 8 / np.where(bits > 0, bits, np.nan)
    return found
