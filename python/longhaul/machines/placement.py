"""Which machine runs which nodes, and at which links the network is cut.

``place:`` decides; the rest goes where the least delay of a cut is the largest, and machines have nodes by
their cores. METIS (Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998) balances many groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.machines.hostfile import Machine
from longhaul.plan import Plan
from longhaul.run import live_shards, ports
from longhaul.run.ports import WantedPort
from longhaul.run.shards import Load, contracted
from longhaul.scenario.lower.segments import switch_names
from longhaul.scenario.syntax.ranges import expand

if TYPE_CHECKING:
    from longhaul.scenario import Resolved


@dataclass(frozen=True)
class Cut:
    """A link between two machines."""

    name: str
    """Of the link."""
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
    ports: Sequence[WantedPort] = ()
    """What hosts have at their ends of the network that is the machine's, each on the machine of its host."""

    @property
    def names(self) -> list[str]:
        """Of the machines."""
        return [machine.name for machine in self.machines]


def place(resolved: "Resolved", plan: Plan, machines: Sequence[Machine]) -> Placement:
    """Distribute the nodes of ``plan`` over ``machines``. Raises LonghaulError if that cannot be done."""
    names = [machine.name for machine in machines]
    named = places(resolved, plan, names)
    wanted = ports.wanted(resolved)
    named |= {port.node: names.index(machine) for port, machine in wanted}
    load = live_shards.load_of(plan)
    capacities = [machine.cores or 1 for machine in machines]
    partition = (
        by_name(plan, load, named, least_cut_ns=1.0) if named else live_shards.divided(load, capacities)
    )
    if partition is None:
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"the network cannot be divided among {len(machines)} machines: only links with a delay can be "
            "cut, and no parallel routes or links of switches",
            remedy="use fewer machines, or give the links between sites a delay",
            exit_code=2,
        )
    used = sorted(set(partition))
    numbers = {machine: number for number, machine in enumerate(used)}
    partition = [numbers[machine] for machine in partition]
    cuts = [
        Cut(link["name"], ends, round(load.links[position][3]))
        for position, link in enumerate(plan["links"])
        if len(set(ends := _ends(link["endpoints"], partition))) > 1
    ]
    refused = next((cut for cut in cuts if cut.delay_ns <= 0), None)
    if refused is not None:
        here, there = (names[used[end]] for end in refused.ends)
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"link {refused.name} cannot be cut between {here} and {there}: it has no delay, is "
            "parallel routes, or leaves the network",
            remedy="place: both of its ends on one machine",
            exit_code=2,
        )
    return Placement(
        [machines[machine] for machine in used], partition, cuts, [port for port, _machine in wanted]
    )


def machines_that_wait(plan: Plan, partition: Sequence[int]) -> dict[str, set[int]]:
    """The machines with a program that starts after one of another machine, by the name of that one."""
    at = {program["name"]: partition[program["host"]] for program in plan["programs"]}
    found: dict[str, set[int]] = {}
    for program in plan["programs"]:
        own = at[program["name"]]
        for name in program.get("after", ()):
            if at[name] != own:
                found.setdefault(name, set()).add(own)
    return found


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
                f"nodes.{written}.place: {node.place} is not one of the machines {', '.join(names)}",
                remedy="name one of these, or add it to the hostfile",
                exit_code=2,
            )
        for name in expand(written):
            found[positions[name]] = names.index(node.place)
    return found


def _division_of(plan: Plan, groups: Sequence[int], group: int, named: Mapping[int, int]) -> LonghaulError:
    """Why the nodes of ``group`` that are ``named`` cannot be on several machines."""
    names = [plan["nodes"][node]["name"] for node in named if groups[node] == group]
    members = (node for node, of in zip(plan["nodes"], groups, strict=True) if of == group)
    switch = next(iter(switch_names(list(members))), None)
    joined = "links without a delay join them"
    remedy = "place: them on one machine, or give a link between them a delay"
    if switch is not None:
        joined = f"switch {switch} joins them, and an Ethernet segment is on one machine"
        remedy = "place: them on one machine"
    return LonghaulError(
        Code.NOT_DIVISIBLE,
        f"{', '.join(sorted(names))} are on several machines, but {joined}",
        remedy=remedy,
        exit_code=2,
    )


def _ends(endpoints: Sequence[int], partition: Sequence[int]) -> tuple[int, int]:
    return partition[endpoints[0]], partition[endpoints[1]]


def by_name(plan: Plan, load: Load, named: Mapping[int, int], *, least_cut_ns: float) -> list[int]:
    """The machine of each node: that which ``named`` has for it, or where its neighbours are.

    Nodes that are joined by links with less delay than ``least_cut_ns`` are on one machine. Raises
    LonghaulError if they are named otherwise.
    """
    groups = contracted(load, least_ns=least_cut_ns)
    of_group: dict[int, int] = {}
    for node, machine in named.items():
        known = of_group.setdefault(groups[node], machine)
        if known != machine:
            raise _division_of(plan, groups, groups[node], named)
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
