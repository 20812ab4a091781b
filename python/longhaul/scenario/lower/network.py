"""Nodes and links with all ranges, attachments, profiles and defaults expanded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import WAYS, Direction, Plan, Way
from longhaul.scenario.check.names import attachment_name, expand_nodes, handovers
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import (
    Plain,
    mean_of,
    merge,
    plan_bundle,
    plan_delay,
    plan_link_model,
    plan_mean_ns,
    plan_rate,
    route_models,
    traced_models,
)
from longhaul.scenario.lower.main_tables import is_end
from longhaul.scenario.model import Node, Profile
from longhaul.scenario.model.link import DEFAULT_MTU, LinkModel
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError, within
from longhaul.scenario.syntax.yaml_tree import Path, follow

IPV6_MTU = 1280
"""RFC 8200, section 5."""


def far_end(endpoints: Sequence[int], way: Way) -> int:
    """The node at which a direction of a link ends."""
    return endpoints[1 if way == "forward" else 0]


def ends_at_host(plan: Plan, link: int, way: Way) -> bool:
    """Whether packets leave the network at the far end of a direction of a link of the plan."""
    end = far_end(plan["links"][link]["endpoints"], way)
    return is_end(plan["nodes"][end])


@dataclass(frozen=True)
class NamedNode:
    """A node under its own name."""

    name: str
    spec: Node
    path: Path
    """Where the file speaks of it."""
    of: int | None = None
    """The host whose further interface this is."""
    aliases: tuple[str, ...] = ()
    """Further names of its addresses."""


@dataclass(frozen=True)
class Wire:
    """A link with the models of both directions, in the plan's words."""

    name: str
    ends: tuple[int, int]
    mtu: int
    forward: Direction
    reverse: Direction
    attachment: bool
    path: Path
    round_trips: Mapping[Way, str] = field(default_factory=dict)
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
        """Position of each node by its names; those of an interface are names of its host's addresses."""
        return {
            name: position for position, node in enumerate(self.nodes) for name in (*node.aliases, node.name)
        }

    def host_of(self, index: int) -> int:
        """The host of an interface; any other node itself."""
        of = self.nodes[index].of
        return index if of is None else of

    @cached_property
    def link_index(self) -> dict[str, int]:
        """Position of each link by name."""
        return {link.name: position for position, link in enumerate(self.links)}


def build(scenario: Scenario, inputs: Inputs) -> tuple[Network, list[Diagnostic]]:
    """The network of ``scenario``, with the files of ``inputs``, and what is wrong with its links."""
    document = scenario.document
    problems: list[Diagnostic] = []
    nodes = tuple(
        NamedNode(name, document.nodes[key], ("nodes", key)) for name, key in expand_nodes(document).items()
    )
    position = {node.name: index for index, node in enumerate(nodes)}
    links: list[Wire] = []
    alike: dict[str | None, Wire] = {}
    for node in nodes:
        if node.spec.attach:
            name = attachment_name(node.name, node.spec.attach)
            ends = (position[node.name], position[node.spec.attach])
            here = Origin(scenario, node.path, node.spec.profile, (node.name, node.spec.attach))
            if here.profile in alike:
                links.append(replace(alike[here.profile], name=name, ends=ends, path=here.path))
                continue
            wire = _wire(name, ends, Profile.model_construct(), here, inputs, problems, attachment=True)
            links.append(wire)
            if not problems and not _is_traced(scenario, here.profile):
                alike[here.profile] = wire
    made = {link.name for link in links}
    for host, router in handovers(document):
        name = attachment_name(host, router)
        if name not in made and name not in document.links:
            node = nodes[position[host]]
            ends = (position[host], position[router])
            here = Origin(scenario, node.path, node.spec.profile, (host, router))
            links.append(
                _wire(name, ends, Profile.model_construct(), here, inputs, problems, attachment=True)
            )
    for name, link in document.links.items():
        ends = (position[link.endpoints[0]], position[link.endpoints[1]])
        here = Origin(scenario, ("links", name), link.profile, link.endpoints)
        links.append(_wire(name, ends, link, here, inputs, problems, attachment=False))
    unique = {(problem.span, problem.message): problem for problem in problems}
    return Network(nodes, tuple(links)), list(unique.values())


def _is_traced(scenario: Scenario, profile: str | None) -> bool:
    """Whether a profile is not the same for all links that have it: a trace knows their ends."""
    return profile is not None and scenario.document.profiles[profile].measured is not None


def _wire(
    name: str,
    ends: tuple[int, int],
    spec: Profile,
    here: "Origin",
    inputs: Inputs,
    problems: list[Diagnostic],
    *,
    attachment: bool,
) -> Wire:
    document = here.scenario.document
    profile = document.profiles[here.profile] if here.profile else Profile.model_construct()
    mtu = spec.mtu or profile.mtu or DEFAULT_MTU
    if mtu < IPV6_MTU and document.addresses != "ipv4":
        remedy = "write 1280 or more, or addresses: ipv4"
        problems.append(
            here.problem(Code.MTU_INVALID, ("mtu",), None, f"{mtu} is too small for IPv6", remedy)
        )
    task = _Task(here, inputs, problems)
    layers = [(task.measured(layer, here.ends), layer) for layer in (profile, spec)]
    ways = {
        way: merge(
            part for measured, layer in layers for part in (measured.get(way), layer, getattr(layer, way))
        )
        for way in WAYS
    }
    lanes = {way: route_models(models) for way, models in ways.items()}
    delays = {
        way: [task.delay(way, number, models) for number, models in enumerate(lanes[way])] for way in WAYS
    }
    means = {way: mean_of(delays[way]) for way in WAYS}
    directions: dict[Way, Direction] = {}
    for way, models in ways.items():
        lanes_of: list[planned.LinkModel] = []
        for number, lane in enumerate(lanes[way]):
            delay = delays[way][number]
            mean_ns = plan_mean_ns(delay)
            round_trip_ns = sum(means.values()) - means[way] + mean_ns
            lanes_of.append(task.direction(way, number, lane, delay, mean_ns, round_trip_ns, mtu))
        if "routes" in models:
            directions[way] = plan_bundle(models, lanes_of, mean_ns=means[way])
        else:
            directions[way] = cast("Direction", {**lanes_of[0], "bundle": None})
    halved = {way: column for way in WAYS for lane in lanes[way] if (column := task.round_trip(lane))}
    return Wire(name, ends, mtu, directions["forward"], directions["reverse"], attachment, here.path, halved)


@dataclass(frozen=True)
class _Task:
    """Plans the models of one link, and gathers what is wrong with them."""

    here: "Origin"
    inputs: Inputs
    problems: list[Diagnostic]

    def measured(self, layer: Profile, ends: tuple[str, str]) -> Mapping[str, LinkModel]:
        """The models of both directions that a link or its profile takes from a trace."""
        if layer.measured is None:
            return {}
        try:
            return traced_models(layer.measured, ends, self.inputs)
        except ScenarioValueError as error:
            self.problems.append(self.here.problem(error.code, error.at, None, error.message, error.remedy))
        except FileError as error:
            self.problems.append(error.problem)
        return {}

    def round_trip(self, models: Plain) -> str | None:
        """The column whose half is the delay."""
        model = models.get("delay")
        return next((column for each, column in self.inputs.round_trips if each is model), None)

    def delay(self, way: Way, number: int, models: Plain) -> planned.DelayModel:
        """The delay of route ``number``."""
        try:
            with within("delay"):
                return plan_delay(models.get("delay"), self.inputs)
        except (ScenarioValueError, FileError) as error:
            self.wrong(way, number, error)
        return plan_delay(None, self.inputs)

    def direction(
        self,
        way: Way,
        number: int,
        models: Plain,
        delay: planned.DelayModel,
        mean_ns: int,
        round_trip_ns: int,
        mtu: int,
    ) -> planned.LinkModel:
        """All models of route ``number``."""
        rate = plan_rate(None, self.inputs)
        try:
            with within("rate"):
                rate = plan_rate(models.get("rate"), self.inputs)
            return plan_link_model(
                models,
                self.inputs,
                delay=delay,
                rate=rate,
                mean_ns=mean_ns,
                round_trip_ns=round_trip_ns,
                mtu=mtu,
            )
        except (ScenarioValueError, FileError) as error:
            self.wrong(way, number, error)
        return plan_link_model(
            {}, self.inputs, delay=delay, rate=rate, mean_ns=mean_ns, round_trip_ns=0, mtu=mtu
        )

    def wrong(self, way: Way, number: int, error: ScenarioValueError | FileError) -> None:
        if isinstance(error, FileError):
            self.problems.append(error.problem)
        else:
            self.problems.append(
                self.here.problem(error.code, error.at, way, error.message, error.remedy, route=number)
            )


@dataclass(frozen=True)
class Origin:
    """Where a link's models may have come from."""

    scenario: Scenario
    path: Path
    profile: str | None
    ends: tuple[str, str]
    """The nodes that the link joins."""

    def problem(
        self, code: Code, at: Path, way: Way | None, message: str, remedy: str, *, route: int | None = None
    ) -> Diagnostic:
        """A problem of a model, whose name begins ``at``, at the most specific place that speaks of it."""
        bases: list[Path] = [self.path, *([("profiles", self.profile)] if self.profile else [])]
        model, inner = at[:1], at[1:]
        of_routes: list[Path] = []
        if route is not None:
            of_routes = [("routes", "each", route, *model), ("routes", *model)]
            of_routes += [("routes", "delays", route)] if model == ("delay",) else []
        for base in bases:
            for start in ((*base, way), base) if way else (base,):
                for path in ((*start, *tail) for tail in (*of_routes, model)):
                    if follow(self.scenario.tree, path)[2] == path:
                        whole = follow(self.scenario.tree, (*path, *inner))[2]
                        return self.scenario.problem(code, whole, message, remedy)
        return self.scenario.problem(code, self.path, message, remedy)


def origin_of(scenario: Scenario, link: str) -> Origin:
    """Where the models of the link called ``link`` come from, an attachment's as well."""
    document = scenario.document
    if link in document.links:
        spec = document.links[link]
        return Origin(scenario, ("links", link), spec.profile, spec.endpoints)
    for name, key in expand_nodes(document).items():
        node = document.nodes[key]
        if node.attach and attachment_name(name, node.attach) == link:
            return Origin(scenario, ("nodes", key), node.profile, (name, node.attach))
    raise KeyError(link)
