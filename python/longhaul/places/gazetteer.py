"""A gazetteer that needs no network: cities with 100,000 inhabitants or more, and capitals.

The table is from GeoNames (https://www.geonames.org), CC BY 4.0; ``tools/cities`` writes it.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class City:
    """A city, and its place in degrees."""

    name: str
    country: str
    latitude: float
    longitude: float
    inhabitants: int
    other_names: tuple[str, ...]
    """Codes of three letters, such as those of its airports, and names in other languages."""


@cache
def cities() -> tuple[City, ...]:
    """All cities, those with most inhabitants first."""
    return tuple(_rows((files(__package__) / "cities.tsv").read_text(encoding="utf-8")))


def search(text: str, *, most: int) -> list[City]:
    """At most ``most`` cities with a name that begins with ``text``, whatever its case and accents.

    ``paris, fr`` finds those of countries that begin with ``fr`` alone. Whole names and codes come first,
    then large cities; a city counts as smaller if ``text`` begins a later word or another name of it.
    """
    name, _comma, country = (_folded(part).strip() for part in text.partition(","))
    if not name:
        return []
    found = [
        (-weight * city.inhabitants, at, city)
        for at, (names, land, city) in enumerate(_index())
        if land.startswith(country) and (weight := _weight(name, names))
    ]
    return [city for _size, _at, city in sorted(found, key=lambda each: each[:2])[:most]]


def named(text: str) -> City | None:
    """The largest city of this name or code, such as ``London``, ``nyc`` or ``San Jose, Costa Rica``."""
    name, _comma, country = (_folded(part).strip() for part in text.partition(","))
    wanted = {name, f"{name} city"}
    return next(
        (city for names, land, city in _index() if land.startswith(country) and wanted & {*names}), None
    )


def _weight(name: str, names: tuple[str, ...]) -> float:
    if name in names:
        return 1000.0
    if names[0].startswith(name):
        return 1.0
    return 0.2 if f" {name}" in names[0] or any(other.startswith(name) for other in names[1:]) else 0.0


@cache
def _index() -> tuple[tuple[tuple[str, ...], str, City], ...]:
    """Folded names and country of each city."""
    return tuple(
        (tuple(map(_folded, (city.name, *city.other_names))), _folded(city.country), city)
        for city in cities()
    )


def _folded(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text)
    return "".join(each for each in apart if not unicodedata.combining(each)).casefold()


def _rows(text: str) -> Iterator[City]:
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, country, latitude, longitude, inhabitants, *others = line.split("\t")
        names = tuple(others[0].split("|")) if others else ()
        yield City(name, country, float(latitude), float(longitude), int(inhabitants), names)
