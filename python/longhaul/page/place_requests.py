"""Requests about places: cities by name, and the delay of fibre between places."""

import re
import unicodedata

from longhaul.page.bodies import FibreEnds, FibrePairs
from longhaul.page.json_requests import Asked
from longhaul.page.responses.places import Cities, CityRow, FibreRow, Fibres
from longhaul.places import City, search
from longhaul.scenario.expand.topologies.distance import Fibre, great_circle_km
from longhaul.units.quantities import Span

MOST_CITIES = 10


def cities(asked: Asked) -> Cities:
    """Cities whose names begin with the query's ``name``."""
    found = search(asked.query.get("name", "")[:80], most=MOST_CITIES)
    return {"cities": [_row(city) for city in found], "source": "GeoNames, CC BY 4.0"}


def fibres(_asked: Asked, body: FibrePairs) -> Fibres:
    """Length and delay of fibre between each pair of places."""
    return {"fibres": [_fibre(each) for each in body.pairs]}


def _row(city: City) -> CityRow:
    ascii_name = unicodedata.normalize("NFKD", city.name).encode("ascii", "ignore").decode().lower()
    node = re.sub(r"[^a-z0-9]+", "-", ascii_name).strip("-")[:40].rstrip("-") or "site"
    at = (city.latitude, city.longitude)
    return {
        "name": city.name,
        "country": city.country,
        "at": at,
        "inhabitants": city.inhabitants,
        "node": node,
    }


def _fibre(ends: FibreEnds) -> FibreRow:
    fibre = Fibre(route_factor=ends.route_factor)
    straight_km = great_circle_km(ends.one, ends.other)
    fibre_km = fibre.length_km(straight_km)
    delay_ns = fibre.delay_ns(straight_km)
    return {
        "great_circle_km": straight_km,
        "fibre_km": fibre_km,
        "route_factor": fibre_km / straight_km if straight_km > 0 else 1.0,
        "index": fibre.index,
        "delay_ns": delay_ns,
        "delay": str(Span(delay_ns)),
    }
