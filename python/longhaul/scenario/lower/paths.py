"""Paths of a plan: the links that packets take, and the delay, rate and MTU along them.

Routes are computed by the network's own code (`crates/network/src/routes.rs`), so that a scenario is
checked and shown with the paths of its run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import longhaul.plan as planned
from longhaul._longhaul import Routes as NetworkRoutes
from longhaul.plan import WAYS, Plan
from longhaul.scenario.check.clusters import Group
from longhaul.scenario.lower.link_models import bdp_bytes, plan_bits_per_s, plan_mean_ns
from longhaul.scenario.lower.main_tables import choose_interface, interfaces_of, is_end, owner_of

Step = tuple[int, planned.Way]
"""A link, and the way it is taken."""


@dataclass(frozen=True)
class Way:
    """A path from one node to another, and back the way that packets come back."""

    source: int
    destination: int
    there: tuple[Step, ...]
    back: tuple[Step, ...]
    one_way_ns: int
    return_ns: int
    bits_per_s: int | None
    """The smallest rate on the way there; ``None``: unlimited."""
    bottleneck: int | None
    """The first link with that rate."""
    mtu: int

    @property
    def round_trip_ns(self) -> int:
        """Mean delay there and back, without queues and serialisation."""
        return self.one_way_ns + self.return_ns

    @property
    def bdp_bytes(self) -> int | None:
        """Rate of the bottleneck times the round trip."""
        return None if self.bits_per_s is None else bdp_bytes(self.bits_per_s, self.round_trip_ns)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far it is from a node to a destination, one way."""

    delay_ns: int
    bits_per_s: int | None
    """The smallest rate; ``None``: unlimited."""
    bottleneck: Step | None
    """The first link with that rate."""
    mtu: int


_HERE = Reach(0, None, None, 65_535)


class Routes:
    """The routes of a plan."""

    def __init__(self, plan: Plan) -> None:
        """Read nodes, links and routes; each destination is searched for when it is first asked for."""
        self.links: Sequence[Mapping[str, Any]] = plan["links"]
        self.nodes = plan["nodes"]
        self.hosts = [node["kind"] == "host" for node in self.nodes]
        self.ends = [is_end(node) for node in self.nodes]
        self.owners = [owner_of(self.nodes, index) for index in range(len(self.nodes))]
        self.forwarding = [self.nodes[owner].get("forwards", False) for owner in self.owners]
        self._interfaces = interfaces_of(self.nodes)
        overrides = [(each["node"], each["destination"], each["link"]) for each in plan["routes"]]
        self._hashes_flows = plan.get("multipath") == "flow-hash"
        self._routes = NetworkRoutes(
            kinds=self.ends,
            hosts=self.owners,
            forwarding=self.forwarding,
            links=[_edge(link) for link in self.links],
            overrides=overrides,
            flow_hash=(plan["seed"], [node["name"] for node in self.nodes]) if self._hashes_flows else None,
        )
        self._overrides = overrides
        self._steps: list[Step] = [(link, way) for link in range(len(self.links)) for way in WAYS]
        self._far = [link["endpoints"][end] for link in self.links for end in (1, 0)]
        self._alone: list[Reach | None] = [None] * len(self._far)

    def hub(self, node: int) -> int:
        """The node that a host with a single link hangs on; any other node itself."""
        attachment = self._routes.attachment(node)
        return attachment[0] if attachment else node

    def only_link(self, node: int) -> int | None:
        """The link of a host that has but one."""
        attachment = self._routes.attachment(node)
        return attachment[1] if attachment else None

    def next(self, node: int, destination: int) -> Step | None:
        """The link that a packet at ``node`` for ``destination`` takes."""
        direction = self._routes.next(choose_interface(self.nodes, node, destination), destination)
        return None if direction is None else self._steps[direction]

    def steps(self, source: int, destination: int) -> tuple[Step, ...] | None:
        """The links from ``source`` to ``destination``; ``None`` if there is no way, or a circle."""
        path = self._routes.path(choose_interface(self.nodes, source, destination), destination)
        return None if path is None else self._named(path)

    def way(self, source: int, destination: int) -> Way | None:
        """The path between two nodes, with its delay and bottleneck."""
        mine = choose_interface(self.nodes, source, destination)
        there = self._routes.path(mine, destination)
        back = self._routes.path(self.answering(destination, mine), mine)
        if there is None or back is None:
            return None
        onward, homeward = self._sum(there), self._sum(back)
        return Way(
            source,
            destination,
            self._named(there),
            self._named(back),
            one_way_ns=onward.delay_ns,
            return_ns=homeward.delay_ns,
            bits_per_s=onward.bits_per_s,
            bottleneck=onward.bottleneck[0] if onward.bottleneck else None,
            mtu=min(onward.mtu, homeward.mtu),
        )

    def answering(self, destination: int, source: int) -> int:
        """The interface by which the host of ``destination`` answers ``source``.

        It is that of the address, or what the host's main table says, if no path leads from there.
        """
        if self._routes.path(destination, source) is not None:
            return destination
        return choose_interface(self.nodes, self.owners[destination], source)

    def arrives_by(self, interface: int, destination: int) -> int | None:
        """The interface by which packets come in that left ``interface`` for the address ``destination``."""
        path = self._routes.path(interface, destination)
        return None if not path else self.nodes_of(interface, self._named(path))[-1]

    def reaches(self, sources: Iterable[int], destination: int) -> list[Reach | None]:
        """How far it is from each of ``sources``; ``None`` without a way. Shared parts are added up once."""
        sources = [choose_interface(self.nodes, source, destination) for source in sources]
        host = self.owners[destination]
        known = dict.fromkeys(self._interfaces.get(host, (destination,)), _HERE)
        for node, direction in self._routes.tree(sources, destination):
            known[node] = self._beyond(direction, known[self._far[direction]])
        return [known.get(source) for source in sources]

    def used(self, sources: Iterable[int], destination: int) -> set[int]:
        """The links on the ways of all ``sources`` that have one."""
        mine = [choose_interface(self.nodes, source, destination) for source in sources]
        if self._hashes_flows:
            return {direction >> 1 for direction in self._routes.used(mine, destination)}
        return {direction >> 1 for _node, direction in self._routes.tree(mine, destination)}

    def flow_steps(self, source: int, destination: int, flow: int) -> tuple[Step, ...] | None:
        """The links that packets of the flow with this hash take; ``None`` if there is no way."""
        path = self._routes.path_of(choose_interface(self.nodes, source, destination), destination, flow)
        return None if path is None else self._named(path)

    def equal_paths(self, source: int, destination: int) -> int:
        """How many paths packets may take, each chosen by the hash of a flow; 0 without a way."""
        known: dict[int, int] = {}

        def count(node: int, depth: int) -> int:
            if self.owners[node] == self.owners[destination]:
                return 1
            if depth > len(self.ends) or (depth and self.ends[node]):
                return 0
            if node not in known:
                known[node] = sum(
                    count(self._far[each], depth + 1) for each in self._routes.equal_next(node, destination)
                )
            return known[node]

        return count(choose_interface(self.nodes, source, destination), 0)

    def _beyond(self, direction: int, rest: Reach) -> Reach:
        """``rest``, and one link before it."""
        alone = self._alone[direction] or self._over(direction)
        mtu = min(rest.mtu, alone.mtu)
        slower = rest.bits_per_s is not None and (
            alone.bits_per_s is None or rest.bits_per_s < alone.bits_per_s
        )
        narrow = rest if slower else alone
        return Reach(alone.delay_ns + rest.delay_ns, narrow.bits_per_s, narrow.bottleneck, mtu)

    def _over(self, direction: int) -> Reach:
        """How far it is over one direction of a link."""
        step = self._steps[direction]
        link = self.links[step[0]]
        bits_per_s = plan_bits_per_s(link[step[1]])
        bottleneck = None if bits_per_s is None else step
        found = Reach(plan_mean_ns(link[step[1]]["delay"]), bits_per_s, bottleneck, link["mtu"])
        self._alone[direction] = found
        return found

    def _sum(self, path: Sequence[int]) -> Reach:
        return reduce(lambda rest, direction: self._beyond(direction, rest), reversed(path), _HERE)

    def _named(self, path: Iterable[int]) -> tuple[Step, ...]:
        return tuple(self._steps[direction] for direction in path)

    def nodes_of(self, source: int, steps: Iterable[Step]) -> list[int]:
        """The nodes that ``steps`` visit, ``source`` or the interface that it sends from first."""
        nodes = [source]
        for link, way in steps:
            a, b = self.links[link]["endpoints"]
            near, far = (a, b) if way == "forward" else (b, a)
            if len(nodes) == 1 and self.owners[near] == self.owners[source]:
                nodes = [near]
            nodes.append(far)
        return nodes

    def representatives(self) -> dict[tuple[Any, ...], list[int]]:
        """Hosts in groups whose paths are alike: same hub, same models of the only link, no override.

        Interfaces of hosts that have several are groups by themselves; those of a host that forwards are one.
        """
        special = {node for at, to, _link in self._overrides for node in (at, to)}
        special |= {each for node, owner in enumerate(self.owners) if node != owner for each in (node, owner)}
        groups: dict[tuple[Any, ...], list[int]] = {}
        for node, ends_here in enumerate(self.ends):
            if not ends_here or (self.forwarding[node] and self.owners[node] != node):
                continue
            key: tuple[Any, ...] = (node,)
            attachment = None if node in special else self._routes.attachment(node)
            if attachment:
                hub, position = attachment
                link = self.links[position]
                outward = link["forward"] if link["endpoints"][0] == node else link["reverse"]
                inward = link["reverse"] if link["endpoints"][0] == node else link["forward"]
                at = self.owners[hub] if self.forwarding[hub] else hub
                key = (at, link["mtu"], repr(outward), repr(inward))
            groups.setdefault(key, []).append(node)
        return groups


def _edge(link: Mapping[str, Any]) -> tuple[int, int, int, int, bool]:
    """The ends of a link, its mean delays forward and reverse, and whether it is there at the start."""
    (a, b), (there, back) = link["endpoints"], (plan_mean_ns(link[way]["delay"]) for way in WAYS)
    return a, b, there, back, link.get("present", True)


def simulated_flow_hash(flow: int, stream: int, *, back: bool = False) -> int:
    """The hash of a simulated flow, by its position in the plan, as in `crates/endpoints/src/build.rs`.

    A number for each direction of each connection (the finaliser of splitmix64) stands for addresses and
    ports.
    """
    mask = 2**64 - 1
    word = ((flow << 32 | 2 * stream + back) + 0x9E3779B97F4A7C15) & mask
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
    return (word ^ word >> 31) & 0xFFFFFFFF


def pair_ways(plan: Plan, clusters: Sequence[Group]) -> dict[tuple[int, int], tuple[Step, ...] | None]:
    """The links from each cluster to each, itself included; ``None`` without a way."""
    routes = Routes(plan)
    index = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    sites = [index[each.site] for each in clusters]
    return {
        (source, destination): routes.steps(sites[source], sites[destination])
        for source in range(len(clusters))
        for destination in range(len(clusters))
    }
