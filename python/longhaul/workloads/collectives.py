"""Allreduce, by six algorithms: what a wide-area network does to each of them is the question.

Each replaces ``values`` on every rank with the sum over all ranks. P is the number of ranks, S of sites.

=================== ===========================================================================
library             what the MPI library takes
flat                all send to rank 0, one after another, and it sends to all
binomial            a tree of depth log2 P towards rank 0, and back
recursive-doubling  log2 P exchanges of the whole vector (R. Thakur et al., IJHPCA 19 (2005) 49)
ring                2 (P - 1) steps of a P-th of the vector (P. Patarasuk, X. Yuan, JPDC 69 (2009) 117)
two-level           a tree in each site, a direct exchange among one rank of each, and back (MagPIe)
=================== ===========================================================================
"""

from collections.abc import Callable, Sequence

import numpy as np

from longhaul.workloads.job import Array, Job

Ranks = Sequence[int]


def library(job: Job, values: Array) -> None:
    """The library's own."""
    job.reduce_all(values)


def flat(job: Job, values: Array) -> None:
    """Everything through rank 0."""
    if job.rank > 0:
        job.send(values, 0)
        job.receive(values, 0)
        return
    incoming = np.empty_like(values)
    for rank in range(1, job.ranks):
        job.receive(incoming, rank)
        values += incoming
    for rank in range(1, job.ranks):
        job.send(values, rank)


def binomial(job: Job, values: Array) -> None:
    """Up a tree and down again."""
    everyone = range(job.ranks)
    _towards_first(job, values, everyone)
    _from_first(job, values, everyone)


def recursive_doubling(job: Job, values: Array) -> None:
    """Exchanges over distances 1, 2, 4, ..."""
    _doubling(job, values, range(job.ranks))


def ring(job: Job, values: Array) -> None:
    """Each part of the vector goes round twice: as it is summed up, and as it is handed on."""
    ranks, rank = job.ranks, job.rank
    if ranks == 1:
        return
    ends = [len(values) * part // ranks for part in range(ranks + 1)]
    parts = [values[ends[part] : ends[part + 1]] for part in range(ranks)]
    incoming = np.empty_like(values)
    to, source = (rank + 1) % ranks, (rank - 1) % ranks
    for step in range(ranks - 1):
        own, other = parts[(rank - step) % ranks], parts[(rank - step - 1) % ranks]
        part = incoming[: len(other)]
        job.exchange(own, to=to, incoming=part, source=source)
        other += part
    for step in range(ranks - 1):
        own, other = parts[(rank + 1 - step) % ranks], parts[(rank - step) % ranks]
        job.exchange(own, to=to, incoming=other, source=source)


def two_level(job: Job, values: Array, sites: Sequence[Ranks]) -> None:
    """Only one rank of each site speaks to other sites, and to all of them at once.

    The data cross the wide area once, one after another, however many sites there are; each site sends S - 1
    vectors. T. Kielmann, R. Hofman, H. Bal, A. Plaat, R. Bhoedjang, "MagPIe: MPI's collective communication
    operations for clustered wide area systems", PPoPP 1999, 131-140.
    """
    mine = next(site for site in sites if job.rank in site)
    _towards_first(job, values, mine)
    if job.rank == mine[0]:
        _directly(job, values, [site[0] for site in sites])
    _from_first(job, values, mine)


ALGORITHMS: dict[str, Callable[[Job, Array], None]] = {
    "library": library,
    "flat": flat,
    "binomial": binomial,
    "recursive-doubling": recursive_doubling,
    "ring": ring,
}
"""Those that know nothing of sites."""


def sum_up(job: Job, values: Array, algorithm: str, sites: Sequence[Ranks]) -> None:
    """The sum over all ranks, in place, by the algorithm of this name."""
    if algorithm == "two-level":
        two_level(job, values, sites)
    else:
        ALGORITHMS[algorithm](job, values)


def _towards_first(job: Job, values: Array, members: Ranks) -> None:
    """Sums to the first member, by a binomial tree."""
    place = members.index(job.rank)
    incoming = np.empty_like(values)
    distance = 1
    while distance < len(members):
        if place & distance:
            job.send(values, members[place - distance])
            return
        if place + distance < len(members):
            job.receive(incoming, members[place + distance])
            values += incoming
        distance *= 2


def _from_first(job: Job, values: Array, members: Ranks) -> None:
    """Copies from the first member, by a binomial tree."""
    place = members.index(job.rank)
    distance = 1
    while distance < len(members):
        distance *= 2
    while distance > 1:
        distance //= 2
        if place % (2 * distance) == 0 and place + distance < len(members):
            job.send(values, members[place + distance])
        elif place % (2 * distance) == distance:
            job.receive(values, members[place - distance])


def _directly(job: Job, values: Array, members: Ranks) -> None:
    """Everybody sends to everybody; all add up in the order of members, to the same bits."""
    incoming = {rank: np.empty_like(values) for rank in members if rank != job.rank}
    job.exchange_all(values, incoming)
    own = values.copy()
    values[:] = 0
    for rank in members:
        values += own if rank == job.rank else incoming[rank]


def _doubling(job: Job, values: Array, members: Ranks) -> None:
    """Members beyond a power of two give their part to one below, and get the sum from it."""
    place, count = members.index(job.rank), len(members)
    most = 1 << (count.bit_length() - 1)
    incoming = np.empty_like(values)
    if place >= most:
        job.send(values, members[place - most])
        job.receive(values, members[place - most])
        return
    if place + most < count:
        job.receive(incoming, members[place + most])
        values += incoming
    distance = 1
    while distance < most:
        partner = members[place ^ distance]
        job.exchange(values, to=partner, incoming=incoming, source=partner)
        values += incoming
        distance *= 2
    if place + most < count:
        job.send(values, members[place + most])
