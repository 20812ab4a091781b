"""Which machine runs which nodes, and at which links the network is cut.

``place:`` decides; the rest goes where the least delay of a cut is the largest, and machines have nodes by
their cores. METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998) balances many groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from longhaul import _longhaul, json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines.hostfile import Machine
from longhaul.plan import Plan
from longhaul.run.shards import Load, contracted, divisions, processors, thresholds
from longhaul.scenario.syntax.ranges import expand

if TYPE_CHECKING:
    from longhaul.scenario import Resolved

_ROUTER_WORK = 0.2
"""Work of a router beside that of a host."""


@dataclass(frozen=True)
class Cut:
    """A link between two machines."""

    link: int
    """By its position in the plan."""
    name: str
    ends: tuple[int, int]
    """The numbers of the machines."""
    delay_ns: int
    """The least that a packet takes. The network between the machines and the engines may take as much."""


@dataclass(frozen=True)
class Placement:
    """Where the nodes of a plan run."""

    machines: Sequence[Machine]
    """Those that have nodes."""
    partition: list[int]
    """The number of the machine of each node."""
    cuts: Sequence[Cut]


def place(resolved: "Resolved", plan: Plan, machines: Sequence[Machine]) -> Placement:
    """Distribute the nodes of ``plan`` over ``machines``. Raises LonghaulError if that cannot be done."""
    named = places(resolved, plan, [machine.name for machine in machines])
    lookahead = dict(_longhaul.live_cuts(json_text.compact(plan).decode()))
    load = _load(plan, lookahead)
    partition = (
        _by_name(plan, load, named) if named else _automatic(load, len(machines), _capacities(machines))
    )
    if partition is None:
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"the network cannot be divided among {len(machines)} machines: only links with a delay can be "
            "cut, and no parallel routes",
            remedy="use fewer machines, or give the links between sites a delay",
            exit_code=2,
        )
    used = sorted(set(partition))
    numbers = {machine: number for number, machine in enumerate(used)}
    partition = [numbers[machine] for machine in partition]
    cuts = [
        Cut(position, link["name"], ends, lookahead.get(position, 0))
        for position, link in enumerate(plan["links"])
        if len(set(ends := _ends(link["endpoints"], partition))) > 1
    ]
    refused = next((cut for cut in cuts if cut.delay_ns <= 0), None)
    if refused is not None:
        names = [machines[used[end]].name for end in refused.ends]
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"link {refused.name} cannot be cut between {names[0]} and {names[1]}: it has no delay, is "
            "parallel routes, or leaves the network",
            remedy="place: both of its ends on one machine",
            exit_code=2,
        )
    return Placement([machines[machine] for machine in used], partition, cuts)


def engine_threads(plan: Plan, shards: int | Literal["auto"]) -> list[int] | None:
    """The engine thread of each node, in a run on one machine with so many; ``None`` for one.

    ``auto`` leaves half of the processors to programs, and takes fewer threads where the network cannot be
    cut so often. Raises LonghaulError if it cannot be divided into ``shards``.
    """
    load = _load(plan, dict(_longhaul.live_cuts(json_text.compact(plan).decode())))
    counts = range(processors() // 2, 1, -1) if shards == "auto" else [shards]
    for count in counts:
        if count > 1 and (partition := _automatic(load, count, [1] * count)) is not None:
            return partition
    if shards in ("auto", 1):
        return None
    raise LonghaulError(
        Code.NOT_DIVISIBLE,
        f"the network cannot be divided into {shards} shards: only links with a delay can be cut, and no "
        "parallel routes",
        remedy="use fewer shards, or --shards auto",
        exit_code=2,
    )


def places(resolved: "Resolved", plan: Plan, names: Sequence[str]) -> dict[int, int]:
    """The machine of each node that the scenario places, by their positions. Raises LonghaulError."""
    positions = {node["name"]: position for position, node in enumerate(plan["nodes"])}
    found = {}
    for written, node in resolved.scenario.document.nodes.items():
        if node.place is None:
            continue
        if node.place not in names:
            raise LonghaulError(
                Code.NODE_UNKNOWN,
                f"nodes.{written}.place: there is no machine {node.place}; there are: {', '.join(names)}",
                remedy="name one of these, or add it to the hostfile",
                exit_code=2,
            )
        for name in expand(written):
            found[positions[name]] = names.index(node.place)
    return found


def _ends(endpoints: Sequence[int], partition: Sequence[int]) -> tuple[int, int]:
    return partition[endpoints[0]], partition[endpoints[1]]


def _load(plan: Plan, lookahead: Mapping[int, int]) -> Load:
    """Hosts are the work, and links of equal weight the packets between them: nobody knows the traffic."""
    nodes = [1.0 if node["kind"] == "host" else _ROUTER_WORK for node in plan["nodes"]]
    links = [
        (link["endpoints"][0], link["endpoints"][1], 1.0, float(lookahead.get(position, 0)))
        for position, link in enumerate(plan["links"])
    ]
    owners = [
        (position, owner)
        for position, node in enumerate(plan["nodes"])
        if (owner := node.get("of")) is not None
    ]
    return Load(None, nodes, links, owners)


def _capacities(machines: Sequence[Machine]) -> list[int]:
    return [machine.cores or 1 for machine in machines]


def _automatic(load: Load, count: int, capacities: Sequence[int]) -> list[int] | None:
    """The division with the largest least delay of a cut; ``None`` if there is none."""
    found = list(divisions(load, count))
    if not found:
        return None
    best = max(found, key=lambda division: (division.lookahead_ns, -max(division.work)))
    # The largest part goes to the machine with most cores.
    order = sorted(range(count), key=lambda part: -best.work[part])
    by_cores = sorted(range(count), key=lambda machine: -capacities[machine])
    machine_of = dict(zip(order, by_cores, strict=True))
    return [machine_of[part] for part in best.partition]


def _by_name(plan: Plan, load: Load, named: Mapping[int, int]) -> list[int]:
    """The machines that the scenario names; a node without a place is where its neighbours are."""
    groups = contracted(load, min(thresholds([delay for *_, delay in load.links if delay > 0]), default=1.0))
    of_group: dict[int, int] = {}
    for node, machine in named.items():
        known = of_group.setdefault(groups[node], machine)
        if known != machine:
            names = [plan["nodes"][other]["name"] for other in named if groups[other] == groups[node]]
            raise LonghaulError(
                Code.NOT_DIVISIBLE,
                f"{', '.join(sorted(names))} are on several machines, but links without a delay join them",
                remedy="place: them on one machine, or give a link between them a delay",
                exit_code=2,
            )
    neighbours: dict[int, list[int]] = {}
    for near, far, *_ in load.links:
        for here, there in ((near, far), (far, near)):
            neighbours.setdefault(groups[here], []).append(groups[there])
    waiting = [group for group in dict.fromkeys(groups) if group not in of_group]
    while waiting:
        left = []
        for group in waiting:
            around = [of_group[other] for other in neighbours.get(group, ()) if other in of_group]
            if around:
                of_group[group] = max(sorted(set(around)), key=around.count)
            else:
                left.append(group)
        if len(left) == len(waiting):
            # Nothing connects them with anything.
            of_group.update(dict.fromkeys(left, 0))
            left = []
        waiting = left
    return [of_group[group] for group in groups]
