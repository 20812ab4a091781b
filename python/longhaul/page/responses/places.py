"""Responses about places on the globe, and fibre between them."""

from typing import Literal

from typing_extensions import TypedDict

from longhaul.page.responses.drawings import Place


class CityRow(TypedDict):
    """A city; ``at`` is its latitude and longitude in degrees, ``node`` a name for a node of it."""

    name: str
    country: str
    at: Place
    inhabitants: int
    node: str


class Cities(TypedDict):
    """Cities whose names begin as was asked, the best first."""

    cities: list[CityRow]
    source: Literal["GeoNames, CC BY 4.0"]


class FibreRow(TypedDict):
    """Fibre between two places, ``route_factor`` times as long as the great circle; one-way delay."""

    great_circle_km: float
    fibre_km: float
    route_factor: float
    index: float
    delay_ns: int
    delay: str


class Fibres(TypedDict):
    """Fibre between pairs of places, in the order of the request."""

    fibres: list[FibreRow]
