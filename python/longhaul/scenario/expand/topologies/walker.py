"""Walker constellations.

J. G. Walker, "Satellite constellations", J. British Interplanetary Society 37, 1984.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longhaul.diagnostics import Code
from longhaul.scenario.expand.topologies.distance import EARTH_KM
from longhaul.scenario.expand.topologies.satellites import (
    MOST_SATELLITES,
    ConstellationError,
    Floats,
    Pair,
    ordered,
)

GRAVITATION_KM3_PER_S2 = 398_600.4418
"""Gravitational parameter of the Earth (WGS 84)."""
ROTATION_RAD_PER_S = 7.292_115e-5
"""Of the Earth, against the stars (WGS 84)."""


@dataclass(frozen=True)
class Walker:
    """A Walker constellation: equal circular orbits, satellites evenly spaced on each."""

    planes: int
    per_plane: int
    inclination_deg: float
    altitude_km: float
    phasing: int = 0
    """The offset between satellites of adjacent planes, in 360 degrees over the number of satellites."""
    shape: Literal["delta", "star"] = "delta"
    """delta: planes all around the equator; star: around half of it, for inclinations near 90 degrees."""

    def __post_init__(self) -> None:
        """Refuse what is not a constellation."""
        for wrong, key, what, remedy in (
            (
                self.planes < 1 or self.per_plane < 1,
                "planes",
                "has no satellites",
                "write 1 or more planes and satellites",
            ),
            (
                self.planes * self.per_plane > MOST_SATELLITES,
                "satellites",
                f"has more than {MOST_SATELLITES} satellites",
                "write fewer",
            ),
            (
                not 0 <= self.inclination_deg <= 180,
                "inclination",
                "is inclined by an impossible angle",
                "write 0 to 180 degrees",
            ),
            (
                not 160 <= self.altitude_km <= 40_000,
                "altitude",
                "has an impossible altitude",
                "write 160 km to 40000 km",
            ),
            (
                not 0 <= self.phasing < max(self.planes, 1),
                "phasing",
                "has an impossible phasing",
                "write 0 to planes - 1",
            ),
        ):
            if wrong:
                raise ConstellationError(
                    Code.TOPOLOGY_INVALID, f"the constellation {what}", remedy=remedy, key=key
                )

    @property
    def radius_km(self) -> float:
        """Of the orbits."""
        return EARTH_KM + self.altitude_km

    @property
    def period_s(self) -> float:
        """Of an orbit, as Kepler found: its square grows with the cube of the radius."""
        return float(2 * np.pi * np.sqrt(self.radius_km**3 / GRAVITATION_KM3_PER_S2))

    def names(self) -> list[str]:
        """``s1-1``, ``s1-2`` and so on: plane and place in it."""
        return [f"s{plane + 1}-{slot + 1}" for plane in range(self.planes) for slot in range(self.per_plane)]

    @property
    def left_out(self) -> int:
        """None."""
        return 0

    def header(self) -> Iterator[str]:
        """Shape and orbits."""
        shape = f"Walker {self.shape}, phasing {self.phasing}"
        yield f"{self.planes} planes of {self.per_plane} satellites ({shape}),"
        yield f"{self.altitude_km:g} km, {self.inclination_deg:g} degrees"

    def positions_km(self, at_s: float) -> Floats:
        """x, y, z of each satellite, in axes that turn with the Earth; shape (satellites, 3)."""
        plane, slot = np.divmod(np.arange(self.planes * self.per_plane), self.per_plane)
        around = 2 * np.pi if self.shape == "delta" else np.pi
        node = around * plane / self.planes - ROTATION_RAD_PER_S * at_s
        total = self.planes * self.per_plane
        anomaly = 2 * np.pi * (slot / self.per_plane + self.phasing * plane / total + at_s / self.period_s)
        tilt = np.radians(self.inclination_deg)
        x, y = np.cos(anomaly), np.sin(anomaly)
        return self.radius_km * np.stack(
            [
                x * np.cos(node) - y * np.cos(tilt) * np.sin(node),
                x * np.sin(node) + y * np.cos(tilt) * np.cos(node),
                y * np.sin(tilt),
            ],
            axis=1,
        )

    def grid(self) -> list[Pair]:
        """The pairs of satellites that have a link; a star has none where planes move against each other."""
        pairs = set[Pair]()
        for plane in range(self.planes):
            for slot in range(self.per_plane):
                here = plane * self.per_plane + slot
                if self.per_plane > 1:
                    pairs.add(ordered(here, plane * self.per_plane + (slot + 1) % self.per_plane))
                last = plane == self.planes - 1
                if self.planes > 1 and not (last and (self.shape == "star" or self.planes == 2)):
                    # Around the last plane, the phase has grown by `phasing` places.
                    shift = self.phasing if last else 0
                    other = (plane + 1) % self.planes
                    pairs.add(ordered(here, other * self.per_plane + (slot + shift) % self.per_plane))
        return sorted(pair for pair in pairs if pair[0] != pair[1])
