"""Rank 0 is late by two seconds; rank 1 prints how much of a processor its wait used, in s."""

import time

from mpi4py import MPI

from longhaul.workloads.starting import communicator

with communicator(sleep=True) as world:
    MPI.COMM_WORLD.Barrier()
    if world.Get_rank() == 0:
        time.sleep(2)
    before = time.process_time()
    world.Barrier()
    if world.Get_rank() == 1:
        print(time.process_time() - before)
