"""Transfers of a given volume: the longest time, and the utilisation of the bottleneck.

The objectives of a transport service that schedules transfers (docs/models/measures.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Transfer:
    """One transfer that has ended."""

    start_s: float
    end_s: float
    bytes: float

    @property
    def bits_per_s(self) -> float:
        """Its mean rate; the rate it was scheduled at, if it kept to it."""
        return self.bytes * 8 / (self.end_s - self.start_s)


def f1_s(transfers: Sequence[Transfer]) -> float:
    """How long the longest transfer took; the less, the better."""
    return max(each.end_s - each.start_s for each in transfers)


def f2_literal(transfers: Sequence[Transfer], ingress_bits_per_s: float) -> float:
    """Sum of the mean rates over the rate of the way in, whether or not they were there at one time.

    It is more than 1 for transfers one after the other.
    """
    return sum(each.bits_per_s for each in transfers) / ingress_bits_per_s


def f2(transfers: Sequence[Transfer], ingress_bits_per_s: float) -> float:
    """All bits over what the way in carries from the first start to the last end: at most 1."""
    begun, ended = min(each.start_s for each in transfers), max(each.end_s for each in transfers)
    return sum(each.bytes for each in transfers) * 8 / (ingress_bits_per_s * (ended - begun))


def summarise_transfers(
    flows: Sequence[Mapping[str, Any]], ingress_bits_per_s: float | None
) -> dict[str, Any] | None:
    """The objectives over all TCP flows; ``None`` unless each has a volume.

    They are ``None`` in it while a transfer has not ended; f2 also without ``ingress_bits_per_s``, the least
    rate that all of them share.
    """
    bulk = [flow for flow in flows if flow["kind"] == "tcp"]
    if not bulk or not all(flow.get("volume_bytes") for flow in bulk):
        return None
    ended = [
        Transfer(flow["start_ns"] / 1e9, flow["end_ns"] / 1e9, flow["bytes"])
        for flow in bulk
        if flow["end_ns"] is not None and flow["end_ns"] > flow["start_ns"]
    ]
    whole = len(ended) == len(bulk)
    rate = ingress_bits_per_s if whole else None
    return {
        "transfers": len(bulk),
        "ended": len(ended),
        "ingress_bits_per_s": ingress_bits_per_s,
        "f1_ns": round(f1_s(ended) * 1e9) if whole else None,
        "f2": f2(ended, rate) if rate else None,
        "f2_literal": f2_literal(ended, rate) if rate else None,
    }
