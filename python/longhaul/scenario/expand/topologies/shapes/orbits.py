"""Constellations: satellites and ground stations, links that come and go, delays over time."""

from collections.abc import Iterator
from functools import lru_cache

from longhaul.diagnostics import Code
from longhaul.scenario.expand.topologies.constellation import Orbits, Scene, orbits_of
from longhaul.scenario.expand.topologies.distance import Place
from longhaul.scenario.expand.topologies.satellites import ConstellationError, Satellites
from longhaul.scenario.expand.topologies.shapes.elements import Change, Element, Joint, Router, site
from longhaul.scenario.expand.topologies.tle import LARGEST, elements_of
from longhaul.scenario.expand.topologies.walker import Walker
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.model.topology import Constellation
from longhaul.units.quantities import Span


def orbits(spec: Constellation, *, duration: Span | None, inputs: Inputs) -> Orbits:
    """The orbits of a section over its time, or else over the duration of the scenario.

    Raises :class:`ConstellationError`, and :class:`ScenarioValueError` for a file that cannot be read.
    """
    span = spec.span or duration
    if span is None:
        message = "nothing says how long satellites move"
        remedy = "write duration: 60s at the top of the file, or span: 60s here"
        raise ConstellationError(Code.KEY_MISSING, message, remedy=remedy, key="kind")
    stations = tuple((name, each.at) for name, each in spec.stations.items())
    times = (span.ns / 1e9, spec.step.ns / 1e9)
    return _orbits(_satellites(spec, inputs), stations, times, spec.elevation, spec.isl)


def _satellites(spec: Constellation, inputs: Inputs) -> Satellites:
    if spec.tle is None:
        return Walker(
            spec.planes, spec.satellites, spec.inclination, spec.altitude.m / 1e3, spec.phasing, spec.shape
        )
    remedy = "keep the satellites of one constellation"
    return elements_of(inputs.whole(spec.tle, at="tle", most=LARGEST, remedy=remedy), spec.tle, at=spec.at)


@lru_cache(maxsize=8)
def _orbits(
    satellites: Satellites,
    stations: tuple[tuple[str, Place], ...],
    times: tuple[float, float],
    elevation: float,
    isl: bool,
) -> Orbits:
    """The same for equal arguments: an editor checks a scenario at each change of its text."""
    return orbits_of(Scene(satellites, dict(stations), *times, elevation, isl))


def satellites(spec: Constellation, orbits: Orbits) -> Iterator[Element]:
    """Stations with their hosts, satellites, links, and when links join and leave."""
    for name, station in spec.stations.items():
        count = spec.hosts if station.hosts is None else station.hosts
        yield from site(name, count, at=station.at)
    for name, place in orbits.satellites().items():
        yield Router(name, place)
    for pair in orbits.links:
        profile = "ground" if orbits.reaches_ground(pair) else "space"
        yield Joint(orbits.name(pair), orbits.ends(pair), profile=profile, is_traced=True)
    for at, joins, names in orbits.changes():
        yield Change(at, tuple(names), joins)
