"""Phases of simulated parallel programs: the steps of their ranks.

Each function gives, for every rank, the steps of one iteration: send, receive, compute. Sends do not
wait; receives do. Algorithms are those of R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
collective communication operations in MPICH", IJHPCA 19 (2005) 49; two-level is that of
T. Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide area systems",
PPoPP 1999, 131.
"""

from collections.abc import Sequence
from typing import Any

Step = dict[str, Any]
Steps = list[list[Step]]


def send(to: int, size: int) -> Step:
    """Hand a message of ``size`` bytes over."""
    return {"do": "send", "to": to, "bytes": max(size, 1)}


def receive(source: int, size: int) -> Step:
    """Wait for a message of ``size`` bytes."""
    return {"do": "receive", "from": source, "bytes": max(size, 1)}


def ping_pong(ranks: int, size: int) -> Steps:
    """Rank 0 and the last send each other a message in turn; the others do nothing."""
    steps: Steps = [[] for _ in range(ranks)]
    last = ranks - 1
    steps[0] = [send(last, size), receive(last, size)]
    steps[last] = [receive(0, size), send(0, size)]
    return steps


def alltoall(ranks: int, size: int) -> Steps:
    """Everybody sends ``size`` bytes to everybody, begins with its right neighbour, and waits for all."""
    return [
        [
            *(send((rank + shift) % ranks, size) for shift in range(1, ranks)),
            *(receive((rank - shift) % ranks, size) for shift in range(1, ranks)),
        ]
        for rank in range(ranks)
    ]


def halo(ranks: int, size: int) -> Steps:
    """Ranks in a ring send ``size`` bytes to both neighbours and wait for both."""
    steps: Steps = []
    for rank in range(ranks):
        sides = list(dict.fromkeys([(rank - 1) % ranks, (rank + 1) % ranks]))
        steps.append([*(send(side, size) for side in sides), *(receive(side, size) for side in sides)])
    return steps


def broadcast(members: Sequence[int], size: int, steps: Steps) -> None:
    """A binomial tree from the first of ``members``, appended to ``steps``."""
    count = len(members)
    distance = 1
    while distance < count:
        distance *= 2
    while distance > 1:
        distance //= 2
        for place in range(0, count, 2 * distance):
            if place + distance < count:
                steps[members[place]].append(send(members[place + distance], size))
                steps[members[place + distance]].append(receive(members[place], size))


def reduce(members: Sequence[int], size: int, steps: Steps) -> None:
    """The same tree the other way round: to the first of ``members``."""
    count = len(members)
    distance = 1
    while distance < count:
        for place in range(0, count, 2 * distance):
            if place + distance < count:
                steps[members[place + distance]].append(send(members[place], size))
                steps[members[place]].append(receive(members[place + distance], size))
        distance *= 2


def doubling(members: Sequence[int], size: int, steps: Steps) -> None:
    """Recursive doubling; members beyond a power of two join before and are told after."""
    count = len(members)
    power = 1 << (count.bit_length() - 1)
    for place in range(power, count):
        steps[members[place]].append(send(members[place - power], size))
        steps[members[place - power]].append(receive(members[place], size))
    distance = 1
    while distance < power:
        for place in range(power):
            other = members[place ^ distance]
            steps[members[place]] += [send(other, size), receive(other, size)]
        distance *= 2
    for place in range(power, count):
        steps[members[place - power]].append(send(members[place], size))
        steps[members[place]].append(receive(members[place - power], size))


def directly(members: Sequence[int], size: int, steps: Steps) -> None:
    """Everybody sends to everybody, begins with its right neighbour, and waits for all: one crossing."""
    count = len(members)
    for place in range(count):
        steps[members[place]] += [
            *(send(members[(place + shift) % count], size) for shift in range(1, count)),
            *(receive(members[(place - shift) % count], size) for shift in range(1, count)),
        ]


def ring(members: Sequence[int], size: int, steps: Steps) -> None:
    """Reduce-scatter and allgather around a ring: 2 (n - 1) rounds of an n-th of the data."""
    count = len(members)
    part = -(-size // count)
    for _ in range(2 * (count - 1)):
        for place in range(count):
            steps[members[place]].append(send(members[(place + 1) % count], part))
            steps[members[place]].append(receive(members[(place - 1) % count], part))


def flat(members: Sequence[int], size: int, steps: Steps) -> None:
    """Everybody sends to the first, which tells everybody."""
    first, *others = members
    for other in others:
        steps[other].append(send(first, size))
        steps[first].append(receive(other, size))
    for other in others:
        steps[first].append(send(other, size))
        steps[other].append(receive(first, size))


def allreduce(algorithm: str, sites: Sequence[Any], size: int) -> Steps:
    """``sites`` tells the site of each rank, which ``two-level`` goes by: within each site first."""
    ranks = list(range(len(sites)))
    steps: Steps = [[] for _ in ranks]
    match algorithm:
        case "flat":
            flat(ranks, size, steps)
        case "binomial":
            reduce(ranks, size, steps)
            broadcast(ranks, size, steps)
        case "ring":
            ring(ranks, size, steps)
        case "two-level":
            members = [[rank for rank in ranks if sites[rank] == site] for site in dict.fromkeys(sites)]
            for site in members:
                reduce(site, size, steps)
            directly([site[0] for site in members], size, steps)
            for site in members:
                broadcast(site, size, steps)
        case _:
            doubling(ranks, size, steps)
    return steps


def steps_of(kind: str, *, algorithm: str, sites: Sequence[Any], size: int, compute_ns: int) -> Steps:
    """The steps of every rank in one iteration."""
    ranks = len(sites)
    match kind:
        case "ping-pong":
            steps = ping_pong(ranks, size)
        case "alltoall":
            steps = alltoall(ranks, size)
        case "halo":
            steps = halo(ranks, size)
        case "broadcast":
            steps = [[] for _ in range(ranks)]
            broadcast(range(ranks), size, steps)
        case _:
            steps = allreduce(algorithm, sites, size)
    if compute_ns:
        return [[{"do": "compute", "ns": compute_ns}, *each] for each in steps]
    return steps
