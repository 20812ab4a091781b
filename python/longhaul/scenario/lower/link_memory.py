"""Memory that the links of a scenario can hold: packets in queues and in transit."""

from collections.abc import Mapping
from typing import Any

from longhaul.plan import WAYS
from longhaul.scenario.lower.link_models import plan_mean_ns, rate_of_model
from longhaul.scenario.lower.resolve import Resolved


def held_bytes(resolved: Resolved) -> int:
    """The most that queues and wires of all links can hold together.

    It is not more than flows offer, where each of them has a rate or a volume.
    """
    plan = resolved.plan
    offered = None if plan["programs"] or resolved.jobs else _offered_bytes(resolved)
    held = sum(_held(link[way], link["mtu"], offered) for link in plan["links"] for way in WAYS)
    return held if offered is None else min(held, offered)


def _offered_bytes(resolved: Resolved) -> int | None:
    """What all flows may send together; ``None`` if one has no rate and no volume, or no end."""
    total = 0
    for flow in resolved.traffic:
        stop_ns = flow.get("stop_ns") or resolved.plan["duration_ns"]
        if flow["kind"] == "ping":
            continue
        if flow.get("bytes"):
            each = int(flow["bytes"])
        elif flow["kind"] == "udp" and stop_ns is not None and flow.get("rate_bits_per_s"):
            each = flow["rate_bits_per_s"] * max(0, stop_ns - (flow["start_ns"] or 0)) // (8 * 10**9)
        else:
            return None
        total += each * len(flow["destinations"]) * int(flow.get("count") or flow.get("flows") or 1)
    return total


def _held(direction: Mapping[str, Any], mtu: int, offered: int | None) -> int:
    routes = direction["bundle"]["routes"] if direction.get("bundle") else [direction]
    held = 0
    for route in routes:
        rate = rate_of_model(route["rate"])
        limits = (route["queue"]["limit_bytes"], (route["queue"]["limit_packets"] or 0) * mtu)
        queue = min((limit for limit in limits if limit), default=offered or 0)
        held += queue if rate is not None else 0
        held += (rate or 0) * plan_mean_ns(route["delay"]) // (8 * 10**9)
    return held
