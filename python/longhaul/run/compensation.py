"""Subtracting the machine's own latency, so that a delay means what it would on a wire.

A packet crosses the emulator once on its way, whatever number of links it passes: the kernel hands
it over at its source and takes it back at its destination. That costs the certificate's base
latency, which is taken off the last link of the way: every direction that ends at a host.
"""

from copy import deepcopy
from typing import Any

from longhaul.scenario.network import ends_at_host

Plan = dict[str, Any]


def compensate(plan: Plan, base_one_way_ns: int) -> tuple[Plan, list[str]]:
    """The plan with delays shortened, and warnings for links that are too short to be shortened."""
    plan = deepcopy(plan)
    warnings = []
    for number, link in enumerate(plan["links"]):
        for way in ("forward", "reverse"):
            if not ends_at_host(plan, number, way):
                continue
            left_ns = shorten(link[way]["delay"], base_one_way_ns)
            for route in (link[way].get("bundle") or {"routes": []})["routes"]:
                left_ns = max(left_ns, shorten(route["delay"], base_one_way_ns))
            if left_ns:
                warnings.append(
                    f"links.{link['name']}: its delay {way} is {left_ns / 1e3:.1f} µs too short to take the "
                    f"machine's own {base_one_way_ns / 1e3:.1f} µs off"
                )
            for event in plan["events"]:
                changed = event["change"].get("delay")
                if event["link"] == number and event["direction"] in (None, way) and changed:
                    shorten(changed, base_one_way_ns)
    return plan, warnings


def shorten(delay: dict[str, Any], by_ns: int) -> int:
    """Take ``by_ns`` off a delay as far as it goes; returns what is left of ``by_ns``."""
    match delay["law"]:
        case "constant" | "ticks":
            room_ns = delay["delay_ns"]
            keys = ["delay_ns"]
        case "uniform":
            room_ns = delay["mean_ns"] - delay["half_width_ns"]
            keys = ["mean_ns"]
        case "random":
            room_ns = delay["base_ns"]
            keys = ["base_ns", "mean_ns"]
        case "series":
            room_ns = min(value for _, value in delay["points"])
            keys = ["mean_ns"]
        case _:
            room_ns = delay["mean_ns"]
            keys = ["mean_ns"]
    taken_ns = min(by_ns, max(room_ns, 0))
    for key in keys:
        delay[key] -= taken_ns
    if delay["law"] == "series":
        delay["points"] = [[at_ns, value - taken_ns] for at_ns, value in delay["points"]]
    return by_ns - int(taken_ns)
