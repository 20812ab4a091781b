"""What a scene needs to know of satellites, wherever they are from."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

MOST_SATELLITES = 10_000

Floats = NDArray[np.float64]
Pair = tuple[int, int]


class ConstellationError(LonghaulError):
    """A constellation that cannot be."""

    def __init__(self, code: Code, message: str, *, remedy: str, key: str) -> None:
        """Say ``message`` of option ``key``, spelt as in the section ``topology`` of a scenario."""
        super().__init__(code, message, remedy=remedy, exit_code=2)
        self.key = key


class Satellites(Protocol):
    """Where satellites are, and which of them have links to each other."""

    def __hash__(self) -> int:
        """Equal for equal satellites."""
        ...

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
