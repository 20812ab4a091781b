"""Compensation: subtraction of the machine's own latency from delays.

A packet crosses the emulator once on its way, whatever number of links it passes: the kernel hands
it over at its source and takes it back at its destination. That costs the certificate's base
latency, which is taken off the last link of the way: every direction that ends at a host.
"""

from copy import deepcopy
from typing import Any, cast

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import WAYS, Plan
from longhaul.scenario.lower.network import ends_at_host
from longhaul.units.text import time_text


def compensate(plan: Plan, base_one_way_ns: int) -> tuple[Plan, list[Diagnostic]]:
    """The plan with delays shortened, and warnings for links that are too short to be shortened."""
    shortened: Any = deepcopy(plan)
    warnings = []
    for number, link in enumerate(shortened["links"]):
        for way in WAYS:
            if not ends_at_host(plan, number, way):
                continue
            left_ns = shorten(link[way]["delay"], base_one_way_ns)
            for route in (link[way].get("bundle") or {"routes": []})["routes"]:
                left_ns = max(left_ns, shorten(route["delay"], base_one_way_ns))
            if left_ns:
                message = (
                    f"its delay {way} is {time_text(left_ns)} shorter than this machine's own latency of "
                    f"{time_text(base_one_way_ns)}"
                )
                warnings.append(Diagnostic(Code.DELAY_TOO_SHORT, message, path=f"links.{link['name']}"))
            for event in shortened["events"]:
                changed = event["change"].get("delay")
                if event["link"] == number and event["direction"] in (None, way) and changed:
                    shorten(changed, base_one_way_ns)
    return cast("Plan", shortened), warnings


def shorten(delay: dict[str, Any], by_ns: int) -> int:
    """Take ``by_ns`` off a delay as far as it goes; returns what is left of ``by_ns``."""
    match delay["model"]:
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
    if delay["model"] == "series":
        delay["points"] = [[at_ns, value - taken_ns] for at_ns, value in delay["points"]]
    return by_ns - int(taken_ns)
