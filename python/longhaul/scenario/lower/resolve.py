"""Resolution: from a checked scenario to the plan that Rust executes."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import assert_never, cast

import longhaul.plan as planned
from longhaul.diagnostics import Diagnostic
from longhaul.plan import Direction, Node, Plan, Way
from longhaul.scenario.check.clusters import groups
from longhaul.scenario.check.names import handovers, metrics_of, program_copies, program_hosts, traffic_pairs
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.addresses import assign
from longhaul.scenario.lower.background import detours, plan_background
from longhaul.scenario.lower.datagrams import with_sizes
from longhaul.scenario.lower.events import plan_events
from longhaul.scenario.lower.host_settings import with_settings
from longhaul.scenario.lower.interfaces import split_hosts, with_main_routes
from longhaul.scenario.lower.jobs import plan_jobs
from longhaul.scenario.lower.link_models import Plain, plan_distribution
from longhaul.scenario.lower.main_tables import owner_of
from longhaul.scenario.lower.membership import Membership, isolated_traffic, plan_membership
from longhaul.scenario.lower.mptcp import with_mptcp
from longhaul.scenario.lower.network import NamedNode, Network, build
from longhaul.scenario.lower.pacing import Owner, plan_pacing, plan_pacing_events
from longhaul.scenario.lower.paths import Routes, pair_ways
from longhaul.scenario.lower.pcap import plan_pcap
from longhaul.scenario.lower.ports import (
    address_conflicts,
    bridged_segments,
    lone_bridged_devices,
    with_port,
)
from longhaul.scenario.lower.replay import plan_replay
from longhaul.scenario.lower.route_checks import (
    routing_loops,
    unjoined_clusters,
    unreachable_traffic,
    unused_links,
)
from longhaul.scenario.lower.segments import segment_problems, segments, with_segment
from longhaul.scenario.lower.start_times import plan_starts, starts_after
from longhaul.scenario.lower.tcp import initial_window, largest_buffers, simulated, sysctls
from longhaul.scenario.model import (
    Background,
    Bulk,
    Datagrams,
    Pcap,
    Ping,
    Program,
    Replay,
    Requests,
    Tcp,
)
from longhaul.scenario.model.metrics import bound
from longhaul.scenario.model.start import earliest_ns
from longhaul.scenario.syntax.csv_file import SIZE, TIME
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.ranges import expand
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError, within

PLAN_VERSION = 1
"""The twin of ``VERSION`` in ``crates/plan``, which says when it grows."""
DEFAULT_PACKET_LINKS = 8
"""Links whose packets are recorded where the scenario does not say which."""
DEFAULT_WINDOW_NS = 2 * 10**6
Pacings = Mapping[tuple[int, Way], planned.Pacing]
"""The pacing before each direction that has one."""

LEAST_SOCKETS_NS = 10**7
"""The shortest interval between samples of the kernel's TCP sockets."""


@dataclass(frozen=True)
class Resolved:
    """A scenario that can be run."""

    plan: Plan
    """Exactly the format of `crates/plan`, ready for JSON; without programs for traffic."""
    traffic: tuple[Plain, ...]
    """Flows: name, kind, source and destinations (node indices), and the kind's fields in ns, bit/s, B."""
    expectations: tuple[Plain, ...]
    """Metric, unit (ns, bit/s, bytes, share, count, text), min, max, equals in that unit, and ``else``."""
    scenario: Scenario
    source: bytes
    warnings: tuple[Diagnostic, ...]
    inputs: tuple[FilePath, ...]
    """Files that were read beside the scenario."""
    jobs: tuple[Plain, ...]
    """Simulated parallel programs, as `crates/plan` has them, but for cc and TCP."""
    tcp: Mapping[int, planned.Tcp]
    """How simulated TCP behaves at each host (by index), as `crates/plan` has it."""
    positions: Mapping[str, tuple[float, float]]
    """Latitude and longitude in degrees, of the nodes that have them."""
    functions: Mapping[str, str]
    """What each node is there for, in the words of the scenario."""
    round_trips: Mapping[str, Mapping[Way, str]]
    """By link and direction, the column of a trace whose half is the delay."""
    owners: tuple[Owner, ...]
    """Rules of pacing, and whose packets they are about."""
    starts: Mapping[str, planned.Distribution]
    """Distributions of random starts in ns, by traffic or program, which have their earliest start here."""

    def files(self) -> dict[str, bytes]:
        """The contents of the files that were read beside the scenario, by their names in it."""
        folder, contents = self.scenario.inputs().folder, self.scenario.contents
        return {
            str(path.relative_to(folder) if path.is_relative_to(folder) else path): (
                path.read_bytes() if contents is None else contents[str(path)]
            )
            for path in self.inputs
        }


def resolve(scenario: Scenario, *, seed: int | None = None) -> Resolved:
    """The plan of ``scenario``, with another seed if one is given.

    Raises :class:`ScenarioError` for what only numbers can tell.
    """
    inputs = scenario.inputs()
    network, problems = build(scenario, inputs)
    network = split_hosts(network, {host for host, _router in handovers(scenario.document)})
    if problems:
        raise ScenarioError(problems)
    document = scenario.document
    pacings, owners, problems = plan_pacing(scenario, network)
    membership = plan_membership(scenario, network)
    events, wrong = _events(scenario, network, inputs, pacings, membership)
    problems += wrong
    plan: Plan = {
        "version": PLAN_VERSION,
        "name": document.name,
        "seed": document.seed if seed is None else seed,
        "duration_ns": min(
            [*([document.duration.ns] if document.duration else []), *inputs.ends_ns], default=None
        ),
        "coalesce_ns": document.coalesce.ns,
        "isolation": document.isolation,
        "nodes": _nodes(scenario, network),
        "links": _links(network, pacings, membership.absent),
        "routes": [],
        "programs": _programs(scenario, network),
        "events": events,
        "measure": _measure(scenario, network),
    }
    overrides, of_interfaces = _overrides(scenario, network, plan)
    more, wrong = detours(scenario, network, {**plan, "routes": overrides})
    problems += [*wrong, *address_conflicts(scenario, network, plan["nodes"])]
    problems += [*lone_bridged_devices(scenario, network), *segment_problems(scenario, network)]
    plan = {**plan, "routes": [*overrides, *more], "multipath": document.routing.multipath}
    by_daemon = {index for index, node in enumerate(network.nodes) if node.spec.routing == "none"}
    settled, wrong = with_settings(
        scenario, network, with_main_routes(plan, of_interfaces, by_daemon), inputs
    )
    problems += wrong
    plan = {**plan, "nodes": settled}
    routes = Routes(plan)
    alike = list(routes.representatives().values())
    largest = largest_buffers(routes, alike)
    nodes, wrong = with_mptcp(scenario, network, _with_tcp(scenario, network, plan["nodes"], largest))
    plan, problems = {**plan, "nodes": nodes}, problems + wrong
    traffic, warned, wrong = _plan_traffic(scenario, network, plan, routes, inputs)
    problems += wrong
    if not membership.events:
        problems += unreachable_traffic(scenario, routes, traffic)
    traffic, too_large = with_sizes(scenario, plan, routes, traffic)
    problems += routing_loops(scenario, network, routes)
    clusters = groups(document.relay) if document.relay else []
    ways = pair_ways(plan, clusters)
    problems += unjoined_clusters(scenario, clusters, ways)
    jobs, wrong = plan_jobs(scenario, network, inputs)
    problems += wrong
    starts, wrong = plan_starts(scenario, inputs)
    problems += wrong
    if problems:
        raise ScenarioError(problems)
    without = Tcp()
    relayed = {link for steps in ways.values() for link, _way in steps or ()}
    warnings = [
        *scenario.warnings,
        *warned,
        *too_large,
        *inputs.warnings,
        *(
            isolated_traffic(scenario, plan, traffic)
            if membership.events
            else unused_links(scenario, network, routes, alike, relayed)
        ),
    ]
    return Resolved(
        plan,
        tuple(traffic),
        tuple(_expectations(scenario, network)),
        scenario,
        scenario.source.content,
        tuple(warnings),
        inputs.paths(),
        tuple(jobs),
        {
            node: simulated(document.tcp, network.nodes[node].spec.tcp or without, most)
            for node, most in largest.items()
        },
        {node.name: node.spec.at for node in network.nodes if node.spec.at is not None and node.of is None},
        {
            node.name: node.spec.function
            or ("client" if node.spec.kind == "host" and not node.spec.forward else _function(node.spec.kind))
            for node in network.nodes
        },
        {link.name: link.round_trips for link in network.links if link.round_trips},
        tuple(owners),
        starts,
    )


def _events(
    scenario: Scenario, network: Network, inputs: Inputs, pacings: Pacings, membership: Membership
) -> tuple[list[planned.Event], list[Diagnostic]]:
    """All events in order of time, and what is wrong with the scenario's."""
    events, problems = plan_events(scenario, network, inputs)
    paced, wrong = plan_pacing_events(scenario, network, pacings)
    every = [*events, *(event for _at, _position, event in paced), *membership.events]
    return sorted(every, key=lambda each: each["at_ns"]), [*problems, *wrong, *membership.problems]


def _links(network: Network, pacings: Pacings, absent: Set[int]) -> list[planned.Link]:
    """The links, those that are ``absent`` at the start marked as such and down."""
    links: list[planned.Link] = []
    for position, link in enumerate(network.links):
        forward = _paced(link.forward, pacings.get((position, "forward")))
        reverse = _paced(link.reverse, pacings.get((position, "reverse")))
        found: planned.Link = {
            "name": link.name,
            "endpoints": list(link.ends),
            "mtu": link.mtu,
            "forward": forward,
            "reverse": reverse,
        }
        if position in absent:
            left = {"forward": {**forward, "up": False}, "reverse": {**reverse, "up": False}}
            found = cast("planned.Link", {**found, **left, "present": False})
        links.append(found)
    return links


def _with_tcp(
    scenario: Scenario, network: Network, nodes: Sequence[Node], largest: Mapping[int, int]
) -> list[Node]:
    """The nodes with the TCP settings of hosts; ``largest`` has each host's largest buffer."""
    found, without = list(nodes), Tcp()
    most_of: dict[int, int] = {}
    for number, most in largest.items():
        host = owner_of(nodes, number)
        most_of[host] = max(most, most_of.get(host, 0))
    for number, most in most_of.items():
        node, own = found[number], network.nodes[number].spec.tcp or without
        settings = sysctls(scenario.document.tcp, own, most, mtu=node["mtu"])
        found[number] = {**node, "sysctls": settings}
        if window := initial_window(scenario.document.tcp, own):
            found[number] = {**node, "sysctls": settings, "initial_window": window}
    return found


def _function(kind: str) -> str:
    """What a node that forwards is there for, if the scenario does not say more."""
    return "switch" if kind == "switch" else "router"


def _paced(direction: Direction, pacing: planned.Pacing | None) -> Direction:
    return {**direction, "pacing": pacing} if pacing else direction


def _nodes(scenario: Scenario, network: Network) -> list[Node]:
    is_router = [
        node.spec.kind != "host" or (node.spec.forward and node.of is None) for node in network.nodes
    ]
    segment_of = segments(network)
    owners = [node.of for node in network.nodes]
    addresses = assign(is_router, [link.ends for link in network.links], owners, segment_of)
    family = scenario.document.addresses
    bridged = bridged_segments(network)
    mtus: dict[int, int] = {}
    for link in network.links:
        for end in link.ends:
            mtus[end] = min(link.mtu, mtus.get(end, link.mtu))
    found = []
    for index, (node, address) in enumerate(zip(network.nodes, addresses, strict=True)):
        planned_node: Node = {
            "name": node.name,
            "kind": node.spec.kind if node.of is None else "interface",
            "ipv4": str(address.ipv4) if family != "ipv6" and node.spec.kind != "switch" else None,
            "ipv6": str(address.ipv6) if family != "ipv4" and node.spec.kind != "switch" else None,
            "mtu": mtus.get(index, 1500) if node.spec.kind == "host" else 0,
            "sysctls": {},
        }
        if node.spec.forward and node.of is None:
            planned_node = {**planned_node, "forwards": True}
        if node.spec.line_rate is not None and node.of is None:
            planned_node = {**planned_node, "line_bits_per_s": node.spec.line_rate.bits_per_s}
        planned_node = with_segment(planned_node, node, index in segment_of)
        found.append(with_port(_with_interface(planned_node, node), node, bridged.get(index)))
    return found


def _with_interface(found: Node, node: NamedNode) -> Node:
    """``found``, and whose interface it is, if a host has several."""
    if node.of is not None:
        found = {**found, "of": node.of}
    return {**found, "aliases": list(node.aliases)} if node.aliases else found


def _programs(scenario: Scenario, network: Network) -> list[planned.Program]:
    programs = []
    for name, program in scenario.document.programs.items():
        if program.run is None:
            continue
        hosts = program_hosts(program)
        groups = [[host] for host in hosts] if program.each else [hosts]
        for copy, group in zip(program_copies(name, program), groups, strict=True):
            programs.append(_program(copy, program, group, scenario, network))
    return [each for each in programs if each["service"]] + [each for each in programs if not each["service"]]


def _program(
    name: str, program: Program, hosts: Sequence[str], scenario: Scenario, network: Network
) -> planned.Program:
    expected = program.expect_exit
    if program.service and "expect_exit" not in program.model_fields_set:
        expected = None
    return {
        "name": name,
        "host": network.node_index[hosts[0]],
        "argv": list(program.run or ()),
        "cwd": program.cwd,
        "env": dict(program.env),
        "start_ns": earliest_ns(program.start),
        "after": starts_after(scenario.document, program),
        "stop_ns": program.stop.ns if program.stop else None,
        "service": program.service,
        "ready": {"tcp_port": program.ready.tcp, "within_ns": program.ready.within.ns}
        if program.ready
        else None,
        "expect_exit": expected,
        "may_end": program.service and expected is None and "expect_exit" in program.model_fields_set,
        "span": {
            "hosts": [network.node_index[host] for host in hosts],
            "slots": program.slots,
            "ranks": program.ranks,
        }
        if program.hosts
        else None,
    }


def _plan_traffic(
    scenario: Scenario, network: Network, plan: Plan, routes: Routes, inputs: Inputs
) -> tuple[list[Plain], list[Diagnostic], list[Diagnostic]]:
    """The flows of all traffic, warnings, and what is wrong."""
    traffic: list[Plain] = []
    warned: list[Diagnostic] = []
    problems: list[Diagnostic] = []
    for name, flow in scenario.document.traffic.items():
        try:
            if isinstance(flow, Pcap):
                found, warnings = plan_pcap(scenario, name, flow, network, plan, routes, inputs)
                traffic += found
                warned += warnings
                continue
            planned = _planned(scenario, name, flow, network, inputs)
        except ScenarioValueError as error:
            path = ("traffic", name, *error.at)
            problems.append(scenario.problem(error.code, path, error.message, error.remedy))
        except FileError as error:
            problems.append(error.problem)
        else:
            problems += [planned] if isinstance(planned, Diagnostic) else []
            traffic += planned if isinstance(planned, list) else []
    return traffic, warned, problems


def _planned(
    scenario: Scenario,
    name: str,
    flow: Ping | Bulk | Datagrams | Requests | Replay | Background,
    network: Network,
    inputs: Inputs,
) -> list[Plain] | Diagnostic:
    """The flows of one traffic; or what is wrong."""
    if isinstance(flow, Background):
        load = plan_background(scenario, name, flow, network)
        return load if isinstance(load, Diagnostic) else [load]
    if isinstance(flow, Replay):
        return plan_replay(name, flow, network, inputs)
    item = _flow(name, flow, inputs)
    pairs = [
        (network.node_index[source], network.node_index[target]) for source, target in traffic_pairs(flow)
    ]
    if len({source for source, _target in pairs}) == 1:
        return [{**item, "source": pairs[0][0], "destinations": [target for _source, target in pairs]}]
    return [
        {**item, "source": source, "destinations": [target], "is_one_of_several": True}
        for source, target in pairs
    ]


def _flow(name: str, flow: Ping | Bulk | Datagrams | Requests, inputs: Inputs) -> Plain:
    """What all flows of one traffic have in common."""
    item: Plain = {
        "name": name,
        "kind": flow.kind,
        "start_ns": earliest_ns(flow.start),
        "stop_ns": flow.stop.ns if flow.stop else None,
        "simulated": flow.simulated,
    }
    if isinstance(flow, Requests):
        with within("gap"):
            gap = plan_distribution(flow.gap, inputs, TIME)
        with within("size"):
            size = plan_distribution(flow.size, inputs, SIZE)
        return {**item, "gap": gap, "size": size, "cc": flow.cc}
    if isinstance(flow, Ping):
        return {**item, "every_ns": flow.every.ns, "size_bytes": flow.size.bytes, "count": flow.count}
    item |= {
        "rate_bits_per_s": flow.rate.bits_per_s if flow.rate else None,
        "bytes": flow.bytes.bytes if flow.bytes else None,
    }
    if isinstance(flow, Bulk):
        return {**item, "flows": flow.flows, "cc": flow.cc, "mptcp": flow.mptcp}
    if not isinstance(flow, Datagrams):
        assert_never(flow)
    on_off = []
    for key, distribution in (("on", flow.on), ("off", flow.off)):
        with within(key):
            on_off += [plan_distribution(distribution, inputs, TIME)] if distribution is not None else []
    return {
        **item,
        "size_bytes": flow.size.bytes if flow.size else None,
        "arrivals": flow.arrivals,
        "sizes": flow.sizes,
        "on_off": on_off or None,
    }


def _measure(scenario: Scenario, network: Network) -> planned.Measure:
    measure = scenario.document.measure
    packets, monitor = measure.packets, measure.monitor
    wide = [index for index, link in enumerate(network.links) if not link.attachment]
    default = (wide or list(range(len(network.links))))[:DEFAULT_PACKET_LINKS]

    def chosen(names: Sequence[str] | None) -> list[int]:
        return default if names is None else [network.link_index[name] for name in dict.fromkeys(names)]

    links = chosen(packets.links if packets else None)
    return {
        "every_ns": measure.every.ns,
        "captures": links if packets else [],
        "snaplen": packets.snaplen.bytes if packets else 96,
        "packet_links": links,
        "packet_window_ns": packets.window.ns if packets else DEFAULT_WINDOW_NS,
        "journal": measure.journal,
        "monitor": {
            "every_ns": monitor.every.ns,
            "links": chosen(monitor.links),
            "flows": monitor.flows,
        }
        if monitor
        else None,
        "sockets_every_ns": max(measure.every.ns, LEAST_SOCKETS_NS) if measure.sockets else None,
    }


def _overrides(
    scenario: Scenario, network: Network, plan: Plan
) -> tuple[list[planned.RouteOverride], dict[tuple[int, int], int]]:
    """Route overrides; one to a router holds for the hosts that hang on it, too.

    Those of hosts with several interfaces are apart: the interface, by host and destination. Those of hosts
    that forward are in both, as their kernels have the routes that the model has.
    """
    if not scenario.document.routes:
        return [], {}
    routes = Routes({**plan, "routes": []})
    link_between: dict[frozenset[int], int] = {}
    for index, wire in enumerate(network.links):
        link_between.setdefault(frozenset(wire.ends), index)
    attached: dict[int, list[int]] = {}
    for index, each in enumerate(network.nodes):
        if each.spec.kind == "host":
            attached.setdefault(owner_of(plan["nodes"], routes.hub(index)), []).append(index)
    found: dict[tuple[int, int], int] = {}
    for route in scenario.document.routes:
        at = network.node_index[route.at]
        link = network.link_index.get(route.via)
        mine = [index for index, node in enumerate(network.nodes) if at in (index, node.of)]
        if link is None or not set(mine) & set(network.links[link].ends):
            far = network.node_index[route.via]
            link = next(
                link_between[ends] for each in mine if (ends := frozenset((each, far))) in link_between
            )
        for name in expand(route.to):
            node = network.node_index[name]
            if network.nodes[node].spec.kind != "host" or network.nodes[node].spec.forward:
                for leaf in attached.get(node, ()):
                    if leaf != at:
                        found.setdefault((at, leaf), link)
            found[at, node] = link
    own: dict[tuple[int, int], int] = {}
    for (at, to), link in list(found.items()):
        interface = next((end for end in network.links[link].ends if network.nodes[end].of == at), None)
        if interface is not None or network.nodes[at].aliases:
            own[at, to] = at if interface is None else interface
            del found[at, to]
            if network.nodes[at].spec.forward:
                found[own[at, to], to] = link
    overrides: list[planned.RouteOverride] = [
        {"node": at, "destination": to, "link": link} for (at, to), link in found.items()
    ]
    return overrides, own


def _expectations(scenario: Scenario, network: Network) -> list[Plain]:
    document = scenario.document
    if not document.expect:
        return []
    units = metrics_of(document, links=[link.name for link in network.links])
    return [
        {
            "metric": each.metric,
            "unit": units[each.metric],
            **{
                key: None if value is None else bound(value, units[each.metric])
                for key, value in (("min", each.min), ("max", each.max), ("equals", each.equals))
            },
            "else": each.otherwise,
        }
        for each in document.expect
    ]
