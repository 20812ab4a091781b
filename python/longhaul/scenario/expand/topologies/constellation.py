"""Satellites, ground stations, and the links between them over time.

Positions are those of :mod:`.tle` or of :mod:`.walker`, around a spherical Earth that turns. Links between
satellites form +Grid: each has the two neighbours in its plane, and one in both adjacent planes. A ground
station has a link to each satellite above its minimum elevation. The delay of a link is its length at the
speed of light in vacuum.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.distance import EARTH_KM, LIGHT_KM_PER_S, Place
from longhaul.scenario.expand.topologies.satellites import (
    ConstellationError,
    Floats,
    Pair,
    Satellites,
    ordered,
)
from longhaul.scenario.expand.topologies.tle import read_elements
from longhaul.scenario.expand.topologies.walker import Walker
from longhaul.scenario.model.topology import WALKER
from longhaul.units.quantities import Rate, Span

MOST_STEPS = 10_000


def ground_km(place: Place) -> Floats:
    """x, y, z of a place on the Earth, in axes that turn with it."""
    latitude, longitude = np.radians(place)
    east = np.cos(latitude)
    return EARTH_KM * np.array([east * np.cos(longitude), east * np.sin(longitude), np.sin(latitude)])


def subsatellite_point(position_km: Floats) -> Place:
    """Latitude and longitude in degrees of the point on the Earth below a satellite."""
    x, y, z = position_km
    latitude, longitude = np.degrees([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)])
    return round(float(latitude), 2), round(float(longitude), 2)


def elevation_deg(ground: Floats, satellites: Floats) -> Floats:
    """How high satellites are above the horizon of places; both of shape (..., 3)."""
    towards = satellites - ground
    rise = (towards * (ground / length(ground)[..., None])).sum(axis=-1)
    heights: Floats = np.degrees(np.arcsin(rise / length(towards)))
    return heights


def length(vectors: Floats) -> Floats:
    """The lengths of vectors of shape (..., 3)."""
    lengths: Floats = np.sqrt(np.einsum("...i,...i", vectors, vectors))
    return lengths


@dataclass(frozen=True)
class Instant:
    """Where satellites and ground stations are at an instant, and the links that there are."""

    places_km: Floats
    """x, y, z of each node, in axes that turn with the Earth."""
    ends: NDArray[np.intp]
    """The two nodes of each link, the first with the lower number; shape (links, 2)."""
    delays_s: Floats


@dataclass(frozen=True)
class Scene:
    """A constellation and ground stations, over a time in equal steps."""

    satellites: Satellites
    stations: Mapping[str, Place]
    duration_s: float
    step_s: float = 1.0
    least_elevation_deg: float = 25.0
    isl: bool = True
    """Whether satellites have links to each other."""

    def __post_init__(self) -> None:
        """Refuse what has no path or too many steps."""
        for wrong, key, what, remedy in (
            (len(self.stations) < 2, "stations", "a path needs two ground stations", "name two or more"),
            (
                self.duration_s <= 0 or self.step_s < 0.01,
                "step",
                "the time has no steps",
                "write a step of 10ms or more",
            ),
            (
                self.duration_s > MOST_STEPS * max(self.step_s, 1e-9),
                "step",
                f"there are more than {MOST_STEPS} steps",
                "write a longer step",
            ),
            (
                not 0 <= self.least_elevation_deg < 90,
                "elevation",
                "the elevation is impossible",
                "write 0 to 89 degrees",
            ),
        ):
            if wrong:
                raise ConstellationError(Code.TOPOLOGY_INVALID, what, remedy=remedy, key=key)

    @cached_property
    def names(self) -> list[str]:
        """Satellites first, then ground stations."""
        return [*self.satellites.names(), *self.stations]

    @property
    def first_station(self) -> int:
        """The number of the first node that is a ground station."""
        return len(self.names) - len(self.stations)

    @cached_property
    def times_s(self) -> list[float]:
        """The instants at which positions are sampled; the last one ends the run."""
        return [
            round(step * self.step_s, 9) for step in range(int(np.ceil(self.duration_s / self.step_s)) + 1)
        ]

    @cached_property
    def _grid(self) -> NDArray[np.intp]:
        pairs = self.satellites.grid() if self.isl else []
        return np.array(pairs, dtype=np.intp).reshape(-1, 2)

    @cached_property
    def ground(self) -> Floats:
        """x, y, z of the ground stations."""
        return np.array([ground_km(place) for place in self.stations.values()])

    def at(self, at_s: float) -> Instant:
        """Places of all nodes, and links with their delays: those between satellites first."""
        satellites = self.satellites.positions_km(at_s)
        places = np.vstack([satellites, self.ground])
        seen = elevation_deg(self.ground[:, None], satellites[None]) >= self.least_elevation_deg
        stations, visible = np.nonzero(seen)
        links = np.vstack([self._grid, np.column_stack([visible, stations + len(satellites)])])
        return Instant(places, links, length(places[links[:, 0]] - places[links[:, 1]]) / LIGHT_KM_PER_S)

    def paths(self, instant: Instant) -> dict[Pair, tuple[float, list[int]]]:
        """One-way delay in s, and nodes, of the shortest path between each two stations, by position."""
        first, count = self.first_station, len(self.names)
        sources = np.arange(first, count - 1)
        delays, before = dijkstra(_graph(instant, count), indices=sources, return_predecessors=True)
        found: dict[Pair, tuple[float, list[int]]] = {}
        for source, (row, earlier) in enumerate(zip(delays, before, strict=True)):
            for target in range(source + 1, len(self.stations)):
                node = first + target
                if not np.isfinite(row[node]):
                    continue
                nodes = [node]
                while nodes[-1] != first + source:
                    nodes.append(int(earlier[nodes[-1]]))
                found[source, target] = (float(row[node]), nodes[::-1])
        return found


def _graph(instant: Instant, count: int) -> csr_array:
    """The delays between ``count`` nodes, in both directions."""
    one, other = instant.ends.T
    rows, columns = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.argsort(rows, kind="stable")
    begins = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=count), out=begins[1:])
    delays = np.tile(instant.delays_s, 2)[order]
    # In this form no step of its constructor copies or sorts.
    return csr_array((delays, columns[order].astype(np.int32), begins), shape=(count, count))


@dataclass(frozen=True)
class Sample:
    """The shortest path between two stations at an instant."""

    at_s: float
    source: str
    target: str
    round_trip_ms: float
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Orbits:
    """The satellites and links on a shortest path between two stations at some step, and their delays."""

    scene: Scene
    samples: tuple[Sample, ...]
    links: tuple[Pair, ...]
    """Numbers of the two nodes of each link, in order."""
    delays_ns: NDArray[np.int64]
    """Shape (links, steps)."""
    present: NDArray[np.bool_]
    """Whether each link is there; shape (links, steps)."""

    def satellites(self) -> dict[str, Place]:
        """The satellites in use, and the places below them at the beginning."""
        scene = self.scene
        used = sorted({end for pair in self.links for end in pair if end < scene.first_station})
        places = scene.satellites.positions_km(0.0)
        return {scene.names[each]: subsatellite_point(places[each]) for each in used}

    def ends(self, pair: Pair) -> tuple[str, str]:
        """The names of the two ends of a link."""
        return self.scene.names[pair[0]], self.scene.names[pair[1]]

    def name(self, pair: Pair) -> str:
        """The name of a link."""
        return "_".join(self.ends(pair))

    def reaches_ground(self, pair: Pair) -> bool:
        """Whether a link is that of a ground station."""
        return pair[1] >= self.scene.first_station

    def points(self) -> dict[tuple[str, str], list[list[int]]]:
        """Time and delay in ns of each link at each step, by its ends."""
        times = [seconds(at_s).ns for at_s in self.scene.times_s]
        return {
            self.ends(pair): [list(point) for point in zip(times, delays, strict=True)]
            for pair, delays in zip(self.links, self.delays_ns.tolist(), strict=True)
        }

    def changes(self) -> Iterator[tuple[Span, bool, list[str]]]:
        """When links of ground stations join (or else leave), in order of time, and their names."""
        for step, at_s in enumerate(self.scene.times_s[:-1]):
            for joins in (False, True) if step else ():
                changed = self.present[:, step] != self.present[:, step - 1]
                chosen = np.flatnonzero(changed & (self.present[:, step] == joins))
                if chosen.size:
                    yield seconds(at_s), joins, [self.name(self.links[each]) for each in chosen]

    def warnings(self) -> Iterator[str]:
        """What is not as the source of the satellites has it."""
        if count := self.scene.satellites.left_out:
            yield f"{count} satellites are left out: their elements have no orbit then"


def seconds(value: float) -> Span:
    """A time of a scene."""
    return Span(round(value * 1e9))


def orbits_of(scene: Scene) -> Orbits:
    """The paths of ``scene`` over time, and what they use.

    Raises :class:`ConstellationError` if a station is on no path.
    """
    stations, first = list(scene.stations), scene.first_station
    found: list[Sample] = []
    used: set[Pair] = set()
    seen: set[int] = set()
    for at_s in scene.times_s:
        instant = scene.at(at_s)
        seen.update(instant.ends[:, 1].tolist())
        for (a, b), (delay, nodes) in scene.paths(instant).items():
            names = tuple(scene.names[node] for node in nodes)
            found.append(Sample(at_s, stations[a], stations[b], 2e3 * delay, names))
            used.update(ordered(one, other) for one, other in pairwise(nodes))
    joined = {node for pair in used for node in pair}
    for number, name in enumerate(stations, first):
        if number not in joined:
            raise _no_path(scene, name, is_seen=number in seen)
    links = sorted(used)
    return Orbits(scene, tuple(found), tuple(links), *_over_time(scene, links))


def _no_path(scene: Scene, name: str, *, is_seen: bool) -> "ConstellationError":
    """The error for a station without a path."""
    message, remedy = (
        (f'no path joins ground station "{name}" to another', "allow links between satellites, or add some")
        if is_seen
        else (
            f'no satellite is ever {scene.least_elevation_deg:g} degrees above "{name}"',
            "write a lower elevation, more satellites, or a larger inclination",
        )
    )
    return ConstellationError(Code.NO_PATH, message, remedy=remedy, key=f"stations.{name}")


def _over_time(scene: Scene, links: Sequence[Pair]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Delays in ns, and whether each of ``links`` is there, at each step."""
    one, other = np.array(links, dtype=np.intp).T
    to_ground = np.flatnonzero(other >= scene.first_station)
    stations = scene.ground[other[to_ground] - scene.first_station]
    delays = np.empty((len(links), len(scene.times_s)), dtype=np.int64)
    present = np.ones(delays.shape, dtype=np.bool_)
    for step, at_s in enumerate(scene.times_s):
        satellites = scene.satellites.positions_km(at_s)
        places = np.vstack([satellites, scene.ground])
        delays[:, step] = np.rint(1e9 * length(places[one] - places[other]) / LIGHT_KM_PER_S)
        heights = elevation_deg(stations, satellites[one[to_ground]])
        present[to_ground, step] = heights >= scene.least_elevation_deg
    return delays, present


@dataclass(frozen=True)
class Written:
    """The files of a scenario."""

    scenario: str
    delays: str
    """CSV: src, dst, t_s, delay_ms."""
    warnings: tuple[str, ...]


def write(name: str, orbits: Orbits, *, space: Rate, ground: Rate, hosts: int = 1) -> Written:
    """A scenario with the satellites and links of ``orbits``, and their delays."""
    times = [f"{at_s:g}" for at_s in orbits.scene.times_s]
    rows = [
        f"{one},{other},{at_s},{delay / 1e6:.6f}"
        for (one, other), column in zip(
            map(orbits.ends, orbits.links), orbits.delays_ns.tolist(), strict=True
        )
        for at_s, delay in zip(times, column, strict=True)
    ]
    text = "\n".join(_scenario(name, orbits, space, ground, hosts))
    delays = "src,dst,t_s,delay_ms\n" + "\n".join(rows) + "\n"
    return Written(text + "\n", delays, tuple(orbits.warnings()))


def _scenario(name: str, orbits: Orbits, space: Rate, ground: Rate, hosts: int) -> Iterator[str]:
    scene = orbits.scene
    *head, last = scene.satellites.header()
    yield from (f"# {line}" for line in head)
    yield f"# {last}; elevation {scene.least_elevation_deg:g}."
    yield "# Only satellites and links on a shortest path between two ground stations at some step are here."
    yield "version: 1"
    yield f"name: {name}"
    yield f"duration: {seconds(scene.duration_s)}"
    yield f"routing: {{costs: current, every: {seconds(scene.step_s)}}}"
    yield "profiles:"
    yield f"  space: {{rate: {space}}}"
    yield f"  ground: {{rate: {ground}}}"
    yield "  near: {delay: 50us, rate: 10Gbit}"
    yield "nodes:"
    for station, place in scene.stations.items():
        yield f"  {station}: {{kind: router, at: [{place[0]:g}, {place[1]:g}]}}"
        many = f"1..{hosts}" if hosts > 1 else "1"
        host = f"{station}-h{many}" if station[-1].isdigit() else f"{station}{many}"
        yield f"  {host}: {{kind: host, attach: {station}, profile: near}}"
    for satellite, place in orbits.satellites().items():
        yield f"  {satellite}: {{kind: router, at: [{place[0]:g}, {place[1]:g}]}}"
    yield "links:"
    for pair in orbits.links:
        profile = "ground" if orbits.reaches_ground(pair) else "space"
        one, other = orbits.ends(pair)
        trace = f"{{trace: {name}-delays.csv, from: {one}, to: {other}, interpolate: linear}}"
        content = f"endpoints: [{one}, {other}], profile: {profile}, delay: {trace}"
        yield f"  {orbits.name(pair)}: {{{content}}}"
    changes = list(orbits.changes())
    if changes:
        yield "events:"
        for at, joins, links in changes:
            word = "join" if joins else "leave"
            yield f"  - {{at: {at}, link: [{', '.join(links)}], {word}: true}}"
    stations = [f"{each}-h1" if each[-1].isdigit() else f"{each}1" for each in scene.stations]
    yield "traffic:"
    for other in stations[1:]:
        yield f"  {stations[0]}-{other}: {{kind: ping, from: {stations[0]}, to: {other}, every: 100ms}}"


def _satellites(given: Mapping[str, Any]) -> Satellites:
    """Those of the file of elements, or of the parameters."""
    if given.get("tle") is None:
        if given.get("at") is not None:
            message = "--at is the time of elements, and there are none"
            raise LonghaulError(Code.OPTION_CONFLICT, message, remedy="name a file with --tle", exit_code=2)
        return Walker(*(given[each] for each in WALKER))
    return read_elements(given["tle"], at=given.get("at"))


def from_options(name: str, given: Mapping[str, Any]) -> tuple[Written, tuple[Sample, ...]]:
    """The scenario that the options of ``longhaul constellation`` describe, and its paths over time."""
    scene = Scene(
        _satellites(given),
        given["stations"],
        given["duration"].ns / 1e9,
        given["step"].ns / 1e9,
        given["elevation"],
        not given["no_isl"],
    )
    orbits = orbits_of(scene)
    rates = {"space": given["space_rate"], "ground": given["ground_rate"]}
    return write(name, orbits, hosts=given["hosts"], **rates), orbits.samples


def describe(found: Sequence[Sample]) -> Iterator[str]:
    """A line for each pair of stations: round trips without queues, and how often the path changes."""
    pairs: dict[tuple[str, str], list[Sample]] = {}
    for each in found:
        pairs.setdefault((each.source, each.target), []).append(each)
    steps = len({each.at_s for each in found})
    for (source, target), path in pairs.items():
        rtts = np.array([each.round_trip_ms for each in path])
        changes = sum(a.nodes != b.nodes for a, b in pairwise(path))
        yield (
            f"{source} > {target}: RTT {rtts.min():.2f} to {rtts.max():.2f} ms, "
            f"median {np.median(rtts):.2f} ms; "
            f"{changes} changes of path; no path at {steps - len(path)} of {steps} instants"
        )
