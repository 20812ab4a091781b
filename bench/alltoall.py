"""Ranks of MPI that send 64 KiB from each to each, as often as the argument says, for ``virtual.py``."""

import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
block = bytearray(64 << 10)
for _ in range(int(sys.argv[1])):
    world.alltoall([block] * world.size)
