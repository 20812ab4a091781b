"""Interfaces of hosts that are the end of several links.

The first link of such a host is at ``eth0``, which has the host's own name and addresses. Each further one is
at an interface (``eth1`` and so on) that the plan has as a node of its own, called ``HOST.NEIGHBOUR``, or
``HOST.LINK`` where several links lead to the same neighbour.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from longhaul.plan import MainRoute, Node, Plan
from longhaul.scenario.check.names import interface_names
from longhaul.scenario.lower.main_tables import interfaces_of
from longhaul.scenario.lower.network import NamedNode, Network, Wire
from longhaul.scenario.lower.paths import Routes


def split_hosts(network: Network, moving: Collection[str] = ()) -> Network:
    """The network in which each host and interface has at most one link, but for hosts that are ``moving``.

    Interfaces follow the nodes of ``network``, which keep their positions.
    """
    hosts = {node.name for node in network.nodes if node.spec.kind == "host"} - set(moving)
    ends = {
        link.name: (network.nodes[link.ends[0]].name, network.nodes[link.ends[1]].name)
        for link in network.links
    }
    names = interface_names(hosts, ends)
    if not names:
        return network
    nodes = list(network.nodes)
    alias_of: dict[int, str] = {}
    links: list[Wire] = []
    for link in network.links:
        own = list(link.ends)
        for place, end in enumerate(link.ends):
            name = names.get((nodes[end].name, link.name))
            if name is None:
                continue
            if end not in alias_of:
                alias_of[end] = name
                continue
            own[place] = len(nodes)
            nodes.append(NamedNode(name, nodes[end].spec, nodes[end].path, of=end))
        links.append(replace(link, ends=(own[0], own[1])))
    for index, name in alias_of.items():
        nodes[index] = replace(nodes[index], aliases=(name,))
    return Network(tuple(nodes), tuple(links))


def _distance(routes: Routes, source: int, destination: int) -> tuple[int, int, int]:
    """How far it is; by another interface than the destination's only if no path leads there."""
    steps = routes.steps(source, destination)
    if not steps:
        return 2, 0, 0
    weak = routes.nodes_of(source, steps)[-1] != destination
    (reach,) = routes.reaches([source], destination)
    return int(weak), reach.delay_ns if reach else 0, len(steps)


def _routes_of_router(routes: Routes, router: int, chosen: Mapping[tuple[int, int], int]) -> list[MainRoute]:
    """The routes of a host that forwards, to all nodes that a path leads to."""
    found: list[MainRoute] = []
    for destination, owner in enumerate(routes.owners):
        steps = None if owner == router else routes.steps(router, destination)
        if steps:
            interface = chosen.get((router, destination), routes.nodes_of(router, steps)[0])
            found.append({"destination": destination, "interface": interface})
    return found


def with_main_routes(
    plan: Plan, chosen: Mapping[tuple[int, int], int], by_daemon: Collection[int]
) -> list[Node]:
    """The nodes with the routing tables of hosts that have several interfaces, or forward.

    A destination is reached by the interface with the shortest path to it, the first one of several.
    ``chosen`` has the interfaces that the scenario's routes name, by host and destination. Those hosts that
    forward and are in ``by_daemon`` have none.
    """
    nodes = list(plan["nodes"])
    routers = [index for index, node in enumerate(nodes) if node.get("forwards")]
    every = {host: own for host, own in interfaces_of(nodes).items() if host not in routers}
    if not every and not routers:
        return nodes
    routes = Routes(plan)
    for router in routers:
        if router not in by_daemon:
            nodes[router] = {**nodes[router], "main_routes": _routes_of_router(routes, router, chosen)}
    tables: dict[int, list[MainRoute]] = {host: [] for host in every}
    without: dict[int, list[int]] = {}
    for destination in range(len(nodes)):
        for host, own in every.items():
            if destination in own:
                continue
            reaching = [each for each in own if routes.steps(each, destination) is not None]
            for each in own if reaching else ():
                if each not in reaching:
                    without.setdefault(each, []).append(destination)
            interface = chosen.get((host, destination))
            if interface is None:
                interface = min(own, key=lambda each: _distance(routes, each, destination))
            if interface != host:
                tables[host].append({"destination": destination, "interface": interface})
    for interface, destinations in without.items():
        nodes[interface] = {**nodes[interface], "no_path_to": destinations}
    for host, table in tables.items():
        if table:
            nodes[host] = {**nodes[host], "main_routes": table}
    return nodes
