"""From a checked scenario to the plan that Rust executes: every name an index, every unit an integer."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from longhaul.scenario.addresses import assign
from longhaul.scenario.background import detours, plan_background
from longhaul.scenario.clusters import Group, groups, pair_ways
from longhaul.scenario.datagrams import with_sizes
from longhaul.scenario.events import plan_events
from longhaul.scenario.inputs import SIZE, TIME, FileError, Inputs, LawError, within
from longhaul.scenario.jobs import plan_jobs
from longhaul.scenario.laws import Plain, plan_distribution
from longhaul.scenario.load import Scenario
from longhaul.scenario.metrics import bound
from longhaul.scenario.model import Background, Bulk, Datagrams, Ping, Program, Replay, Requests, Tcp, Traffic
from longhaul.scenario.model.distribution import earliest_ns
from longhaul.scenario.network import WAYS, Network, build
from longhaul.scenario.pacing import Owner, plan_pacing, plan_pacing_events
from longhaul.scenario.paths import Routes, Step
from longhaul.scenario.problems import Problem, ScenarioError
from longhaul.scenario.ranges import expand, expand_all
from longhaul.scenario.references import metrics_of, program_copies, program_hosts
from longhaul.scenario.replay import plan_replay
from longhaul.scenario.starts import plan_starts, starts_after
from longhaul.scenario.tcp import initial_window, largest_buffers, simulated, sysctls
from longhaul.scenario.yaml_tree import Path

PLAN_VERSION = 1
DEFAULT_PACKET_LINKS = 8
"""Links whose packets are recorded where the scenario does not say which."""
DEFAULT_WINDOW_NS = 2 * 10**6
LEAST_SOCKETS_NS = 10**7
"""The shortest interval between samples of the kernel's TCP sockets."""


@dataclass(frozen=True)
class Resolved:
    """A scenario that can be run."""

    plan: Plain
    """Exactly the format of `crates/plan`, ready for JSON; without programs for traffic."""
    traffic: tuple[Plain, ...]
    """Flows: name, kind, source and destinations (node indices), and the kind's fields in ns, bit/s, B."""
    expectations: tuple[Plain, ...]
    """Metric, unit (ns, bit/s, bytes, share, count, text), min, max, equals in that unit, and ``else``."""
    scenario: Scenario
    source: bytes
    warnings: tuple[str, ...]
    inputs: tuple[FilePath, ...]
    """Files that were read beside the scenario."""
    jobs: tuple[Plain, ...]
    """Simulated parallel programs, as `crates/plan` has them, but for law and TCP."""
    tcp: Mapping[int, Plain]
    """How simulated TCP behaves at each host (by index), as `crates/plan` has it."""
    positions: Mapping[str, tuple[float, float]]
    """Latitude and longitude in degrees, of the nodes that have them."""
    functions: Mapping[str, str]
    """What each node is there for, in the words of the scenario."""
    round_trips: Mapping[str, Mapping[str, str]]
    """By link and direction, the column of a trace whose half is the delay."""
    owners: tuple[Owner, ...]
    """Rules of pacing, and whose packets they are about."""
    starts: Mapping[str, Plain]
    """Distributions of random starts in ns, by traffic or program, which have their earliest start here."""


def resolve(scenario: Scenario, *, seed: int | None = None) -> Resolved:
    """The plan of ``scenario``, with another seed if one is given.

    Raises :class:`ScenarioError` for what only numbers can tell.
    """
    inputs = scenario.inputs()
    network, problems = build(scenario, inputs)
    if problems:
        raise ScenarioError(problems)
    document = scenario.document
    events, problems = plan_events(scenario, network, inputs)
    pacings, owners, wrong = plan_pacing(scenario, network)
    problems += wrong
    paced, wrong = plan_pacing_events(scenario, network, pacings)
    problems += wrong
    events = sorted([*events, *(event for _at, _position, event in paced)], key=lambda each: each["at_ns"])
    plan: Plain = {
        "version": PLAN_VERSION,
        "name": document.name,
        "seed": document.seed if seed is None else seed,
        "duration_ns": min(
            [*([document.duration.ns] if document.duration else []), *inputs.ends_ns], default=None
        ),
        "coalesce_ns": document.coalesce.ns,
        "isolation": document.isolation,
        "nodes": _nodes(scenario, network),
        "links": [
            {
                "name": link.name,
                "endpoints": list(link.ends),
                "mtu": link.mtu,
                **{
                    way: {**getattr(link, way), **({"pacing": pacing} if pacing else {})}
                    for way in WAYS
                    for pacing in (pacings.get((position, way)),)
                },
            }
            for position, link in enumerate(network.links)
        ],
        "routes": [],
        "programs": _programs(scenario, network),
        "events": events,
        "measure": _measure(scenario, network),
    }
    plan["routes"] = _overrides(scenario, network, plan)
    more, wrong = detours(scenario, network, plan)
    problems += wrong
    plan["routes"] += more
    routes = Routes(plan)
    alike = list(routes.representatives().values())
    largest = largest_buffers(routes, alike)
    for node, most in largest.items():
        own, here = network.nodes[node].spec.tcp or Tcp(), plan["nodes"][node]
        here["sysctls"] = sysctls(document.tcp, own, most, mtu=here["mtu"])
        window = initial_window(document.tcp, own)
        here |= {"initial_window": window} if window else {}
    traffic: list[Plain] = []
    for name, flow in document.traffic.items():
        try:
            planned = _planned(scenario, name, flow, network, inputs)
        except LawError as error:
            path = ("traffic", name, *error.at)
            problems.append(scenario.problem(path, error.message, error.remedy))
        except FileError as error:
            problems.append(error.problem)
        else:
            problems += [planned] if isinstance(planned, Problem) else []
            traffic += planned if isinstance(planned, list) else []
    problems += _unreachable(scenario, routes, traffic)
    traffic, too_large = with_sizes(scenario, plan, routes, traffic)
    problems += _circles(scenario, network, routes)
    clusters = groups(document.relay) if document.relay else []
    ways = pair_ways(plan, clusters)
    problems += _unjoined(scenario, clusters, ways)
    jobs, wrong = plan_jobs(scenario, network, inputs)
    problems += wrong
    starts, wrong = plan_starts(scenario, inputs)
    problems += wrong
    if problems:
        raise ScenarioError(problems)
    relayed = {link for steps in ways.values() for link, _way in steps or ()}
    warnings = [
        *scenario.warnings,
        *too_large,
        *inputs.warnings,
        *_unused_links(scenario, network, routes, alike, relayed),
    ]
    return Resolved(
        plan,
        tuple(traffic),
        tuple(_expectations(scenario, network)),
        scenario,
        scenario.source.content,
        tuple(warnings),
        tuple(inputs.read),
        tuple(jobs),
        {
            node: simulated(document.tcp, network.nodes[node].spec.tcp or Tcp(), most)
            for node, most in largest.items()
        },
        {node.name: node.spec.at for node in network.nodes if node.spec.at is not None},
        {
            node.name: node.spec.function or ("client" if node.spec.kind == "host" else "router")
            for node in network.nodes
        },
        {link.name: link.round_trips for link in network.links if link.round_trips},
        tuple(owners),
        starts,
    )


def _nodes(scenario: Scenario, network: Network) -> list[Plain]:
    is_router = [node.spec.kind == "router" for node in network.nodes]
    addresses = assign(is_router, [link.ends for link in network.links])
    family = scenario.document.addresses
    mtus: dict[int, int] = {}
    for link in network.links:
        for end in link.ends:
            mtus[end] = min(link.mtu, mtus.get(end, link.mtu))
    return [
        {
            "name": node.name,
            "kind": node.spec.kind,
            "ipv4": str(address.ipv4) if family != "ipv6" else None,
            "ipv6": str(address.ipv6) if family != "ipv4" else None,
            "mtu": 0 if node.spec.kind == "router" else mtus.get(index, 1500),
            "sysctls": {},
        }
        for index, (node, address) in enumerate(zip(network.nodes, addresses, strict=True))
    ]


def _programs(scenario: Scenario, network: Network) -> list[Plain]:
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
) -> Plain:
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


def _planned(
    scenario: Scenario, name: str, flow: Traffic, network: Network, inputs: Inputs
) -> list[Plain] | Problem:
    """The flows of one traffic; or what is wrong."""
    if isinstance(flow, Background):
        load = plan_background(scenario, name, flow, network)
        return load if isinstance(load, Problem) else [load]
    if isinstance(flow, Replay):
        return plan_replay(name, flow, network, inputs)
    return [_flow(name, flow, network, inputs)]


def _flow(name: str, flow: Ping | Bulk | Datagrams | Requests, network: Network, inputs: Inputs) -> Plain:
    item: Plain = {
        "name": name,
        "kind": flow.kind,
        "source": network.node_index[flow.source],
        "destinations": [network.node_index[host] for host in expand_all(flow.to)],
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
        return {**item, "flows": flow.flows, "cc": flow.cc}
    on_off = []
    for key, law in (("on", flow.on), ("off", flow.off)):
        with within(key):
            on_off += [plan_distribution(law, inputs, TIME)] if law is not None else []
    return {
        **item,
        "size_bytes": flow.size.bytes if flow.size else None,
        "arrivals": flow.arrivals,
        "sizes": flow.sizes,
        "on_off": on_off or None,
    }


def _measure(scenario: Scenario, network: Network) -> Plain:
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


def _overrides(scenario: Scenario, network: Network, plan: Mapping[str, Any]) -> list[Plain]:
    """Route overrides; one to a router holds for the hosts that hang on it, too."""
    routes = Routes({**plan, "routes": []})
    names = [link.name for link in network.links]
    found: dict[tuple[int, int], int] = {}
    for route in scenario.document.routes:
        at = network.node_index[route.at]
        if route.via in names and at in network.links[names.index(route.via)].ends:
            link = names.index(route.via)
        else:
            ends = {at, network.node_index[route.via]}
            link = next(index for index, each in enumerate(network.links) if set(each.ends) == ends)
        for name in expand(route.to):
            node = network.node_index[name]
            if network.nodes[node].spec.kind == "router":
                leaves = (n for n, each in enumerate(network.nodes) if each.spec.kind == "host" and n != at)
                for leaf in leaves:
                    if routes.hub(leaf) == node:
                        found.setdefault((at, leaf), link)
            found[at, node] = link
    return [{"node": at, "destination": to, "link": link} for (at, to), link in found.items()]


def _circles(scenario: Scenario, network: Network, routes: Routes) -> list[Problem]:
    """Overrides that send packets round in circles."""
    problems = []
    for position, route in enumerate(scenario.document.routes):
        at = network.node_index[route.at]
        for name in expand(route.to):
            if routes.steps(at, network.node_index[name]) is None:
                path: Path = ("routes", position)
                message = f'packets from "{route.at}" to "{name}" would never arrive'
                problems.append(scenario.problem(path, message, "give the nodes along the way routes, too"))
                break
    return problems


def _unreachable(scenario: Scenario, routes: Routes, traffic: Sequence[Plain]) -> list[Problem]:
    """Traffic between nodes that no path joins."""
    problems = []
    for flow in traffic:
        for destination in flow["destinations"]:
            if routes.way(flow["source"], destination) is None:
                path = ("traffic", flow["name"], "file" if flow["kind"] == "replay" else "to")
                problem = scenario.problem(path, "no path leads there and back", "add a link")
                problems += [problem] if problem not in problems else []
                break
    return problems


def _unjoined(
    scenario: Scenario, clusters: Sequence[Group], ways: Mapping[tuple[int, int], Sequence[Step] | None]
) -> list[Problem]:
    """Clusters of a relay between which no path leads."""
    return [
        scenario.problem(
            ("relay", "clusters", clusters[destination].name),
            f'no path leads here from cluster "{clusters[source].name}"',
            "add a link between their sites",
        )
        for (source, destination), steps in ways.items()
        if steps is None
    ]


def _unused_links(
    scenario: Scenario, network: Network, routes: Routes, alike: Sequence[list[int]], relayed: Set[int]
) -> list[str]:
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
        warnings.append(scenario.warning(("topology",), what, remedy))
    warnings += [
        scenario.warning(link.path, "no path between hosts uses this link", remedy)
        for link in unused
        if link.name not in scenario.laid
    ]
    return warnings


def _expectations(scenario: Scenario, network: Network) -> list[Plain]:
    document = scenario.document
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
