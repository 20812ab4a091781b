"""Nodes and links with every range, attachment, profile and default filled in."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from longhaul.scenario.laws import (
    Plain,
    default_queue,
    mean_ns,
    merge,
    plan_direction,
    plan_mean_ns,
    plan_queue,
)
from longhaul.scenario.load import Scenario
from longhaul.scenario.model import Node, Profile
from longhaul.scenario.model.link import DEFAULT_MTU
from longhaul.scenario.problems import Problem
from longhaul.scenario.references import attachment_name, expand_nodes
from longhaul.scenario.units import Span
from longhaul.scenario.yaml_tree import Path, follow

IPV6_MTU = 1280
"""RFC 8200, section 5."""


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


def build(scenario: Scenario) -> tuple[Network, list[Problem]]:
    """The network of ``scenario``, and what is wrong with its links."""
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
            here = _Origin(scenario, node.path, node.spec.profile)
            links.append(_wire(name, ends, Profile(), here, problems, attachment=True))
    for name, link in document.links.items():
        ends = (position[link.endpoints[0]], position[link.endpoints[1]])
        here = _Origin(scenario, ("links", name), link.profile)
        links.append(_wire(name, ends, link, here, problems, attachment=False))
    unique = {(problem.place, problem.message): problem for problem in problems}
    return Network(nodes, tuple(links)), list(unique.values())


def _wire(
    name: str,
    ends: tuple[int, int],
    spec: Profile,
    here: "_Origin",
    problems: list[Problem],
    *,
    attachment: bool,
) -> Wire:
    document = here.scenario.document
    profile = document.profiles[here.profile] if here.profile else Profile()
    ways = {
        way: merge((profile, getattr(profile, way), spec, getattr(spec, way)))
        for way in ("forward", "reverse")
    }
    round_trip_ns = sum(mean_ns(laws.get("delay")) for laws in ways.values())
    mtu = spec.mtu or profile.mtu or DEFAULT_MTU
    if mtu < IPV6_MTU and document.addresses != "ipv4":
        problems.append(
            here.problem(
                "mtu", None, f"{mtu} is too small for IPv6", "write 1280 or more, or addresses: ipv4"
            )
        )
    directions = {}
    for way, laws in ways.items():
        late, delay_ns = laws.get("out_of_order"), mean_ns(laws.get("delay"))
        if late and late.delay.ns <= delay_ns:
            what = f"{late.delay} is not later than the link's delay of {Span(delay_ns)}"
            problems.append(
                here.problem("out_of_order", way, what, "write a longer delay: nothing comes early")
            )
        directions[way] = plan_direction(laws, queue=_queue(laws, round_trip_ns, mtu, way, here, problems))
    return Wire(name, ends, mtu, directions["forward"], directions["reverse"], attachment, here.path)


def _queue(
    laws: dict[str, Any], round_trip_ns: int, mtu: int, way: str, here: "_Origin", problems: list[Problem]
) -> Plain:
    rate = laws["rate"].bits_per_s if "rate" in laws else None
    if "queue" not in laws:
        return default_queue(bits_per_s=rate, round_trip_ns=round_trip_ns, mtu=mtu)
    limit = laws["queue"].limit
    queue = plan_queue(limit, bits_per_s=rate, round_trip_ns=round_trip_ns)
    if queue is None:
        unit = "in BDPs" if limit.bdp else "in time"
        problems.append(
            here.problem("queue", way, f"a limit {unit} needs a rate", "add rate, or write 100p or 1MiB")
        )
        return {"limit_packets": None, "limit_bytes": None}
    return queue


@dataclass(frozen=True)
class _Origin:
    """Where a link's laws may have come from."""

    scenario: Scenario
    path: Path
    profile: str | None

    def problem(self, law: str, way: str | None, message: str, remedy: str) -> Problem:
        """A problem of a law, at the most specific place that speaks of it."""
        bases: list[Path] = [self.path, *([("profiles", self.profile)] if self.profile else [])]
        for base in bases:
            for path in ((*base, way, law) if way else (*base, law), (*base, law)):
                if follow(self.scenario.tree, path)[2] == path:
                    return self.scenario.problem(path, message, remedy)
        return self.scenario.problem(self.path, message, remedy)
