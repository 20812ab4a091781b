"""Whether a plan has anything random; if not, all seeds give the same run."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

from longhaul.plan import WAYS, Plan, Traffic

Json = Mapping[str, Any]

_FIXED: Mapping[str, frozenset[str]] = {
    "loss": frozenset({"none", "periodic"}),
    "delay": frozenset({"constant", "series", "ticks"}),
    "rate": frozenset({"unlimited", "constant", "paced", "token-bucket", "series", "opportunities"}),
    "queue": frozenset({"fifo", "head-drop", "codel", "priority"}),
    "reordering": frozenset({"none"}),
    "policy": frozenset({"round-robin", "vlan-block", "weighted", "least-queued"}),
}
"""Models that draw nothing; all others count as random."""
_DRAWING_CONTROLS = ("bbr", "cdg", "nv", "stochastic")
"""Beginnings of the names of congestion-control algorithms that draw."""


def is_random(plan: Plan, *, starts: Mapping[str, Any]) -> bool:
    """Whether any model, flow or start of a simulated plan may differ between seeds.

    A model that might draw counts as random, though it may happen never to.
    """
    if starts or any(_draws(flow["traffic"]) for flow in plan["flows"]):
        return True
    if any(_is_drawing(job["cc"]) for job in plan["jobs"]):
        return True
    directions = [link[way] for link in plan["links"] for way in WAYS]
    changes = (event["change"] for event in plan["events"])
    return any(_varies(each) for each in _models(directions)) or any(_varies(each) for each in changes)


def _models(directions: Iterable[Json]) -> Iterator[Json]:
    """Each direction, or each of its parallel routes."""
    for direction in directions:
        bundle = direction.get("bundle")
        if bundle:
            yield {"policy": bundle["policy"]}
            yield from bundle["routes"]
        yield direction


def _varies(model: Json) -> bool:
    """Whether a direction, a route or a change of one has a model that draws."""
    drawn = {key: model[key] for key in _FIXED if model.get(key)}
    if "queue" in drawn:
        drawn["queue"] = drawn["queue"]["discipline"]
    names = {key: each["kind" if key in ("queue", "policy") else "model"] for key, each in drawn.items()}
    return any(name not in _FIXED[key] for key, name in names.items()) or bool(
        model.get("duplicate") or model.get("corrupt")
    )


def _draws(traffic: Traffic) -> bool:
    match traffic["kind"]:
        case "udp":
            lasting = traffic.get("on_off") or ()
            uneven = traffic["arrivals"] != "even" or traffic["sizes"] != "fixed"
            return uneven or any(each["dist"] != "constant" for each in lasting)
        case "requests":
            if traffic["gap"]["dist"] != "constant" or traffic["size"]["dist"] != "constant":
                return True
            return _is_drawing(traffic["cc"])
        case "tcp" | "replay":
            return _is_drawing(traffic["cc"])
        case "ping" | "pcap":
            return False
        case _:
            assert_never(traffic)


def _is_drawing(cc: Json) -> bool:
    return str(cc["algorithm"]).startswith(_DRAWING_CONTROLS)
