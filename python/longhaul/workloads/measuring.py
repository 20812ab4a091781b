"""Times of messages, as the Intel MPI Benchmarks (and Pallas' before them) define them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.workloads.collectives import sum_up
from longhaul.workloads.job import Array, Job

SIZES = (0, *(1 << exponent for exponent in range(23)))
"""0, 1, 2, 4, ... 4194304 bytes."""

FLOATS = (0, *(1 << exponent for exponent in range(2, 23)))
"""Sizes of vectors of 4-byte numbers."""

REPETITIONS = 1_000
VOLUME = 40 << 20
"""Repetitions of large messages are cut: so many bytes in all."""

WARM_UP = 3


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One size. Ping-pong: over the messages; else over the ranks, of each rank's mean."""

    size: int
    repetitions: int
    least_us: float
    mean_us: float
    most_us: float
    megabytes_per_s: float | None = None
    """In 10^6 bytes; as IMB has it, of the mean time."""


def repetitions(size: int, most: int = REPETITIONS) -> int:
    """``most``, or as many as make 40 MiB, but one at least: 640 at 64 KiB, 10 at 4 MiB."""
    return max(1, min(most, VOLUME // size)) if size else most


def ping_pong(job: Job, sizes: Sequence[int], *, between: tuple[int, int], most: int) -> list[Timing]:
    """Half of each round trip between two ranks, while the others wait in a barrier."""
    first, second = between
    if not 0 <= first < job.ranks or not 0 <= second < job.ranks or first == second:
        raise LonghaulError(
            Code.RANKS_UNSUITABLE,
            f"there is no pair of ranks {first},{second} among {job.ranks}",
            remedy="start it with mpirun -n 2, or name two ranks with --between 0,1",
            exit_code=2,
        )
    return [_ping_pong(job, size, first, second, repetitions(size, most)) for size in sizes]


def _ping_pong(job: Job, size: int, first: int, second: int, times: int) -> Timing:
    buffer = np.zeros(size, np.uint8)
    halves = np.zeros(times)
    job.barrier()
    if job.rank == first:
        for number in range(-WARM_UP, times):
            begin = time.perf_counter()
            job.send(buffer, second)
            job.receive(buffer, second)
            if number >= 0:
                halves[number] = (time.perf_counter() - begin) / 2
    elif job.rank == second:
        for _ in range(times + WARM_UP):
            job.receive(buffer, first)
            job.send(buffer, first)
    job.barrier()
    job.comm.Bcast(halves, first)
    mean = float(halves.mean())
    return Timing(
        size=size,
        repetitions=times,
        least_us=1e6 * float(halves.min()),
        mean_us=1e6 * mean,
        most_us=1e6 * float(halves.max()),
        megabytes_per_s=size / mean / 1e6,
    )


def all_reduce(
    job: Job, sizes: Sequence[int], *, algorithm: str, sites: Sequence[Sequence[int]], most: int
) -> list[Timing]:
    """Sums of vectors of floats over all ranks."""

    def prepare(size: int) -> Callable[[], None]:
        if size % 4:
            raise LonghaulError(
                Code.ARGUMENT_INVALID,
                f"{size} bytes are not a whole number of floats",
                remedy="take multiples of 4",
                exit_code=2,
            )
        values: Array = np.zeros(size // 4, np.float32)
        return lambda: sum_up(job, values, algorithm, sites)

    return [_collective(job, size, repetitions(size, most), prepare(size)) for size in sizes]


def neighbours(job: Job, sizes: Sequence[int], *, most: int) -> list[Timing]:
    """Each rank exchanges with both of its neighbours in a ring: four messages of the size at each."""
    right, left = (job.rank + 1) % job.ranks, (job.rank - 1) % job.ranks

    def prepare(size: int) -> Callable[[], None]:
        outgoing, incoming = np.zeros(size, np.uint8), np.zeros(size, np.uint8)

        def both() -> None:
            job.exchange(outgoing, to=right, incoming=incoming, source=left, tag=1)
            job.exchange(outgoing, to=left, incoming=incoming, source=right, tag=2)

        return both

    return [_collective(job, size, repetitions(size, most), prepare(size)) for size in sizes]


def all_to_all(job: Job, sizes: Sequence[int], *, most: int) -> list[Timing]:
    """The size is that of the part from one rank to one other."""

    def prepare(size: int) -> Callable[[], None]:
        outgoing, incoming = (np.zeros(size * job.ranks, np.uint8) for _ in range(2))
        return lambda: job.all_to_all(outgoing, incoming)

    return [_collective(job, size, repetitions(size, most), prepare(size)) for size in sizes]


def _collective(job: Job, size: int, times: int, act: Callable[[], None]) -> Timing:
    for _ in range(min(WARM_UP, times)):
        act()
    job.barrier()
    begin = time.perf_counter()
    for _ in range(times):
        act()
    mine = (time.perf_counter() - begin) / times
    job.barrier()
    least, mean, most = job.spread(1e6 * mine)
    return Timing(size=size, repetitions=times, least_us=least, mean_us=mean, most_us=most)
