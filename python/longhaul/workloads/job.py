"""What a workload runs on: ranks that exchange messages, and computing, done or only waited for.

A workload is one program for both modes. In a real run :meth:`Job.compute` calls the function that it is
given; in a skeleton it waits for as long as the function would take, and the messages are the same.
"""

import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

Array = NDArray[Any]

SLEEP_FROM_S = 200e-6
"""Shorter waits are put together until they are as long, as a sleep takes some 50 us more than asked."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a workload found: whether it is right (``None``: nothing to check), and its figures."""

    verified: bool | None
    figures: Mapping[str, Any]


class Job:
    """One rank's end of a parallel program. It counts what it sends, and the time spent computing.

    ``sent_bytes`` counts messages to other ranks as they are handed over: the vector of a reduction once,
    whatever the library makes of it; the parts of an alltoall that go to others.
    """

    def __init__(self, comm: Any, *, costs_ns: Mapping[str, float] | None = None, spin: bool = False) -> None:
        """``costs_ns`` per unit of each phase make it a skeleton, which sleeps, or spins if ``spin``."""
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.ranks: int = comm.Get_size()
        self._costs_ns = costs_ns
        self._spin = spin
        self._debt_s = 0.0
        self._counts = False
        self.wall_s = 0.0
        self.iteration_s: list[float] = []
        """How long each iteration took on this rank."""
        self.sent_bytes = 0
        self.messages = 0
        self.pattern = 0
        self.units: dict[str, float] = defaultdict(float)
        self.spent_s: dict[str, float] = defaultdict(float)

    @property
    def is_skeleton(self) -> bool:
        """Whether computing is only waited for; arrays then hold nothing of meaning."""
        return self._costs_ns is not None

    @contextmanager
    def timed(self) -> Iterator[None]:
        """The part of the program whose time and messages count; all ranks begin it together."""
        self._pay(0.0)
        self.comm.Barrier()
        self._counts = True
        begin = time.perf_counter()
        yield
        self._pay(0.0)
        self.wall_s += time.perf_counter() - begin
        self._counts = False

    def iterations(self, count: int) -> Iterator[int]:
        """The numbers from 0 up to ``count``; measures how long the body of the loop takes with each."""
        for number in range(count):
            begin = time.perf_counter()
            try:
                yield number
            finally:
                self.iteration_s.append(time.perf_counter() - begin)

    def slowest_iterations(self) -> list[float]:
        """How long each iteration took on the rank that took longest, in s; every rank calls it."""
        times = np.array(self.iteration_s)
        if len(times):
            self.reduce_all(times, maximum=True)
        return [round(float(each), 9) for each in times]

    def compute(self, phase: str, units: float, function: Callable[..., object], *arguments: object) -> None:
        """Do, or wait for, so many units of work: points, keys, entries."""
        if self._costs_ns is None:
            begin = time.thread_time()
            function(*arguments)
            seconds = time.thread_time() - begin
        else:
            seconds = units * self._costs_ns[phase] * 1e-9
            self._debt_s += seconds
            self._pay(SLEEP_FROM_S)
        if self._counts:
            self.units[phase] += units
            self.spent_s[phase] += seconds

    def _pay(self, least_s: float) -> None:
        """Wait for what is owed, if it is worth a wait; what was waited too long is owed less later."""
        if self._debt_s <= 0.0 or self._debt_s < least_s:
            return
        begin = time.perf_counter()
        if self._spin:
            while time.perf_counter() - begin < self._debt_s:
                pass
        else:
            time.sleep(self._debt_s)
        self._debt_s -= time.perf_counter() - begin

    def _count(self, kind: str, partner: int, size: int) -> None:
        if not self._counts:
            return
        self.sent_bytes += size
        self.messages += 1
        self.pattern = zlib.crc32(f"{kind} {partner} {size};".encode(), self.pattern)

    def exchange(
        self, outgoing: Array, *, to: int | None, incoming: Array, source: int | None, tag: int = 0
    ) -> None:
        """Send to one rank and receive from another, at the same time; ``None``: to, or from, nobody."""
        if to is not None:
            self._count("exchange", to, outgoing.nbytes)
        receiver = _nobody() if to is None else to
        sender = _nobody() if source is None else source
        self.comm.Sendrecv(outgoing, receiver, tag, incoming, sender, tag)

    def exchange_all(self, outgoing: Array, incoming: Mapping[int, Array]) -> None:
        """Send to several ranks, and receive from each of them into its array, all at the same time."""
        waiting = [self.comm.Irecv(array, rank) for rank, array in incoming.items()]
        for rank in incoming:
            self._count("exchange", rank, outgoing.nbytes)
            waiting.append(self.comm.Isend(outgoing, rank))
        for each in waiting:
            each.Wait()

    def send(self, outgoing: Array, to: int) -> None:
        """Send, and return when the memory may be used again."""
        self._count("send", to, outgoing.nbytes)
        self.comm.Send(outgoing, to)

    def receive(self, incoming: Array, source: int) -> None:
        """Receive."""
        self.comm.Recv(incoming, source)

    def reduce_all(self, values: Array, *, maximum: bool = False) -> None:
        """Sums, or largest values, over all ranks, in place, by the library's own algorithm."""
        from mpi4py import MPI

        self._count("reduce", -1, values.nbytes if self.ranks > 1 else 0)
        self.comm.Allreduce(MPI.IN_PLACE, values, MPI.MAX if maximum else MPI.SUM)

    def all_to_all(self, outgoing: Array, incoming: Array) -> None:
        """The r-th of equal parts goes to rank r."""
        self._count("alltoall", -1, outgoing.nbytes // self.ranks * (self.ranks - 1))
        self.comm.Alltoall(outgoing, incoming)

    def all_to_all_uneven(
        self, outgoing: Array, counts: Sequence[int], incoming: Array, incoming_counts: Sequence[int]
    ) -> None:
        """Parts of different lengths, in the order of the ranks they go to and come from."""
        others = sum(counts) - counts[self.rank]
        self._count("alltoallv", -1, others * outgoing.itemsize)
        self.comm.Alltoallv([outgoing, list(counts)], [incoming, list(incoming_counts)])

    def barrier(self) -> None:
        """Wait for all ranks."""
        self.comm.Barrier()

    def spread(self, value: float) -> tuple[float, float, float]:
        """The least, the mean and the largest of a figure over all ranks; nothing of it is counted."""
        every = np.empty(self.ranks)
        self.comm.Allgather(np.array([float(value)]), every)
        return float(every.min()), float(every.mean()), float(every.max())


def _nobody() -> int:
    from mpi4py import MPI

    return MPI.PROC_NULL


def power_of_two(job: Job, name: str, *, most: int | None = None) -> int:
    """The exponent of the number of ranks."""
    if job.ranks & (job.ranks - 1):
        below = 1 << (job.ranks.bit_length() - 1)
        raise LonghaulError(
            Code.RANKS_UNSUITABLE,
            f"{name} needs a power of two of ranks, not {job.ranks}",
            remedy=f"start it with mpirun -n {below} or -n {2 * below}",
            exit_code=2,
        )
    if most is not None and job.ranks > most:
        raise LonghaulError(
            Code.RANKS_UNSUITABLE,
            f"this class of {name} is for {most} ranks at most, not {job.ranks}",
            remedy="take fewer ranks or a larger class",
            exit_code=2,
        )
    return job.ranks.bit_length() - 1
