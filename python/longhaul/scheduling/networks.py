"""Capacities and ways of a scenario."""

from collections.abc import Mapping
from typing import Any

from longhaul.scenario.laws import plan_bits_per_s
from longhaul.scenario.paths import Routes
from longhaul.scheduling.instances import Link, Network


def scenario_network(plan: Mapping[str, Any]) -> Network:
    """The network of a resolved scenario: its rates each way, and the ways that its packets take.

    Links without a rate limit nothing and are left out.
    """
    names = [str(node["name"]) for node in plan["nodes"]]
    position = {name: index for index, name in enumerate(names)}
    routes = Routes(plan)
    links: list[Link] = []
    known: dict[tuple[int, str], int] = {}
    for index, link in enumerate(plan["links"]):
        a, b = (names[each] for each in link["endpoints"])
        for way, ends in (("forward", f"{a} > {b}"), ("reverse", f"{b} > {a}")):
            bits_per_s = plan_bits_per_s(link[way])
            if bits_per_s is not None:
                known[index, way] = len(links)
                links.append(Link(f"{link['name']} {ends}", float(bits_per_s)))

    def between(source: str, destination: str) -> tuple[int, ...] | None:
        steps = routes.steps(position[source], position[destination])
        return None if steps is None else tuple(known[step] for step in steps if step in known)

    return Network(tuple(names), tuple(links), between)
