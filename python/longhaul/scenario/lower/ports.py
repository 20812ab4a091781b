"""Ports of hosts, as a plan has them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, Literal, cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Node
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.network import NamedNode, Network
from longhaul.scenario.model.address import AnyNetwork
from longhaul.scenario.model.port import DevicePort


def with_port(found: Node, node: NamedNode, segment: int | None) -> Node:
    """``found`` with what is at its end of the links, and the addresses that this has.

    ``segment`` is the number of the Ethernet segment of a bridged device.
    """
    port = node.spec.port
    if port is None or node.of is not None:
        return found
    given = port.gateways if isinstance(port, DevicePort) else port.address
    changed: dict[str, Any] = dict(found)
    for address in given:
        key = f"ipv{address.version}"
        if changed[key] is not None:
            changed[key] = str(address)
    changed["port"] = _plan_port(port, segment)
    return cast("Node", changed)


def bridged_segments(network: Network) -> dict[int, int]:
    """The number of the Ethernet segment of each bridged device, by node: one for all that links join."""
    parents = list(range(len(network.nodes)))

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    bridged = [index for index, each in enumerate(network.nodes) if _is_bridged(each)]
    for link in network.links if bridged else ():
        one, other = (root(end) for end in link.ends)
        parents[max(one, other)] = min(one, other)
    numbers = {each: number for number, each in enumerate(sorted({root(index) for index in bridged}))}
    return {index: numbers[root(index)] for index in bridged}


def lone_bridged_devices(scenario: Scenario, network: Network) -> list[Diagnostic]:
    """Bridged devices whose frames have nowhere to go."""
    segments = bridged_segments(network)
    at_switch = _at_switches(network)
    sizes = Counter(segment for index, segment in segments.items() if index not in at_switch)
    problems = []
    for index, segment in segments.items():
        if index in at_switch:
            continue
        node = network.nodes[index]
        path = (*node.path, "port")
        if sizes[segment] == 1:
            message = f"{_place(node)} has no other bridged interface to lead to"
            remedy = "bridge another one, or attach it to a switch"
            problems.append(scenario.problem(Code.PORT_INVALID, path, message, remedy))
    return problems


def _at_switches(network: Network) -> set[int]:
    """The nodes that a link joins with a switch."""
    kinds = [node.spec.kind for node in network.nodes]
    ends = [link.ends for link in network.links]
    return {here for a, b in ends for here, far in ((a, b), (b, a)) if kinds[far] == "switch"}


def _is_bridged(node: NamedNode) -> bool:
    return node.of is None and isinstance(node.spec.port, DevicePort) and node.spec.port.mode == "bridge"


def _place(node: NamedNode) -> str:
    return node.spec.port.place if node.spec.port else node.name


def _plan_port(port: Any, segment: int | None) -> planned.Port:
    if segment is not None:
        return {"kind": "bridged", "device": port.device, "segment": segment}
    if isinstance(port, DevicePort):
        return {
            "kind": "routed",
            "device": port.device,
            "subnets": [
                {
                    "address": str(each.network.network_address),
                    "bits": each.network.prefixlen,
                    "via": str(each.via) if each.via else None,
                }
                for each in port.subnets
            ],
        }
    return {
        "kind": "namespace",
        "place": port.place,
        "interfaces": list(port.interface),
        "default_route": port.default_route,
    }


def address_conflicts(scenario: Scenario, network: Network, nodes: Sequence[Node]) -> list[Diagnostic]:
    """Addresses and networks of ports that others have, too, or that are of a family without addresses."""
    ported = [index for index, each in enumerate(network.nodes) if each.spec.port and each.of is None]
    if not ported:
        return []
    problems = []
    behind = {
        index: port for index in ported if isinstance(port := network.nodes[index].spec.port, DevicePort)
    }
    for index, port in behind.items():
        for position, subnet in enumerate(port.subnets):
            path = (*network.nodes[index].path, "port", "subnets", position)
            if (wrong := _conflict(nodes, index, subnet.network, behind)) is not None:
                problems.append(scenario.problem(Code.ADDRESS_CONFLICT, path, *wrong))
    return problems or _shared_addresses(scenario, network, nodes, ported)


def _shared_addresses(
    scenario: Scenario, network: Network, nodes: Sequence[Node], ported: Sequence[int]
) -> list[Diagnostic]:
    """Addresses of ports that another node has."""
    problems = []
    owners: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for address in filter(None, (node["ipv4"], node["ipv6"])):
            before = owners.setdefault(address, index)
            if before != index:
                at, other = (index, before) if index in ported else (before, index)
                message = f"{address} is also the address of {nodes[other]['name']}"
                path = (*network.nodes[at].path, "port")
                problems.append(
                    scenario.problem(Code.ADDRESS_CONFLICT, path, message, "write another address")
                )
    return problems


def _conflict(
    nodes: Sequence[Node], index: int, subnet: AnyNetwork, behind: Mapping[int, DevicePort]
) -> tuple[str, str] | None:
    """What is wrong with a network behind the device of node ``index``, and what helps."""
    family: Literal["ipv4", "ipv6"] = "ipv4" if subnet.version == 4 else "ipv6"
    if nodes[index][family] is None:
        return f"the scenario has no addresses of the family of {subnet}", "write addresses: dual"
    for other, node in enumerate(nodes):
        address = node[family]
        if address is not None and other != index and ip_address(address) in subnet:
            return f"{subnet} contains the address {address} of {node['name']}", "write smaller networks"
    for other, port in behind.items():
        theirs = [each.network for each in port.subnets if each.network.version == subnet.version]
        if other < index and any(_overlap(subnet, each) for each in theirs):
            return (
                f"{subnet} overlaps with a network behind {port.place}",
                "give each device networks of its own",
            )
    return None


def _overlap(one: AnyNetwork, other: AnyNetwork) -> bool:
    """Of two networks of one family."""
    return one.network_address in other or other.network_address in one
