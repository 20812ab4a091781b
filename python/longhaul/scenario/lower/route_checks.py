"""Checks of the routes and links of a plan: loops, ends without a path, unused links."""

from collections.abc import Mapping, Sequence, Set

from longhaul.diagnostics import Code, Diagnostic
from longhaul.scenario.check.clusters import Group
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.network import Network
from longhaul.scenario.lower.paths import Routes, Step
from longhaul.scenario.syntax.ranges import expand
from longhaul.scenario.syntax.yaml_tree import Path


def routing_loops(scenario: Scenario, network: Network, routes: Routes) -> list[Diagnostic]:
    """Overrides that send packets round in circles."""
    problems = []
    for position, route in enumerate(scenario.document.routes):
        at = network.node_index[route.at]
        for name in expand(route.to):
            if routes.steps(at, network.node_index[name]) is None:
                path: Path = ("routes", position)
                message = f'packets from "{route.at}" to "{name}" would never arrive'
                problems.append(
                    scenario.problem(
                        Code.ROUTING_LOOP, path, message, "give the nodes along the way routes, too"
                    )
                )
                break
    return problems


def unreachable_traffic(scenario: Scenario, routes: Routes, traffic: Sequence[Plain]) -> list[Diagnostic]:
    """Traffic between nodes that no path joins."""
    problems = []
    for flow in traffic:
        for destination in flow["destinations"]:
            if routes.way(flow["source"], destination) is None:
                path = ("traffic", flow["name"], "file" if flow["kind"] in ("replay", "pcap") else "to")
                problem = scenario.problem(Code.NO_PATH, path, "no path in both directions", "add a link")
                problems += [problem] if problem not in problems else []
                break
    return problems


def unjoined_clusters(
    scenario: Scenario, clusters: Sequence[Group], ways: Mapping[tuple[int, int], Sequence[Step] | None]
) -> list[Diagnostic]:
    """Clusters of a relay between which no path leads."""
    return [
        scenario.problem(
            Code.NO_PATH,
            ("relay", "clusters", clusters[destination].name),
            f'no path from cluster "{clusters[source].name}"',
            "add a link between their sites",
        )
        for (source, destination), steps in ways.items()
        if steps is None
    ]


def unused_links(
    scenario: Scenario, network: Network, routes: Routes, alike: Sequence[list[int]], relayed: Set[int]
) -> list[Diagnostic]:
    """Links that lie on no path between hosts, nor are ``relayed``."""
    hosts = [group[0] for group in alike]
    used: set[int | None] = {link for destination in hosts for link in routes.used(hosts, destination)}
    # Hosts that are alike have paths to one another, over their only links.
    used |= relayed | {routes.only_link(node) for group in alike if len(group) > 1 for node in group}
    unused = [link for index, link in enumerate(network.links) if index not in used and not link.attachment]
    remedy = "longhaul show prints the paths"
    warnings = []
    if laid := [link.name for link in unused if link.name in scenario.laid]:
        what = f"no path between hosts uses {len(laid)} of its {len(scenario.laid)} links, such as {laid[0]}"
        warnings.append(scenario.warning(Code.LINK_UNUSED, ("topology",), what, remedy))
    warnings += [
        scenario.warning(Code.LINK_UNUSED, link.path, "no path between hosts uses this link", remedy)
        for link in unused
        if link.name not in scenario.laid
    ]
    return warnings
