"""Blocks of a cubic grid on a cube of ranks, and their ghost points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longhaul.workloads.job import Job

Reals = NDArray[np.float64]

AXES = (0, 1, 2)
"""z, y, x"""


@dataclass(frozen=True, kw_only=True)
class Level:
    """One grid of 2^number points along each axis, as one rank has it.

    Where there are fewer points than ranks along an axis, only every ``stride``-th rank takes part: rank
    coordinate ``stride (j + 1) - 1`` has point j.
    """

    number: int
    ranks: tuple[int, int, int]
    """Along each axis, of the whole program."""
    place: tuple[int, int, int]

    @property
    def points(self) -> int:
        """Along each axis, of the whole grid."""
        return 1 << self.number

    @property
    def strides(self) -> tuple[int, ...]:
        """Along each axis, of the ranks that take part."""
        return tuple(max(1, ranks // self.points) for ranks in self.ranks)

    @property
    def local(self) -> tuple[int, ...]:
        """Inner points here."""
        return tuple(max(1, self.points // ranks) for ranks in self.ranks)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Points here, ghosts included."""
        z, y, x = self.local
        return z + 2, y + 2, x + 2

    @property
    def inner(self) -> float:
        """All inner points here."""
        return float(np.prod(self.local))

    @property
    def takes_part(self) -> bool:
        """Whether this rank has any point of this grid."""
        return all((place + 1) % stride == 0 for place, stride in zip(self.place, self.strides, strict=True))

    def neighbour(self, axis: int, step: int) -> int:
        """The rank that has the next block along an axis, up or down; the grid is periodic."""
        place = list(self.place)
        place[axis] = (place[axis] + step * self.strides[axis]) % self.ranks[axis]
        z, y, x = place
        return (z * self.ranks[1] + y) * self.ranks[2] + x

    def fill_ghosts(self, job: Job, grid: Reals) -> None:
        """Six faces, axis by axis, each with the ghosts of the axes before, so that corners are included."""
        for axis in AXES:
            faces = np.moveaxis(grid, axis, 0)
            up, down = self.neighbour(axis, 1), self.neighbour(axis, -1)
            if up == job.rank:
                faces[0], faces[-1] = faces[-2], faces[1]
                continue
            outgoing = faces[-2].copy()
            incoming = np.empty_like(outgoing)
            job.exchange(outgoing, to=up, incoming=incoming, source=down, tag=1)
            faces[0] = incoming
            np.copyto(outgoing, faces[1])
            job.exchange(outgoing, to=down, incoming=incoming, source=up, tag=2)
            faces[-1] = incoming


def cube_of_ranks(exponent: int) -> tuple[int, int, int]:
    """2^exponent ranks, as nearly cubic as can be; z is cut first, as its faces are contiguous."""
    each, more = divmod(exponent, 3)
    return 1 << each + (more > 0), 1 << each + (more > 1), 1 << each


def place_in_cube(rank: int, ranks: tuple[int, int, int]) -> tuple[int, int, int]:
    """Where a rank stands: x fastest."""
    rest, x = divmod(rank, ranks[2])
    z, y = divmod(rest, ranks[1])
    return z, y, x
