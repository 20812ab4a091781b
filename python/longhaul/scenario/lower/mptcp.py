"""Multipath TCP (RFC 8684): which addresses of a host connections use, and where they have subflows."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Mptcp, MptcpEndpoint, Node
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.main_tables import choose_interface, interfaces_of, owner_of
from longhaul.scenario.lower.network import Network
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model.node import Mptcp as Settings
from longhaul.scenario.model.node import MptcpFlag
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.yaml_tree import Path

_AT = ("tcp", "mptcp", "endpoints")
MOST_ADDRESSES = 8
"""That the path manager of a host takes (Linux: ``MPTCP_PM_ADDR_MAX``); an interface may have two."""


def with_mptcp(
    scenario: Scenario, network: Network, nodes: Sequence[Node]
) -> tuple[list[Node], list[Diagnostic]]:
    """The nodes with the path managers of hosts that have several interfaces; and what is wrong.

    A host uses its own settings, else the general ones, else it announces the addresses of all interfaces but
    its first, as many as its path manager takes.
    """
    of_hosts = interfaces_of(nodes)
    problems = _misplaced(scenario, network, of_hosts)
    general = scenario.document.tcp.mptcp
    found = list(nodes)
    for host, interfaces in of_hosts.items():
        own = _own(network, host)
        asked = own or general
        limits = asked or Settings()
        if limits.endpoints is None or (own is None and limits.endpoints):
            endpoints: list[MptcpEndpoint] = [
                {"interface": each, "flags": ["signal"]} for each in _first_fitting(nodes, interfaces[1:])
            ]
        else:
            endpoints, wrong = _named(scenario, nodes, interfaces, limits, (*network.nodes[host].path, *_AT))
            problems += wrong
        mptcp: Mptcp = {
            "subflows": limits.subflows,
            "add_addr_accepted": limits.add_addr_accepted,
            "endpoints": endpoints,
            "required": asked is not None and limits.endpoints != {},
        }
        found[host] = {**found[host], "mptcp": mptcp}
    return found, problems


def subflows(nodes: Sequence[Node], routes: Routes, source: int, destination: int) -> list[tuple[int, int]]:
    """The interfaces between which a connection from ``source`` has subflows, its first one first.

    As Linux's path manager opens them: by the main table to each address that the peer announces; from each
    endpoint that is a ``subflow`` to the peer's first address, if answers come back by the same interface, to
    which the kernel binds it; and from a ``fullmesh`` endpoint to all.
    """
    mine, theirs = nodes[source].get("mptcp"), nodes[owner_of(nodes, destination)].get("mptcp")
    chosen = choose_interface(nodes, source, destination)
    first = (chosen, routes.answering(destination, chosen))
    announced = _endpoints(theirs, "signal")[: mine["add_addr_accepted"] if mine else 0]
    everywhere = _endpoints(mine, "fullmesh")
    others = [
        (each, remote)
        for remote in announced
        for each in everywhere or [choose_interface(nodes, source, remote)]
    ]
    bound = dict.fromkeys([*_endpoints(mine, "subflow"), *everywhere])
    others += [(each, first[1]) for each in bound if routes.arrives_by(first[1], each) == each]
    most = min(mine["subflows"] if mine else 0, theirs["subflows"] if theirs else 8)
    unique = [
        pair for pair in dict.fromkeys(others) if pair != first and routes.arrives_by(*pair) is not None
    ]
    return [first, *unique[:most]]


def _first_fitting(nodes: Sequence[Node], interfaces: Sequence[int]) -> list[int]:
    """The first of some interfaces of a host, whose addresses its path manager takes together."""
    taken = accumulate(_addresses(nodes[each]) for each in interfaces)
    return [each for each, so_far in zip(interfaces, taken, strict=True) if so_far <= MOST_ADDRESSES]


def _addresses(interface: Node) -> int:
    return sum(interface.get(family) is not None for family in ("ipv4", "ipv6"))


def _own(network: Network, host: int) -> Settings | None:
    tcp = network.nodes[host].spec.tcp
    return None if tcp is None else tcp.mptcp


def _endpoints(mptcp: Mptcp | None, flag: MptcpFlag) -> list[int]:
    endpoints = mptcp["endpoints"] if mptcp else []
    return [each["interface"] for each in endpoints if flag in each["flags"]]


def _misplaced(scenario: Scenario, network: Network, of_hosts: Mapping[int, list[int]]) -> list[Diagnostic]:
    """Endpoints where no interfaces can be meant."""
    problems = []
    general = scenario.document.tcp.mptcp
    if general is not None and general.endpoints:
        remedy = "write them at the host: nodes: {HOST: {tcp: {mptcp: {endpoints: ...}}}}"
        problems.append(
            scenario.problem(Code.KEY_OUT_OF_PLACE, _AT, "endpoints are interfaces of one host", remedy)
        )
    for host, node in enumerate(network.nodes):
        own = _own(network, host) if node.of is None else None
        if own is not None and own.endpoints and host not in of_hosts:
            problems.append(
                scenario.problem(
                    Code.KEY_OUT_OF_PLACE,
                    (*node.path, *_AT),
                    f"{node.name} has one link, and one address",
                    "give it a second link, or leave the endpoints out",
                )
            )
    return problems


def _named(
    scenario: Scenario, nodes: Sequence[Node], interfaces: Sequence[int], settings: Settings, at: Path
) -> tuple[list[MptcpEndpoint], list[Diagnostic]]:
    """The endpoints of a host by the names of its interfaces."""
    host = nodes[interfaces[0]]
    known = {
        name: each for each in interfaces for name in (nodes[each]["name"], *nodes[each].get("aliases", ()))
    }
    endpoints: list[MptcpEndpoint] = []
    problems = []
    for name, flags in (settings.endpoints or {}).items():
        if name in known:
            endpoints.append({"interface": known[name], "flags": list(flags)})
        else:
            message = f'{host["name"]} has no interface "{name}"'
            problems.append(
                scenario.problem(Code.NODE_UNKNOWN, (*at, name), message, did_you_mean(name, list(known)))
            )
    count = sum(_addresses(nodes[each["interface"]]) for each in endpoints)
    if count > MOST_ADDRESSES:
        message = f"{host['name']} has {count} addresses here, and Linux takes at most {MOST_ADDRESSES}"
        remedy = f"name fewer interfaces: each has {_addresses(nodes[endpoints[0]['interface']])}"
        problems.append(scenario.problem(Code.WRONG_LENGTH, at, message, remedy))
    return endpoints, problems
