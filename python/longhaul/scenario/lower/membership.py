"""Links and nodes that join and leave the network, hosts that move, and the routes after that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import Plan
from longhaul.scenario.check.names import attachment_name, handovers
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.lower.events import MOST_CHANGES, cause_of
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.link_state import JOINED, LEFT, NOTHING
from longhaul.scenario.lower.network import Network
from longhaul.scenario.lower.paths import Routes
from longhaul.scenario.model import Event
from longhaul.units.configured import span

MOST_TOPOLOGIES = 200
"""Changes of the topology after which traffic is checked for paths."""


@dataclass(frozen=True)
class Membership:
    """Which links are absent at the start, and what joins and leaves."""

    absent: frozenset[int]
    events: list[planned.Event]
    problems: list[Diagnostic]


@dataclass(frozen=True)
class _Step:
    """Something that joins or leaves at a time, because of an event."""

    at_ns: int
    position: int
    event: Event
    joins: bool
    nodes: tuple[int, ...] = ()
    links: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@dataclass
class _State:
    """Which links and nodes are part of the network; a link is if it and both of its ends are."""

    network: Network
    links: list[bool]
    nodes: list[bool]
    since_ns: dict[str, int] = field(default_factory=dict)

    def present(self) -> list[bool]:
        """Of each link, whether packets pass it."""
        return [
            here and all(self.nodes[end] for end in wire.ends)
            for here, wire in zip(self.links, self.network.links, strict=True)
        ]


def plan_membership(scenario: Scenario, network: Network) -> Membership:
    """The changes of the topology in order of time, and what is wrong with the scenario's events."""
    document, problems = scenario.document, list[Diagnostic]()
    state = _State(network, [True] * len(network.links), [True] * len(network.nodes))
    steps = sorted(_steps(scenario, network), key=lambda step: (step.at_ns, step.position))
    _absent_at_first(scenario, steps, state)
    present = state.present()
    absent = frozenset(index for index, here in enumerate(present) if not here)
    events: list[planned.Event] = []
    costs = document.routing.costs
    for place, step in enumerate(steps):
        problem = _apply(scenario, step, state)
        if problem is not None:
            problems.append(problem)
            continue
        now = state.present()
        cause = cause_of(step.position, step.event)
        for index, (before, after) in enumerate(zip(present, now, strict=True)):
            if before != after:
                events.append(_change(step.at_ns, index, {**NOTHING, **(JOINED if after else LEFT)}, cause))
        last = place + 1 == len(steps) or steps[place + 1].at_ns != step.at_ns
        if last and network.links:
            reroute = {**NOTHING, "reroute": costs}
            events.append(_change(step.at_ns + document.routing.convergence.ns, 0, reroute, cause, "forward"))
        present = now
    problems += _absent_links_changed(scenario, network, absent, events)
    every = document.routing.every
    if every is not None and network.links:
        end_ns = (
            document.duration.ns if document.duration else max((each["at_ns"] for each in events), default=0)
        )
        if end_ns // every.ns > MOST_CHANGES:
            message = f"computes routes more than {MOST_CHANGES} times"
            problems.append(
                scenario.problem(
                    Code.TOO_MANY_CHANGES, ("routing", "every"), message, "write a longer interval"
                )
            )
        else:
            reroute = {**NOTHING, "reroute": "current"}
            times = range(0, end_ns, every.ns)
            events += [_change(at_ns, 0, reroute, None, "forward") for at_ns in times]
    events.sort(key=lambda each: each["at_ns"])
    return Membership(absent, events, problems)


def _change(
    at_ns: int, link: int, change: Plain, cause: planned.EventCause | None, way: planned.Way | None = None
) -> planned.Event:
    what: dict[str, Any] = {"at_ns": at_ns, "link": link, "direction": way, "route": None, "change": change}
    return cast("planned.Event", what if cause is None else {**what, "cause": cause})


def _steps(scenario: Scenario, network: Network) -> Iterator[_Step]:
    for position, event in enumerate(scenario.document.events):
        if not event.moves:
            continue
        at_ns = event.at.ns
        if event.attach is not None:
            for host in event.host or ():
                own = network.node_index[host]
                target = network.link_index[attachment_name(host, event.attach)]
                others = tuple(
                    index for index, wire in enumerate(network.links) if own in wire.ends and index != target
                )
                yield _Step(at_ns, position, event, joins=False, links=others)
                yield _Step(at_ns, position, event, joins=True, links=(target,), names=(host,))
            continue
        links = tuple(network.link_index[name] for name in event.link)
        nodes = tuple(network.node_index[name] for name in event.node)
        names = (*event.link, *event.node)
        yield _Step(at_ns, position, event, joins=event.join is True, nodes=nodes, links=links, names=names)
        if event.leave is not None and not isinstance(event.leave, bool):
            yield _Step(
                at_ns + event.leave.ns, position, event, joins=True, nodes=nodes, links=links, names=names
            )


def _absent_at_first(scenario: Scenario, steps: Sequence[_Step], state: _State) -> None:
    """What joins first of all was not there, nor were links to routers that hosts move to."""
    network = state.network
    known: set[tuple[str, int]] = set()
    for step in steps:
        if step.event.attach is not None:
            continue
        for kind, indices, here in (("link", step.links, state.links), ("node", step.nodes, state.nodes)):
            for index in indices:
                if (kind, index) not in known:
                    here[index] = not step.joins
                    known.add((kind, index))
    for host, router in handovers(scenario.document):
        if network.nodes[network.node_index[host]].spec.attach != router:
            state.links[network.link_index[attachment_name(host, router)]] = False


def _apply(scenario: Scenario, step: _Step, state: _State) -> Diagnostic | None:
    """Let the step happen; or what is wrong with it."""
    moves = step.event.attach is not None
    for kind, indices, here in (("link", step.links, state.links), ("node", step.nodes, state.nodes)):
        for index in indices:
            if here[index] == step.joins and not (moves and not step.joins):
                name = state.network.links[index].name if kind == "link" else state.network.nodes[index].name
                since = state.since_ns.get(f"{kind} {name}")
                when = "" if since is None else f" since {span(since)}"
                if moves:
                    message, remedy = (
                        f'"{step.names[0]}" is attached to it already{when}',
                        "name another router",
                    )
                elif step.joins:
                    message = f'{kind} "{name}" is part of the network already{when}'
                    remedy = "let it leave before, or remove the event"
                else:
                    message = f'{kind} "{name}" is not part of the network{when}'
                    remedy = "let it join before, or remove the event"
                return scenario.problem(Code.NOT_IN_NETWORK, _path(step), message, remedy)
            name = state.network.links[index].name if kind == "link" else state.network.nodes[index].name
            if here[index] != step.joins:
                state.since_ns[f"{kind} {name}"] = step.at_ns
            here[index] = step.joins
    return None


def _path(step: _Step) -> tuple[str | int, ...]:
    key = "attach" if step.event.attach is not None else "node" if step.nodes else "link"
    return ("events", step.position, key)


def _absent_links_changed(
    scenario: Scenario, network: Network, absent: frozenset[int], events: Sequence[planned.Event]
) -> list[Diagnostic]:
    """Other events of links that are not part of the network at that time."""
    problems = []
    times: dict[int, list[tuple[int, bool]]] = {}
    for each in events:
        present = cast("Mapping[str, Any]", each["change"]).get("present")
        if present is not None:
            times.setdefault(each["link"], []).append((each["at_ns"], present))
    for position, event in enumerate(scenario.document.events):
        for name in () if event.moves else event.link:
            index = network.link_index[name]
            here, since = index not in absent, 0
            for at_ns, present in times.get(index, ()):
                if at_ns <= event.at.ns:
                    here, since = present, at_ns
            if not here:
                message = f'link "{name}" is not part of the network since {span(since)}'
                problems.append(
                    scenario.problem(
                        Code.NOT_IN_NETWORK,
                        ("events", position, "link"),
                        message,
                        "write a time at which it is, or let it join before",
                    )
                )
    return problems


def isolated_traffic(scenario: Scenario, plan: Plan, traffic: Sequence[Plain]) -> list[Diagnostic]:
    """Warnings of traffic that has no path for some time, of the first such time of each."""
    times = [(0, plan)]
    links = [dict(link) for link in plan["links"]]
    for at_ns, present in _topologies(plan):
        for index, here in present:
            links[index]["present"] = here
        times.append((at_ns, cast("Plan", {**plan, "links": [dict(link) for link in links]})))
        if len(times) > MOST_TOPOLOGIES:
            break
    warnings: list[Diagnostic] = []
    cut: dict[tuple[str, int, int], int] = {}
    reported: set[tuple[str, int, int]] = set()

    def report(key: tuple[str, int, int], until: str) -> None:
        name, source, destination = key
        ends = [plan["nodes"][end]["name"] for end in (source, destination)]
        message = f"no path from {ends[0]} to {ends[1]} from {span(cut[key])} {until}"
        path = ("traffic", name)
        warnings.append(scenario.warning(Code.CUT_OFF, path, message, "packets end as no_route or down"))
        reported.add(key)

    for at_ns, now in times:
        routes = Routes(now)
        for flow in traffic:
            for destination in flow["destinations"]:
                key = (flow["name"], flow["source"], destination)
                if key in reported:
                    continue
                if routes.way(flow["source"], destination) is None:
                    cut.setdefault(key, at_ns)
                elif key in cut and cut[key] < at_ns:
                    report(key, f"to {span(at_ns)}")
                else:
                    # What joins at the instant at which it would be absent is there.
                    cut.pop(key, None)
    for key in cut:
        if key not in reported:
            report(key, "on")
    return warnings


def _topologies(plan: Plan) -> Iterator[tuple[int, list[tuple[int, bool]]]]:
    """The instants at which links join or leave, and which."""
    found: dict[int, list[tuple[int, bool]]] = {}
    for event in plan["events"]:
        present = cast("Mapping[str, Any]", event["change"]).get("present")
        if present is not None:
            found.setdefault(event["at_ns"], []).append((event["link"], present))
    yield from sorted(found.items())
