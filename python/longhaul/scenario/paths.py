"""Which way packets go: by mean one-way delay, then fewer hops, then the lower link.

The same rule as the network's own (`crates/network/src/routes.rs`), so that ``show`` tells what a run does. A
host with a single link is not part of the search: it is reached through the node that it hangs on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from heapq import heappop, heappush
from typing import Any

from longhaul.scenario.laws import bdp_bytes, plan_bits_per_s, plan_mean_ns

Step = tuple[int, str]
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

    def __init__(self, plan: Mapping[str, Any]) -> None:
        """Compute them once, for every destination that is asked for."""
        self.links: Sequence[Mapping[str, Any]] = plan["links"]
        self.hosts = [node["kind"] == "host" for node in plan["nodes"]]
        incoming: list[list[tuple[int, int, int]]] = [[] for _ in self.hosts]
        touching: list[list[int]] = [[] for _ in self.hosts]
        for index, link in enumerate(self.links):
            a, b = link["endpoints"]
            incoming[b].append((a, plan_mean_ns(link["forward"]["delay"]), 2 * index))
            incoming[a].append((b, plan_mean_ns(link["reverse"]["delay"]), 2 * index + 1))
            touching[a].append(index)
            touching[b].append(index)
        self._incoming = incoming
        self._leaf = {
            node: touching[node][0]
            for node, is_host in enumerate(self.hosts)
            if is_host and len(touching[node]) == 1
        }
        self._overrides = {(each["node"], each["destination"]): each["link"] for each in plan["routes"]}
        self._tables: dict[int, dict[int, int]] = {}
        self._known_numbers: dict[Step, tuple[int, int | None]] = {}

    def hub(self, node: int) -> int:
        """The node that a host with a single link hangs on; any other node itself."""
        return self._other(self._leaf[node], node) if node in self._leaf else node

    def only_link(self, node: int) -> int | None:
        """The link of a host that has but one."""
        return self._leaf.get(node)

    def next(self, node: int, destination: int) -> Step | None:
        """The link that a packet at ``node`` for ``destination`` takes."""
        link = self._overrides.get((node, destination))
        if link is None and destination in self._leaf and self.hub(destination) == node:
            link = self._leaf[destination]
        if link is None and node in self._leaf:
            link = self._leaf[node]
        if link is not None:
            return link, self._way(link, node)
        direction = self._table(self.hub(destination)).get(node)
        return None if direction is None else (direction >> 1, "reverse" if direction & 1 else "forward")

    def steps(self, source: int, destination: int) -> tuple[Step, ...] | None:
        """The links from ``source`` to ``destination``; ``None`` if there is no way, or a circle."""
        steps: list[Step] = []
        node = source
        while node != destination:
            step = self.next(node, destination)
            if step is None or len(steps) > len(self.hosts) or (steps and self.hosts[node]):
                return None
            steps.append(step)
            node = self._other(step[0], node)
        return tuple(steps)

    def way(self, source: int, destination: int) -> Way | None:
        """The path between two nodes, with its delay and bottleneck."""
        there, back = self.steps(source, destination), self.steps(destination, source)
        if there is None or back is None:
            return None
        onward, homeward = self._sum(there), self._sum(back)
        return Way(
            source,
            destination,
            there,
            back,
            one_way_ns=onward.delay_ns,
            return_ns=homeward.delay_ns,
            bits_per_s=onward.bits_per_s,
            bottleneck=onward.bottleneck[0] if onward.bottleneck else None,
            mtu=min(onward.mtu, homeward.mtu),
        )

    def reaches(self, sources: Iterable[int], destination: int) -> list[Reach | None]:
        """How far it is from each of ``sources``; ``None`` without a way. Shared parts are walked once."""
        known: dict[int, Reach | None] = {destination: _HERE}
        return [self._reach(source, destination, known) for source in sources]

    def used(self, sources: Iterable[int], destination: int) -> set[int]:
        """The links on the ways of all ``sources`` that have one. Shared parts are walked once."""
        found: set[int] = set()
        arrives = {destination: True}
        for source in sources:
            walked: dict[int, int] = {}
            node = source
            while node not in arrives and node not in walked:
                step = self.next(node, destination) if not walked or not self.hosts[node] else None
                if step is None:
                    break
                walked[node] = step[0]
                node = self._other(step[0], node)
            # No way leads through a host, though one may begin there.
            through_host = bool(walked) and self.hosts[node] and node != destination
            good = arrives.get(node, False) and not through_host
            arrives.update(dict.fromkeys(walked, good))
            found.update(walked.values() if good else ())
        return found

    def _reach(self, source: int, destination: int, known: dict[int, Reach | None]) -> Reach | None:
        walked: list[tuple[int, Step]] = []
        node, step = source, None
        seen = {source}
        while node not in known:
            step = self.next(node, destination) if not walked or not self.hosts[node] else None
            if step is None:
                break
            walked.append((node, step))
            node = self._other(step[0], node)
            if node in seen:
                break
            seen.add(node)
        rest = known.get(node)
        if walked and self.hosts[node] and node != destination:
            # From a host there may be a way, but none leads through it.
            rest = None
        for passed, step in reversed(walked):
            rest = None if rest is None else self._beyond(step, rest)
            known[passed] = rest
        return rest

    def _beyond(self, step: Step, rest: Reach) -> Reach:
        """``rest``, and one link before it."""
        delay_ns, bits_per_s = self._numbers(step)
        mtu = min(rest.mtu, self.links[step[0]]["mtu"])
        if bits_per_s is None or (rest.bits_per_s is not None and rest.bits_per_s < bits_per_s):
            return Reach(delay_ns + rest.delay_ns, rest.bits_per_s, rest.bottleneck, mtu)
        return Reach(delay_ns + rest.delay_ns, bits_per_s, step, mtu)

    def _sum(self, steps: Sequence[Step]) -> Reach:
        return reduce(lambda rest, step: self._beyond(step, rest), reversed(steps), _HERE)

    def _numbers(self, step: Step) -> tuple[int, int | None]:
        """Mean delay and rate of one direction of a link."""
        if step not in self._known_numbers:
            direction = self.links[step[0]][step[1]]
            self._known_numbers[step] = plan_mean_ns(direction["delay"]), plan_bits_per_s(direction)
        return self._known_numbers[step]

    def nodes_of(self, source: int, steps: Iterable[Step]) -> list[int]:
        """The nodes that ``steps`` visit, ``source`` first."""
        nodes = [source]
        for link, _way in steps:
            nodes.append(self._other(link, nodes[-1]))
        return nodes

    def representatives(self) -> dict[tuple[Any, ...], list[int]]:
        """Hosts in groups whose paths are alike: same hub, same laws of the only link, no override."""
        special = {node for pair in self._overrides for node in pair}
        groups: dict[tuple[Any, ...], list[int]] = {}
        for node, is_host in enumerate(self.hosts):
            if not is_host:
                continue
            key: tuple[Any, ...] = (node,)
            if node in self._leaf and node not in special:
                link = self.links[self._leaf[node]]
                outward = link["forward"] if link["endpoints"][0] == node else link["reverse"]
                inward = link["reverse"] if link["endpoints"][0] == node else link["forward"]
                key = (self.hub(node), link["mtu"], repr(outward), repr(inward))
            groups.setdefault(key, []).append(node)
        return groups

    def _other(self, link: int, node: int) -> int:
        a, b = self.links[link]["endpoints"]
        return int(b if a == node else a)

    def _way(self, link: int, node: int) -> str:
        return "forward" if self.links[link]["endpoints"][0] == node else "reverse"

    def _table(self, destination: int) -> dict[int, int]:
        """For each node the direction towards ``destination``: Dijkstra's search, backwards."""
        if destination in self._tables:
            return self._tables[destination]
        best: dict[int, tuple[int, int, int]] = {destination: (0, 0, -1)}
        open_nodes = [(0, 0, destination)]
        while open_nodes:
            cost, hops, node = heappop(open_nodes)
            if (cost, hops) != best[node][:2] or (node != destination and self.hosts[node]):
                continue
            for before, delay_ns, direction in self._incoming[node]:
                found = (cost + delay_ns, hops + 1, direction)
                if before in self._leaf and before != destination:
                    continue
                known = best.get(before)
                if known is None or found < known:
                    best[before] = found
                    if known is None or found[:2] < known[:2]:
                        heappush(open_nodes, (found[0], found[1], before))
        table = {node: direction for node, (_cost, _hops, direction) in best.items() if direction >= 0}
        self._tables[destination] = table
        return table
