"""Every allreduce on the first P ranks, for each P; rank 0 prints what differed from NumPy's sum."""

import json

import numpy as np
from mpi4py import MPI

from longhaul.workloads.collectives import sum_up
from longhaul.workloads.commands.benchmarks import ALGORITHMS
from longhaul.workloads.job import Job

LENGTHS = (0, 1, 2, 7, 64, 1001, 40_000)


def main() -> None:
    world = MPI.COMM_WORLD
    tried, wrong = 0, []
    for count in range(1, world.Get_size() + 1):
        part = world.Split(0 if world.Get_rank() < count else 1, world.Get_rank())
        if world.Get_rank() >= count:
            continue
        job = Job(part)
        for sites in ([list(range(count))], [[rank] for rank in range(count)], _dealt(count)):
            for length in LENGTHS:
                # Whole numbers, so that no order of adding changes the sum.
                every = np.random.default_rng(length).integers(-1000, 1000, (count, length))
                for algorithm in ALGORITHMS:
                    values = every[job.rank].astype(np.float32)
                    sum_up(job, values, algorithm, sites)
                    right = np.array([np.array_equal(values, every.sum(axis=0))], np.int32)
                    part.Allreduce(MPI.IN_PLACE, right, MPI.MIN)
                    tried += 1
                    if not right[0]:
                        wrong.append([algorithm, count, length])
    if world.Get_rank() == 0:
        print(json.dumps({"tried": tried, "wrong": wrong}))


def _dealt(count: int) -> list[list[int]]:
    """Three sites that take ranks by turns."""
    return [list(range(first, count, 3)) for first in range(min(3, count))]


main()
