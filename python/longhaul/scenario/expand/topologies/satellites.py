"""What a scene needs to know of satellites, wherever they are from."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

MOST_SATELLITES = 10_000

Floats = NDArray[np.float64]
Pair = tuple[int, int]


class Satellites(Protocol):
    """Where satellites are, and which of them have links to each other."""

    def names(self) -> list[str]:
        """A name for each."""
        ...

    def header(self) -> Iterator[str]:
        """Lines about them for the head of a scenario."""
        ...

    @property
    def left_out(self) -> int:
        """How many satellites of the source have no orbit at the beginning."""
        ...

    def positions_km(self, at_s: float) -> Floats:
        """x, y, z of each satellite, in axes that turn with the Earth; shape (satellites, 3)."""
        ...

    def grid(self) -> list[Pair]:
        """The pairs of satellites that have a link."""
        ...


def ordered(a: int, b: int) -> Pair:
    """A pair of satellites, as :meth:`Satellites.grid` has it."""
    return (a, b) if a < b else (b, a)
