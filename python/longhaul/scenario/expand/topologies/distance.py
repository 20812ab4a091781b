"""Propagation delay of fibre between two places on the globe."""

from dataclasses import dataclass
from math import asin, atan2, cos, degrees, hypot, radians, sin, sqrt

LIGHT_KM_PER_S = 299_792.458
"""In vacuum, exact by definition."""
GLASS = 1.468
"""Group index of single-mode fibre (ITU-T G.652) at 1550 nm, as its makers state it."""
EARTH_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""

Place = tuple[float, float]
"""Latitude and longitude in degrees."""


@dataclass(frozen=True)
class Fibre:
    """How fibre lies in the ground."""

    index: float = GLASS
    """Group index of the glass: light is this much slower than in vacuum."""
    route_factor: float | None = None
    """Length of fibre over the great circle; the rule of ITU-T Y.1541, if left out."""

    def length_km(self, straight_km: float) -> float:
        """Fibre between places that are ``straight_km`` apart.

        The rule: 1.5 times the distance below 1000 km, 1500 km up to 1200 km, 1.25 times beyond (ITU-T
        Y.1541, appendix III; ITU-T G.826).
        """
        if self.route_factor is not None:
            return straight_km * self.route_factor
        if straight_km < 1000:
            return 1.5 * straight_km
        return max(1500.0, 1.25 * straight_km)

    def delay_ns(self, straight_km: float) -> int:
        """One way, to the microsecond."""
        return round(self.length_km(straight_km) * self.index / LIGHT_KM_PER_S * 1e6) * 1000


def great_circle_km(one: Place, other: Place) -> float:
    """The shortest way on a sphere, by the haversine formula (R. W. Sinnott, Sky & Telescope 68, 1984)."""
    (latitude, longitude), (latitude2, longitude2) = one, other
    rise = sin(radians(latitude2 - latitude) / 2) ** 2
    turn = sin(radians(longitude2 - longitude) / 2) ** 2
    share = rise + cos(radians(latitude)) * cos(radians(latitude2)) * turn
    return 2 * EARTH_KM * asin(min(1.0, sqrt(share)))


def middle(places: list[Place]) -> Place:
    """The point of the globe below the centre of ``places``: their mean as vectors."""
    x = sum(cos(radians(latitude)) * cos(radians(longitude)) for latitude, longitude in places)
    y = sum(cos(radians(latitude)) * sin(radians(longitude)) for latitude, longitude in places)
    z = sum(sin(radians(latitude)) for latitude, _longitude in places)
    return (round(degrees(atan2(z, hypot(x, y))), 5), round(degrees(atan2(y, x)), 5))
