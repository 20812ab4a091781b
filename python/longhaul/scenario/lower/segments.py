"""Ethernet segments: switches that links join, and the interfaces at them."""

from collections.abc import Mapping, Sequence
from typing import cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Node
from longhaul.scenario.check.names import handovers
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.addresses import is_of_site
from longhaul.scenario.lower.network import NamedNode, Network
from longhaul.scenario.model.port import DevicePort

_BITS: planned.SegmentBits = {"ipv4": 16, "ipv6": 64}
"""What the addresses of a segment share: those of its site."""


def _switches(network: Network) -> tuple[dict[int, int], list[int]]:
    """The first switch of each switch's segment, and the links that close loops of switches."""
    first = {index: index for index, node in enumerate(network.nodes) if node.spec.kind == "switch"}
    closing: list[int] = []

    def root(node: int) -> int:
        while first[node] != node:
            node = first[node]
        return node

    for position, link in enumerate(network.links):
        one, other = link.ends
        if one in first and other in first:
            ends = root(one), root(other)
            if ends[0] == ends[1]:
                closing.append(position)
            first[max(ends)] = min(ends)
    return {node: root(node) for node in first}, closing


def segments(network: Network) -> dict[int, int]:
    """By switch, and by host or interface at one: the first switch of the segment."""
    found, _closing = _switches(network)
    at: dict[int, int] = {}
    for link in network.links if found else ():
        for here, far in (link.ends, link.ends[::-1]):
            if far in found and network.nodes[here].spec.kind == "host":
                at.setdefault(here, found[far])
    return {**found, **at}


def with_segment(found: Node, node: NamedNode, is_at_switch: bool) -> Node:
    """``found`` with the network of its addresses, if it is at a switch and they are the segment's."""
    port = node.spec.port
    has_own = port is not None and not isinstance(port, DevicePort) and bool(port.address)
    if not is_at_switch or has_own or node.spec.kind != "host":
        return found
    bits = _BITS if is_of_site(found["ipv4"]) else {**_BITS, "ipv4": 32}
    return cast("Node", {**found, "segment": bits})


def segment_problems(scenario: Scenario, network: Network) -> list[Diagnostic]:
    """Loops of switches, and what cannot be at a switch."""
    found, closing = _switches(network)
    problems = []
    for position in closing:
        link = network.links[position]
        names = " or ".join(network.nodes[end].name for end in link.ends)
        remedy = f"remove this link, or write kind: router at {names}"
        problem = scenario.problem(Code.SWITCH_INVALID, link.path, "closes a loop of switches", remedy)
        problems.append(problem)
    moving = {host for host, _router in handovers(scenario.document)}
    at: Mapping[int, int] = segments(network)
    for index in at if found else ():
        node = network.nodes[index]
        switch = network.nodes[at[index]].name
        port = node.spec.port
        if isinstance(port, DevicePort) and port.mode == "routed":
            message = f'{port.place} is a gateway, and the switch "{switch}" passes frames'
            path = (*node.path, "port")
            problems.append(scenario.problem(Code.SWITCH_INVALID, path, message, "write mode: bridge"))
        if node.name in moving:
            message = f'"{node.name}" moves between routers, and is at the switch "{switch}"'
            remedy = "attach it to a router"
            problems.append(scenario.problem(Code.SWITCH_INVALID, node.path, message, remedy))
    return problems


def switch_names(nodes: Sequence[Node]) -> list[str]:
    """The names of the switches of a plan."""
    return [node["name"] for node in nodes if node["kind"] == "switch"]
