"""The design of a sweep: full grid, random, or Latin hypercube; and the seed of each repetition."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from longhaul.scenario.expand.axes import Axis


@dataclass(frozen=True)
class Design:
    """The variants, each by its number; any of them at no cost but its own."""

    axes: tuple[Axis, ...]
    kind: Literal["grid", "random", "latin-hypercube"]
    points: int | None
    """How many are drawn; ``None`` for a grid."""
    seed: int
    """Draws of equal seeds are equal."""

    @property
    def variants(self) -> int:
        """How many there are."""
        return self.points or math.prod(len(axis.values) for axis in self.axes)

    def values(self, variant: int) -> tuple[str, ...]:
        """The values of ``variant``, from 0, in the order of the axes; the last axis moves fastest."""
        if self.kind != "grid":
            positions = self._positions[variant]
            return tuple(axis.at(float(at)) for axis, at in zip(self.axes, positions, strict=True))
        values = []
        for axis in reversed(self.axes):
            variant, step = divmod(variant, len(axis.values))
            values.append(axis.values[step])
        return tuple(reversed(values))

    def __iter__(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Number and values of every variant, one at a time."""
        return ((variant, self.values(variant)) for variant in range(self.variants))

    @cached_property
    def _positions(self) -> Any:
        """A row for each variant, a column for each axis, in [0, 1).

        Latin hypercube: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21 (1979).
        """
        import numpy as np
        from scipy.stats import qmc

        generator = np.random.Generator(np.random.PCG64(self.seed))
        if self.kind == "random":
            return generator.random((self.variants, len(self.axes)))
        return qmc.LatinHypercube(d=len(self.axes), rng=generator).random(self.variants)


def spread(count: int) -> Iterator[int]:
    """All numbers below ``count``, the first and the last first, then those between, evenly ever finer."""
    seen: set[int] = set()
    step = count - 1
    for place in (0, count - 1):
        if place not in seen:
            seen.add(place)
            yield place
    while step > 1:
        step = -(-step // 2)
        for place in range(0, count, step):
            if place not in seen:
                seen.add(place)
                yield place


_SEEDS = 1 << 64


def seed_of(base: int, variant: int, repeat: int, *, kind: Literal["paired", "independent"]) -> int:
    """The seed of repetition ``repeat``, from 0, of ``variant``.

    ``paired``: ``base + repeat``, so that all variants of a repetition meet the same losses (common random
    numbers): their difference has less noise. ``independent``: another one for every variant, too.
    """
    if kind == "paired":
        return (base + repeat) % _SEEDS
    return int.from_bytes(hashlib.sha256(f"{base}/{variant}/{repeat}".encode()).digest()[:8], "big")
