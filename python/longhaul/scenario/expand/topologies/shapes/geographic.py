"""Geographic topologies: delays by the length of fibre between sites."""

from collections.abc import Iterable, Iterator, Mapping

from longhaul.scenario.expand.topologies.distance import Fibre, Place, great_circle_km
from longhaul.scenario.expand.topologies.shapes.elements import (
    Element,
    Host,
    Joint,
    Router,
    hosts,
    joint,
    pairs,
    site,
)
from longhaul.scenario.model.topology import Grid5000, Mapped, Sites, TeraGridNetwork
from longhaul.units.quantities import Span

GRID5000: Mapping[str, Place] = {
    "bordeaux": (44.84, -0.58),
    "grenoble": (45.19, 5.72),
    "lille": (50.63, 3.06),
    "lyon": (45.76, 4.84),
    "nancy": (48.69, 6.18),
    "orsay": (48.70, 2.19),
    "rennes": (48.11, -1.68),
    "sophia": (43.62, 7.05),
    "toulouse": (43.60, 1.44),
}
"""The towns of the nine sites."""
GRID5000_LINKS = (
    ("orsay", "lille"),
    ("orsay", "rennes"),
    ("orsay", "nancy"),
    ("orsay", "lyon"),
    ("orsay", "bordeaux"),
    ("bordeaux", "toulouse"),
    ("toulouse", "lyon"),
    ("lyon", "grenoble"),
    ("lyon", "sophia"),
)
"""A backbone like that of the time, not a copy of it."""
TERAGRID: Mapping[str, Place] = {
    "sdsc": (32.88, -117.24),
    "la": (34.05, -118.24),
    "chi": (41.88, -87.63),
    "purdue": (40.43, -86.91),
}
TERAGRID_DELAYS = (("sdsc", "la", "2.5ms"), ("la", "chi", "26.5ms"), ("chi", "purdue", "3.4ms"))
"""Chosen so that they and two accesses of 50 us make the 32.5 ms of docs/models/loss-renewal.md."""


def sites(spec: Sites) -> Iterator[Element]:
    """Sites at their coordinates, joined as the section says."""
    for name, spot in spec.sites.items():
        yield from site(name, spot.hosts or spec.hosts, at=spot.at)
    ends = spec.join if isinstance(spec.join, tuple) else pairs(spec.sites, spec.join)
    yield from _fibres(spec, {name: spot.at for name, spot in spec.sites.items()}, ends)


def grid5000(spec: Grid5000) -> Iterator[Element]:
    """Nine sites and a backbone."""
    for name, at in GRID5000.items():
        yield from site(name, spec.hosts, at=at)
    yield from _fibres(spec, GRID5000, GRID5000_LINKS)


def _fibres(spec: Mapped, places: Mapping[str, Place], ends: Iterable[tuple[str, str]]) -> Iterator[Element]:
    fibre = Fibre(index=spec.index, route_factor=spec.route_factor)
    for one, other in ends:
        straight_km = great_circle_km(places[one], places[other])
        yield joint(one, other, delay=Span(fibre.delay_ns(straight_km)))


def teragrid(spec: TeraGridNetwork) -> Iterator[Element]:
    """San Diego, Los Angeles, Chicago, Purdue, and the hosts of the study."""
    yield from (Router(name, at) for name, at in TERAGRID.items())
    yield from hosts("sdsc", 4)
    crossing = 0 if spec.cross == "none" else 5
    for number in range(1, crossing + 1):
        near = spec.cross == "sdsc-la" and number <= 2
        yield Host(f"x{number}", "sdsc" if near else "la", "source")
    for one, other, delay in TERAGRID_DELAYS:
        lossy = one == "la" and spec.loss != "none"
        loss = spec.loss if lossy else None
        yield Joint(f"{one}-{other}", (one, other), Span.parse(delay), loss=loss)
    sinks = 6 if crossing else 4
    if spec.sink == "direct":
        yield from hosts("purdue", sinks)
        return
    yield Router("pool")
    yield Joint("purdue-pool", ("purdue", "pool"), profile="pool")
    yield from hosts("pool", sinks, prefix="purdue", profile="sink")
