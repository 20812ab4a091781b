"""The laws of a direction in the plan's words: integers in ns, bit/s and bytes."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from longhaul.scenario.model import Delay, Laws, QueueLimit
from longhaul.scenario.model.link import BlockLoss, GilbertElliottLoss, IndependentLoss, UniformJitter
from longhaul.scenario.units import Rate, Share

Plain = dict[str, Any]

ETHERNET_FRAMING = 38
"""Preamble 8, header 14, FCS 4, inter-frame gap 12 (IEEE 802.3, clauses 3 and 4)."""
SHORTEST_QUEUE_NS = 10 * 10**6
SHORTEST_QUEUE_PACKETS = 16

LAWS = ("up", "delay", "rate", "loss", "queue", "out_of_order", "duplicate", "count")


def merge(layers: Iterable[Laws | None]) -> Plain:
    """Laws by name, each from the last layer that speaks of it."""
    merged: Plain = {}
    for layer in layers:
        if layer is not None:
            merged |= {name: value for name in LAWS if (value := getattr(layer, name)) is not None}
    return merged


def mean_ns(delay: Delay | None) -> int:
    """The mean one-way delay, which routes and BDPs are computed from."""
    return delay.base.ns if delay else 0


def plan_mean_ns(delay: Mapping[str, Any]) -> int:
    """The same of a delay in the plan."""
    return int(delay["delay_ns"] if delay["law"] == "constant" else delay["mean_ns"])


def plan_delay(delay: Delay | None) -> Plain:
    """A delay law of the plan."""
    base = mean_ns(delay)
    jitter = delay.jitter if delay else None
    if isinstance(jitter, UniformJitter) and jitter.half_width.ns:
        return {"law": "uniform", "mean_ns": base, "half_width_ns": jitter.half_width.ns}
    if jitter and not isinstance(jitter, UniformJitter) and jitter.sd.ns:
        return {"law": "normal", "mean_ns": base, "sd_ns": jitter.sd.ns}
    return {"law": "constant", "delay_ns": base}


def plan_loss(loss: Any) -> Plain:
    """A loss law of the plan."""
    if isinstance(loss, IndependentLoss) and loss.mean.share:
        return {"law": "independent", "probability": float(loss.mean)}
    if isinstance(loss, BlockLoss):
        return {"law": "one-per-block", "block": loss.packets}
    if isinstance(loss, GilbertElliottLoss) and loss.mean.share:
        return {"law": "gilbert-elliott", "mean": float(loss.mean), "burst": loss.burst}
    return {"law": "none"}


def plan_rate(rate: Rate | None) -> Plain:
    """A rate law of the plan."""
    return {"law": "constant", "bits_per_s": rate.bits_per_s} if rate else {"law": "unlimited"}


def bdp_bytes(bits_per_s: int, round_trip_ns: int) -> int:
    """The bandwidth-delay product, rounded up."""
    return -(-bits_per_s * round_trip_ns // (8 * 10**9))


def plan_queue(limit: QueueLimit, *, bits_per_s: int | None, round_trip_ns: int) -> Plain | None:
    """A queue of the plan; ``None`` if the limit needs a rate that is not there.

    Times and BDPs become bytes, rounded up.
    """
    if limit.packets is not None:
        return {"limit_packets": limit.packets, "limit_bytes": None}
    if limit.bytes is not None:
        return {"limit_packets": None, "limit_bytes": limit.bytes}
    if bits_per_s is None:
        return None
    if limit.ns is not None:
        return {"limit_packets": None, "limit_bytes": bdp_bytes(bits_per_s, limit.ns)}
    scaled = Fraction(limit.bdp or 1) * bits_per_s * round_trip_ns / (8 * 10**9)
    return {"limit_packets": None, "limit_bytes": -(-scaled.numerator // scaled.denominator)}


def default_queue(*, bits_per_s: int | None, round_trip_ns: int, mtu: int) -> Plain:
    """What a direction without a queue of its own gets: finite wherever something can wait.

    The largest of one BDP, 10 ms at the rate, and 16 full packets.
    """
    if bits_per_s is None:
        return {"limit_packets": None, "limit_bytes": None}
    limit = max(
        bdp_bytes(bits_per_s, round_trip_ns),
        bdp_bytes(bits_per_s, SHORTEST_QUEUE_NS),
        SHORTEST_QUEUE_PACKETS * mtu,
    )
    return {"limit_packets": None, "limit_bytes": limit}


def plan_direction(laws: Mapping[str, Any], *, queue: Plain) -> Plain:
    """A direction of the plan. ``laws`` are merged."""
    delay: Delay | None = laws.get("delay")
    duplicate: Share | None = laws.get("duplicate")
    late = laws.get("out_of_order")
    return {
        "up": laws.get("up", True),
        "loss": plan_loss(laws.get("loss")),
        "queue": queue,
        "rate": plan_rate(laws.get("rate")),
        "framing_bytes": ETHERNET_FRAMING if laws.get("count") == "ethernet" else 0,
        "delay": plan_delay(delay),
        "reorder": bool(delay and delay.reorder),
        "out_of_order": {"block": late.every, "delay_ns": late.delay.ns} if late else None,
        "duplicate": float(duplicate) if duplicate else 0.0,
    }
