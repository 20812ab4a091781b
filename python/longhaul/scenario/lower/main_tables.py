"""Interfaces and main routing tables of hosts, as a plan has them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from longhaul.plan import Link, MainRoute, Node, Plan


def interfaces_of(nodes: Sequence[Node]) -> Mapping[int, list[int]]:
    """The nodes of each host that has several interfaces, ``eth0`` first."""
    found: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        host = node.get("of")
        if host is not None:
            found.setdefault(host, [host]).append(index)
    return found


def host_ends(nodes: Sequence[Node], link: Link) -> tuple[int, int]:
    """The nodes that a link joins: hosts in place of their interfaces."""
    a, b = link["endpoints"]
    return owner_of(nodes, a), owner_of(nodes, b)


def forwards_packets(node: Node) -> bool:
    """Whether packets of others pass through a node: a router, or a host that forwards."""
    return not is_end(node) or bool(node.get("forwards"))


def is_end(node: Node) -> bool:
    """Whether packets begin and end at a node: a host, or an interface of one."""
    return node["kind"] in ("host", "interface")


def is_access_link(nodes: Sequence[Node], link: Link) -> bool:
    """Whether a link attaches a host that does not forward."""
    return not all(forwards_packets(nodes[end]) for end in host_ends(nodes, link))


def without_interfaces(plan: Plan) -> Plan:
    """The plan in which a host has all of its links and one address, for those who know no interfaces.

    A host that forwards is a router there.
    """
    nodes = plan["nodes"]
    if not any(node["kind"] == "interface" or node.get("forwards") for node in nodes):
        return plan
    hosts: list[Node] = []
    for node in nodes:
        if node["kind"] != "interface":
            kept = dict(node)
            kept.pop("aliases", None)
            kept.pop("main_routes", None)
            kept.pop("no_path_to", None)
            if kept.pop("forwards", False):
                kept["kind"] = "router"
            hosts.append(cast("Node", kept))
    links: list[Link] = [{**link, "endpoints": list(host_ends(nodes, link))} for link in plan["links"]]
    return {**plan, "nodes": hosts, "links": links}


def choose_interface(nodes: Sequence[Node], source: int, destination: int) -> int:
    """The interface by which ``source`` sends to ``destination``: what its main routing table says."""
    routes: Iterable[MainRoute] = nodes[source].get("main_routes", ())
    return next((each["interface"] for each in routes if each["destination"] == destination), source)


def owner_of(nodes: Sequence[Node], index: int) -> int:
    """The host of an interface; any other node itself."""
    host = nodes[index].get("of")
    return index if host is None else host


def every_address(nodes: Sequence[Node]) -> Mapping[str, Sequence[str]]:
    """The addresses of each host, by its name, those of all its interfaces; of interfaces, and of routers."""
    found: dict[str, list[str]] = {}
    for index, node in enumerate(nodes):
        own = [address for address in (node.get("ipv4"), node.get("ipv6")) if address]
        for name in {nodes[owner_of(nodes, index)]["name"], node["name"]}:
            found.setdefault(name, []).extend(own)
    return found
