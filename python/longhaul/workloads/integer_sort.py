"""IS: ranks of integer keys, by buckets (NAS-91-002, 3.5). All keys cross in each iteration."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from longhaul._longhaul import count_keys, distribute_keys
from longhaul.workloads.job import Job, Outcome, power_of_two
from longhaul.workloads.problems import IS, SEED, Keys
from longhaul.workloads.uniform import fill, powers

ITERATIONS = 10
TESTED = 5

Integers = NDArray[np.int32]


def totals(name: str) -> dict[str, float]:
    """Units of computing in the timed part, of one rank alone."""
    keys = ITERATIONS * 2.0 ** IS[name].keys
    return {"histogram": keys, "distribute": keys, "count": keys}


def run(job: Job, name: str) -> Outcome:
    """One untimed iteration and ten timed ones; then the keys must be in order across the ranks."""
    problem = IS[name]
    power_of_two(job, "IS", most=2 ** (problem.buckets - 2))
    sort = _Sort(job, problem)
    sort.iterate(1)
    sort.passed = 0
    with job.timed():
        for number in job.iterations(ITERATIONS):
            sort.iterate(number + 1)
    if job.is_skeleton:
        return Outcome(verified=None, figures={})
    counts = np.array([sort.passed, sort.is_ordered()])
    job.reduce_all(counts)
    passed, ordered = (int(count) for count in counts)
    return Outcome(
        verified=passed == TESTED * ITERATIONS and ordered == job.ranks,
        figures={"passed": passed + ordered, "of": TESTED * ITERATIONS + job.ranks},
    )


def expected_rank(problem: Keys, which: int, iteration: int) -> int:
    """The published rank of a tested key."""
    if which in problem.rising:
        return problem.ranks[which] + iteration + problem.shift_up
    return problem.ranks[which] - iteration - problem.shift_down


class _Sort:
    """Keys of this rank, and those that it was sent in the last iteration."""

    def __init__(self, job: Job, problem: Keys) -> None:
        self.job, self.problem = job, problem
        self.mine = 2**problem.keys // job.ranks
        self.shift = problem.span - problem.buckets
        self.keys: Integers = np.zeros(self.mine, np.int32)
        self.passed = 0
        self.received: Integers = np.zeros(0, np.int32)
        self.lowest = 0
        self.counts: Integers = np.zeros(0, np.int32)
        if not job.is_skeleton:
            self._draw()

    def _draw(self) -> None:
        table = powers(1 << 14)
        part = np.empty(4 * min(self.mine, 1 << 16))
        quarter = 2.0 ** (self.problem.span - 2)
        for begin in range(0, self.mine, len(part) // 4):
            drawn = part[: 4 * (self.mine - begin)]
            fill(drawn, seed=SEED, skip=4 * (self.job.rank * self.mine + begin), table=table)
            four = drawn.reshape(-1, 4)
            # In this order, as the last bit decides about keys.
            total = ((four[:, 0] + four[:, 1]) + four[:, 2]) + four[:, 3]
            self.keys[begin : begin + len(four)] = quarter * total

    def iterate(self, iteration: int) -> None:
        """Rank all keys, and check the tested ones."""
        job, problem = self.job, self.problem
        buckets = 1 << problem.buckets
        tally = np.zeros(buckets + TESTED, np.int32)
        job.compute("histogram", self.mine, self._histogram, iteration, tally)
        own = tally[:buckets].copy()
        job.reduce_all(tally)
        if job.is_skeleton:
            own, tally[:buckets] = self._expected_tally()
        ends = _bucket_ends(tally[:buckets], job.ranks)
        before = np.concatenate(([0], np.cumsum(own)))
        counts = np.array([before[end] - before[begin] for begin, end in pairwise(ends)], np.int32)
        incoming = np.empty_like(counts)
        outgoing = np.empty(int(before[-1]), np.int32)
        job.compute("distribute", self.mine, self._distribute, before[:-1].astype(np.int32), outgoing)
        job.all_to_all(counts, incoming)
        self.received = np.empty(int(incoming.sum()), np.int32)
        job.all_to_all_uneven(outgoing, counts.tolist(), self.received, incoming.tolist())
        self.lowest = ends[job.rank] << self.shift
        highest = ends[job.rank + 1] << self.shift
        self.counts = np.zeros(highest - self.lowest, np.int32)
        job.compute("count", self.mine, count_keys, self.received, self.lowest, 0, self.counts)
        if not job.is_skeleton:
            smaller = int(tally[: ends[job.rank]].sum())
            self._check(iteration, tally[buckets:], smaller)

    def _histogram(self, iteration: int, tally: Integers) -> None:
        if self.job.rank == 0:
            self.keys[iteration] = iteration
            self.keys[iteration + ITERATIONS] = (1 << self.problem.span) - iteration
        count_keys(self.keys, 0, self.shift, tally[:-TESTED])
        for which, place in enumerate(self.problem.places):
            owner, index = divmod(place, self.mine)
            if owner == self.job.rank:
                tally[which - TESTED] = self.keys[index]

    def _distribute(self, places: Integers, outgoing: Integers) -> None:
        distribute_keys(self.keys, self.shift, places, outgoing)

    def _check(self, iteration: int, tested: Integers, smaller: int) -> None:
        """Whoever has a tested key compares the number of smaller keys with the published rank."""
        for which, key in enumerate(tested):
            if self.lowest <= key < self.lowest + len(self.counts):
                rank = smaller + int(self.counts[: key - self.lowest].sum())
                self.passed += rank == expected_rank(self.problem, which, iteration)

    def is_ordered(self) -> bool:
        """Whether no key that came here is below the last one of the rank before."""
        job = self.job
        ordered = np.repeat(np.arange(len(self.counts), dtype=np.int32) + self.lowest, self.counts)
        # Held against what was received, sorted by another hand.
        same = len(ordered) == len(self.received) and bool((np.sort(self.received) == ordered).all())
        last = np.array([ordered[-1] if len(ordered) else -1], np.int32)
        before = np.full(1, -1, np.int32)
        if job.rank + 1 < job.ranks:
            job.send(last, job.rank + 1)
        if job.rank > 0:
            job.receive(before, job.rank - 1)
        return same and (len(ordered) == 0 or bool(before[0] <= ordered[0]))

    def _expected_tally(self) -> tuple[Integers, Integers]:
        """Keys per bucket that are to be expected, here and everywhere: sums of four uniform numbers."""
        edge = 4.0 * np.arange((1 << self.problem.buckets) + 1) / (1 << self.problem.buckets)
        signs = ((0, 1), (1, -4), (2, 6), (3, -4))
        share = sum(sign * np.maximum(edge - step, 0.0) ** 4 for step, sign in signs) / 24.0
        own = np.diff(np.rint(share * self.mine)).astype(np.int32)
        return own, own * np.int32(self.job.ranks)


def _bucket_ends(tally: Integers, ranks: int) -> list[int]:
    """Where each rank's buckets begin, and the end of the last: equal shares of keys, nearly."""
    reached = np.cumsum(tally, dtype=np.int64)
    wanted = [(rank + 1) * int(reached[-1]) // ranks for rank in range(ranks - 1)]
    return [0, *(int(end) + 1 for end in np.searchsorted(reached, wanted)), len(tally)]
