"""The partition of a simulation into shards, one for each CPU core, and its expected speed-up.

Shards wait for each other by the conservative algorithm of Chandy and Misra (IEEE Trans. Softw. Eng. SE-5(5),
1979), so that results do not depend on the partition. METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20(1),
1998) finds parts with equal work between which few packets cross. docs/models/simulation.md has the figures.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from longhaul import _longhaul, json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan

Json = dict[str, Any]

Shards = int | Literal["auto"]

MOST_SHARDS = 1024
"""That can be asked for."""
CROSSING_NS = 30.0
"""CPU time of a packet that goes from one shard to another, in each of the two."""
MESSAGE_NS = 15_000.0
"""Time from the end of a window in one shard to the start of the next window in a neighbour."""
WINDOW_NS = 3_000.0
"""CPU time to send and receive the messages of a window."""
WINDOWS = _longhaul.Simulation.WINDOWS_PER_LOOKAHEAD
"""Windows in a lookahead, the least time that a packet takes between two shards."""
WORTH_S = 5.0
"""Least expected CPU time of a simulation that ``auto`` divides."""
WORTH = 1.3
"""Least expected speed-up with which ``auto`` divides a simulation."""
THRESHOLDS = 12
"""Most lookaheads that are tried as the least of a cut."""
FEW = 3
"""Least number of groups of nodes for each shard with which METIS leaves no shard empty."""
SCALE = 1_000_000
"""Sum of all weights, which are whole numbers for METIS."""


@dataclass(frozen=True)
class Load:
    """The expected work of a simulation."""

    obstacle: str | None
    """Why it cannot be divided, if so."""
    nodes: list[float]
    """CPU time of each node for a simulated second, in ns."""
    links: list[tuple[int, int, float, float]]
    """Ends, packets a second, and lookahead in ns, 0 if it cannot be cut."""
    interfaces: list[tuple[int, int]]
    """Interfaces and their hosts."""

    @property
    def total(self) -> float:
        """CPU time of all nodes for a simulated second, in ns."""
        return sum(self.nodes)


@dataclass(frozen=True)
class Division:
    """A partition of a plan's nodes into shards, and its expected speed-up."""

    partition: list[int]
    """The shard of each node."""
    shards: int
    cut: list[int] = field(default_factory=list)
    """Links between shards, by their positions."""
    lookaheads_ns: list[float] = field(default_factory=list)
    """The least time that a packet takes on each of these."""
    lookahead_ns: float = 0.0
    """The least time that a packet takes between two shards."""
    work: list[float] = field(default_factory=list)
    """CPU time of each shard for a simulated second, in ns, with packets that cross."""
    crossing_per_s: float = 0.0
    """Packets that go from one shard to another, in a simulated second."""
    speedup: float = 1.0
    """Expected speed-up over one shard, if each shard has a CPU core."""
    reason: str | None = None
    """Why there is one shard instead of the configured number."""


def processors() -> int:
    """Number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0))


def configured(plan: Plan, shards: int) -> Division | None:
    """The division of the simulation of ``plan`` into ``shards``, or None for one.

    Raises LonghaulError if the simulation cannot be divided into so many.
    """
    if shards == 1:
        return None
    text = json_text.compact(plan).decode()
    division = best(load_of(_longhaul.Simulation(text, directory=None), text), [shards])
    if division.reason:
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"the simulation cannot be divided into {shards} shards: {division.reason}",
            remedy="use --shards auto, or fewer shards",
            exit_code=2,
        )
    return division


def automatic(simulation: _longhaul.Simulation, plan: str, *, seconds: float | None) -> Division | None:
    """The division that ``auto`` uses for ``simulation`` of ``plan``, or None for one shard.

    ``seconds`` is the simulated time, if the scenario sets it.
    """
    if processors() == 1 or seconds is None:
        return None
    load = load_of(simulation, plan)
    if load.obstacle or load.total * seconds < WORTH_S * 1e9:
        return None
    division = best(load, range(2, processors() + 1))
    return division if division.speedup >= WORTH else None


def load_of(simulation: _longhaul.Simulation, plan: str) -> Load:
    """The expected work of ``simulation`` of ``plan``."""
    return Load(*simulation.load(plan))


def best(load: Load, counts: Iterable[int]) -> Division:
    """The division into one of these numbers of shards that is expected to be the fastest."""
    whole = Division(partition=[0] * len(load.nodes), shards=1, work=[load.total], reason=load.obstacle)
    if load.obstacle:
        return whole
    found = [division for count in counts for division in divisions(load, count)]
    if not found:
        reason = "links that can be cut divide the network into fewer parts"
        return Division(partition=whole.partition, shards=1, work=whole.work, reason=reason)
    return max(found, key=lambda division: (division.speedup, division.lookahead_ns))


def divisions(load: Load, count: int) -> Iterable[Division]:
    """Divisions into ``count`` shards, each with another least delay of links that may be cut."""
    for least_ns in thresholds([lookahead for *_, lookahead in load.links if lookahead > 0]):
        groups = contracted(load, least_ns)
        if max(groups) + 1 < count:
            continue
        partition = partitioned(load, groups, count)
        if len(set(partition)) == count:
            yield evaluated(load, partition, count)


def thresholds(lookaheads: Sequence[float]) -> list[float]:
    """Some of these, the largest first."""
    distinct = sorted(set(lookaheads), reverse=True)
    if len(distinct) <= THRESHOLDS:
        return distinct
    step = (len(distinct) - 1) / (THRESHOLDS - 1)
    return [distinct[round(step * number)] for number in range(THRESHOLDS)]


def contracted(load: Load, least_ns: float) -> list[int]:
    """The group of each node: nodes are in one if a link that may not be cut joins them."""
    parent = list(range(len(load.nodes)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    joined = [(near, far) for near, far, _, lookahead in load.links if lookahead < least_ns]
    for near, far in (*joined, *load.interfaces):
        parent[root(near)] = root(far)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(node), len(numbers)) for node in range(len(parent))]


def partitioned(load: Load, groups: Sequence[int], count: int) -> list[int]:
    """The shard of each node: groups in parts of about equal work, with few packets between them."""
    import pymetis

    work = [0.0] * (max(groups) + 1)
    for node, group in enumerate(groups):
        work[group] += load.nodes[node]
    between: list[dict[int, float]] = [{} for _ in work]
    for near, far, packets_per_s, _ in load.links:
        ends = groups[near], groups[far]
        if ends[0] != ends[1]:
            for here, there in (ends, ends[::-1]):
                between[here][there] = between[here].get(there, 0.0) + packets_per_s
    whole = whole_numbers(work)
    packets = whole_numbers([packets for each in between for packets in each.values()])
    starts = [0]
    for each in between:
        starts.append(starts[-1] + len(each))
    neighbours = [group for each in between for group in each]
    if len(work) < FEW * count:
        # METIS leaves parts empty.
        parts: Sequence[int] = largest_first(work, count)
    else:
        graph = pymetis.CSRAdjacency(starts, neighbours)
        _, parts = pymetis.part_graph(count, graph, vweights=whole, eweights=packets)
    numbers: dict[int, int] = {}
    # The first node's shard is the first, and so on.
    return [numbers.setdefault(parts[group], len(numbers)) for group in groups]


def largest_first(work: Sequence[float], count: int) -> list[int]:
    """The part of each group: the largest left goes to the part with the least work (Graham, 1969)."""
    parts, sums = [0] * len(work), [(0.0, part) for part in range(count)]
    for group in sorted(range(len(work)), key=lambda group: -work[group]):
        least, part = min(sums)
        parts[group] = part
        # Groups without work are spread, too.
        sums[part] = (least + max(work[group], 1.0), part)
    return parts


def whole_numbers(weights: Sequence[float]) -> list[int]:
    """These in proportion, each at least 1."""
    total = sum(weights) or 1.0
    return [1 + round(SCALE * weight / total) for weight in weights]


def evaluated(load: Load, partition: list[int], count: int) -> Division:
    """What a division into shards is expected to bring."""
    work = [0.0] * count
    for node, shard in enumerate(partition):
        work[shard] += load.nodes[node]
    cut = [number for number, (near, far, *_) in enumerate(load.links) if partition[near] != partition[far]]
    for number in cut:
        near, far, packets_per_s, _ = load.links[number]
        for end in (near, far):
            work[partition[end]] += CROSSING_NS * packets_per_s
    lookahead_ns = min(load.links[number][3] for number in cut) if cut else float("inf")
    windows = WINDOWS * 1e9 / lookahead_ns
    slowest = max(work) + windows * WINDOW_NS
    # A window and a message of each of two neighbours follow each other, while as many windows pass.
    taken = max(slowest, (slowest + windows * MESSAGE_NS) / WINDOWS)
    return Division(
        partition=partition,
        shards=count,
        cut=cut,
        lookaheads_ns=[load.links[number][3] for number in cut],
        lookahead_ns=lookahead_ns,
        work=work,
        crossing_per_s=sum(load.links[number][2] for number in cut),
        speedup=load.total / taken if taken else 1.0,
    )


def preview(plan: Plan, shards: Shards) -> Json:
    """How the simulation of a plan would be divided: nodes and work of each part, and links cut.

    ``auto`` is the best division for this machine, whether or not it would be used. ``computing_s`` is the
    expected CPU time in one shard.
    """
    text = json_text.compact(plan).decode()
    load = load_of(_longhaul.Simulation(text, directory=None), text)
    division = best(load, range(2, max(2, processors()) + 1) if shards == "auto" else [shards])
    seconds = None if plan["duration_ns"] is None else plan["duration_ns"] / 1e9
    return {
        "shards": division.shards,
        "reason": division.reason,
        "speedup": division.speedup,
        "computing_s": None if seconds is None else load.total * seconds / 1e9,
        "lookahead_ns": division.lookahead_ns if division.cut else None,
        "crossing_packets_per_s": division.crossing_per_s,
        **parts_of(plan, division, load),
    }


def parts_of(plan: Plan, division: Division, load: Load) -> Json:
    """The ``parts`` of a division with their shares of the work, and each link that is ``cut``."""
    total = sum(division.work) or 1.0
    nodes = [node["name"] for node in plan["nodes"]]
    return {
        "cut": [
            {
                "link": plan["links"][link]["name"],
                "lookahead_ns": lookahead_ns,
                "packets_per_s": load.links[link][2],
            }
            for link, lookahead_ns in zip(division.cut, division.lookaheads_ns, strict=True)
        ],
        "parts": [
            {
                "share": division.work[shard] / total,
                "nodes": [name for node, name in enumerate(nodes) if division.partition[node] == shard],
            }
            for shard in range(division.shards)
        ],
    }


def recorded(plan: Plan, division: Division) -> Json:
    """What ``run.json`` has of a division: the part of each node, and the least delay of each cut."""
    return {
        "partition": division.partition,
        "cuts": [
            {"link": plan["links"][link]["name"], "delay_ns": round(lookahead_ns)}
            for link, lookahead_ns in zip(division.cut, division.lookaheads_ns, strict=True)
        ],
    }
