"""Nodes and links with every range, attachment, profile and default filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from longhaul.scenario.inputs import FileError, Inputs, LawError, within
from longhaul.scenario.laws import (
    Plain,
    mean_of,
    measured_laws,
    merge,
    plan_bundle,
    plan_delay,
    plan_direction,
    plan_mean_ns,
    plan_rate,
    route_laws,
)
from longhaul.scenario.load import Scenario
from longhaul.scenario.model import Node, Profile
from longhaul.scenario.model.link import DEFAULT_MTU, Laws
from longhaul.scenario.problems import Problem
from longhaul.scenario.references import attachment_name, expand_nodes
from longhaul.scenario.yaml_tree import Path, follow

WAYS = ("forward", "reverse")
IPV6_MTU = 1280
"""RFC 8200, section 5."""


def far_end(endpoints: Sequence[int], way: str) -> int:
    """The node at which a direction of a link ends."""
    return endpoints[1 if way == "forward" else 0]


def ends_at_host(plan: Mapping[str, Any], link: int, way: str) -> bool:
    """Whether packets leave the network at the far end of a direction of a link of the plan."""
    end = far_end(plan["links"][link]["endpoints"], way)
    return bool(plan["nodes"][end]["kind"] == "host")


@dataclass(frozen=True)
class NamedNode:
    """A node under its own name."""

    name: str
    spec: Node
    path: Path
    """Where the file speaks of it."""


@dataclass(frozen=True)
class Wire:
    """A link with the laws of both directions, in the plan's words."""

    name: str
    ends: tuple[int, int]
    mtu: int
    forward: Plain
    reverse: Plain
    attachment: bool
    path: Path
    round_trips: Mapping[str, str] = field(default_factory=dict)
    """The column of each direction whose delay is half of a measured round trip."""

    @property
    def round_trip_ns(self) -> int:
        """The mean delay there and back, at the start."""
        return plan_mean_ns(self.forward["delay"]) + plan_mean_ns(self.reverse["delay"])


@dataclass(frozen=True)
class Network:
    """All nodes and links, in the order of the file; attachments come before other links."""

    nodes: tuple[NamedNode, ...]
    links: tuple[Wire, ...]

    @cached_property
    def node_index(self) -> dict[str, int]:
        """Position of each node by name."""
        return {node.name: position for position, node in enumerate(self.nodes)}

    @cached_property
    def link_index(self) -> dict[str, int]:
        """Position of each link by name."""
        return {link.name: position for position, link in enumerate(self.links)}


def build(scenario: Scenario, inputs: Inputs) -> tuple[Network, list[Problem]]:
    """The network of ``scenario``, with the files of ``inputs``, and what is wrong with its links."""
    document = scenario.document
    problems: list[Problem] = []
    nodes = tuple(
        NamedNode(name, document.nodes[key], ("nodes", key)) for name, key in expand_nodes(document).items()
    )
    position = {node.name: index for index, node in enumerate(nodes)}
    links = []
    for node in nodes:
        if node.spec.attach:
            name = attachment_name(node.name, node.spec.attach)
            ends = (position[node.name], position[node.spec.attach])
            here = Origin(scenario, node.path, node.spec.profile, (node.name, node.spec.attach))
            links.append(_wire(name, ends, Profile(), here, inputs, problems, attachment=True))
    for name, link in document.links.items():
        ends = (position[link.endpoints[0]], position[link.endpoints[1]])
        here = Origin(scenario, ("links", name), link.profile, link.endpoints)
        links.append(_wire(name, ends, link, here, inputs, problems, attachment=False))
    unique = {(problem.place, problem.message): problem for problem in problems}
    return Network(nodes, tuple(links)), list(unique.values())


def _wire(
    name: str,
    ends: tuple[int, int],
    spec: Profile,
    here: "Origin",
    inputs: Inputs,
    problems: list[Problem],
    *,
    attachment: bool,
) -> Wire:
    document = here.scenario.document
    profile = document.profiles[here.profile] if here.profile else Profile()
    mtu = spec.mtu or profile.mtu or DEFAULT_MTU
    if mtu < IPV6_MTU and document.addresses != "ipv4":
        remedy = "write 1280 or more, or addresses: ipv4"
        problems.append(here.problem(("mtu",), None, f"{mtu} is too small for IPv6", remedy))
    task = _Task(here, inputs, problems)
    layers = [(task.measured(layer, here.ends), layer) for layer in (profile, spec)]
    ways = {
        way: merge(
            part for measured, layer in layers for part in (measured.get(way), layer, getattr(layer, way))
        )
        for way in WAYS
    }
    lanes = {way: route_laws(laws) for way, laws in ways.items()}
    delays = {way: [task.delay(way, number, laws) for number, laws in enumerate(lanes[way])] for way in WAYS}
    means = {way: mean_of(delays[way]) for way in WAYS}
    directions = {}
    for way, laws in ways.items():
        planned = []
        for number, lane in enumerate(lanes[way]):
            delay = delays[way][number]
            mean_ns = plan_mean_ns(delay)
            round_trip_ns = sum(means.values()) - means[way] + mean_ns
            planned.append(task.direction(way, number, lane, delay, mean_ns, round_trip_ns, mtu))
        if "routes" in laws:
            directions[way] = plan_bundle(laws, planned, mean_ns=means[way])
        else:
            directions[way] = planned[0]
    halved = {way: column for way in WAYS for lane in lanes[way] if (column := task.round_trip(lane))}
    return Wire(name, ends, mtu, directions["forward"], directions["reverse"], attachment, here.path, halved)


@dataclass(frozen=True)
class _Task:
    """Plans the laws of one link, and gathers what is wrong with them."""

    here: "Origin"
    inputs: Inputs
    problems: list[Problem]

    def measured(self, layer: Profile, ends: tuple[str, str]) -> Mapping[str, Laws]:
        """The laws of both directions that a link or its profile takes from a trace."""
        if layer.measured is None:
            return {}
        try:
            return measured_laws(layer.measured, ends, self.inputs)
        except LawError as error:
            self.problems.append(self.here.problem(error.at, None, error.message, error.remedy))
        except FileError as error:
            self.problems.append(error.problem)
        return {}

    def round_trip(self, laws: Plain) -> str | None:
        """The column whose half is the delay."""
        law = laws.get("delay")
        return next((column for each, column in self.inputs.round_trips if each is law), None)

    def delay(self, way: str, number: int, laws: Plain) -> Plain:
        """The delay of route ``number``."""
        try:
            with within("delay"):
                return plan_delay(laws.get("delay"), self.inputs)
        except (LawError, FileError) as error:
            self.wrong(way, number, error)
        return plan_delay(None, self.inputs)

    def direction(
        self, way: str, number: int, laws: Plain, delay: Plain, mean_ns: int, round_trip_ns: int, mtu: int
    ) -> Plain:
        """All laws of route ``number``."""
        rate = plan_rate(None, self.inputs)
        try:
            with within("rate"):
                rate = plan_rate(laws.get("rate"), self.inputs)
            return plan_direction(
                laws,
                self.inputs,
                delay=delay,
                rate=rate,
                mean_ns=mean_ns,
                round_trip_ns=round_trip_ns,
                mtu=mtu,
            )
        except (LawError, FileError) as error:
            self.wrong(way, number, error)
        return plan_direction(
            {}, self.inputs, delay=delay, rate=rate, mean_ns=mean_ns, round_trip_ns=0, mtu=mtu
        )

    def wrong(self, way: str, number: int, error: LawError | FileError) -> None:
        if isinstance(error, FileError):
            self.problems.append(error.problem)
        else:
            self.problems.append(self.here.problem(error.at, way, error.message, error.remedy, route=number))


@dataclass(frozen=True)
class Origin:
    """Where a link's laws may have come from."""

    scenario: Scenario
    path: Path
    profile: str | None
    ends: tuple[str, str]
    """The nodes that the link joins."""

    def problem(
        self, at: Path, way: str | None, message: str, remedy: str, *, route: int | None = None
    ) -> Problem:
        """A problem of a law, whose name begins ``at``, at the most specific place that speaks of it."""
        bases: list[Path] = [self.path, *([("profiles", self.profile)] if self.profile else [])]
        law, inner = at[:1], at[1:]
        of_routes: list[Path] = []
        if route is not None:
            of_routes = [("routes", "each", route, *law), ("routes", *law)]
            of_routes += [("routes", "delays", route)] if law == ("delay",) else []
        for base in bases:
            for start in ((*base, way), base) if way else (base,):
                for path in ((*start, *tail) for tail in (*of_routes, law)):
                    if follow(self.scenario.tree, path)[2] == path:
                        whole = follow(self.scenario.tree, (*path, *inner))[2]
                        return self.scenario.problem(whole, message, remedy)
        return self.scenario.problem(self.path, message, remedy)


def origin_of(scenario: Scenario, link: str) -> Origin:
    """Where the laws of the link called ``link`` come from, an attachment's as well."""
    document = scenario.document
    if link in document.links:
        spec = document.links[link]
        return Origin(scenario, ("links", link), spec.profile, spec.endpoints)
    for name, key in expand_nodes(document).items():
        node = document.nodes[key]
        if node.attach and attachment_name(name, node.attach) == link:
            return Origin(scenario, ("nodes", key), node.profile, (name, node.attach))
    raise KeyError(link)
