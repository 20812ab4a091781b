"""Satellites, ground stations, and the links between them over time.

Positions are those of :mod:`.elements`, or of a Walker constellation (J. G. Walker, "Satellite
constellations", J. British Interplanetary Society 37, 1984) around a spherical Earth that turns. Links
between satellites form +Grid: each has the two neighbours in its plane, and one in both adjacent planes. A
ground station has a link to each satellite above its minimum elevation. The delay of a link is its length at
the speed of light in vacuum.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.distance import EARTH_KM, LIGHT_KM_PER_S, Place
from longhaul.scenario.expand.topologies.elements import read_elements
from longhaul.units.quantities import Rate, Span

GRAVITATION_KM3_PER_S2 = 398_600.4418
"""Gravitational parameter of the Earth (WGS 84)."""
ROTATION_RAD_PER_S = 7.292_115e-5
"""Of the Earth, against the stars (WGS 84)."""
MOST_SATELLITES = 10_000
MOST_STEPS = 10_000

Floats = NDArray[np.float64]
Pair = tuple[int, int]


class Satellites(Protocol):
    """Where satellites are, and which of them have links to each other."""

    def names(self) -> list[str]:
        """A name for each."""
        ...

    def header(self) -> Iterator[str]:
        """Lines about them for the head of a scenario."""
        ...

    def positions_km(self, at_s: float) -> Floats:
        """x, y, z of each satellite, in axes that turn with the Earth; shape (satellites, 3)."""
        ...

    def grid(self) -> list[Pair]:
        """The pairs of satellites that have a link."""
        ...


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
        for wrong, what, remedy in (
            (
                self.planes < 1 or self.per_plane < 1,
                "has no satellites",
                "write 1 or more planes and satellites",
            ),
            (
                self.planes * self.per_plane > MOST_SATELLITES,
                f"has more than {MOST_SATELLITES} satellites",
                "write fewer",
            ),
            (
                not 0 <= self.inclination_deg <= 180,
                "is inclined by an impossible angle",
                "write 0 to 180 degrees",
            ),
            (not 160 <= self.altitude_km <= 40_000, "has an impossible altitude", "write 160 km to 40000 km"),
            (
                not 0 <= self.phasing < max(self.planes, 1),
                "has an impossible phasing",
                "write 0 to planes - 1",
            ),
        ):
            if wrong:
                raise LonghaulError(
                    Code.TOPOLOGY_INVALID, f"the constellation {what}", remedy=remedy, exit_code=2
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
                    pairs.add(_ordered(here, plane * self.per_plane + (slot + 1) % self.per_plane))
                last = plane == self.planes - 1
                if self.planes > 1 and not (last and (self.shape == "star" or self.planes == 2)):
                    # Around the last plane, the phase has grown by `phasing` places.
                    shift = self.phasing if last else 0
                    other = (plane + 1) % self.planes
                    pairs.add(_ordered(here, other * self.per_plane + (slot + shift) % self.per_plane))
        return sorted(pair for pair in pairs if pair[0] != pair[1])


def _ordered(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def ground_km(place: Place) -> Floats:
    """x, y, z of a place on the Earth, in axes that turn with it."""
    latitude, longitude = np.radians(place)
    east = np.cos(latitude)
    return EARTH_KM * np.array([east * np.cos(longitude), east * np.sin(longitude), np.sin(latitude)])


def elevation_deg(ground: Floats, satellites: Floats) -> Floats:
    """How high satellites are above the horizon of a place."""
    towards = satellites - ground
    rise = towards @ (ground / np.linalg.norm(ground))
    heights: Floats = np.degrees(np.arcsin(rise / np.linalg.norm(towards, axis=1)))
    return heights


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
        for wrong, what, remedy in (
            (len(self.stations) < 2, "a path needs two ground stations", "name two or more"),
            (
                self.duration_s <= 0 or self.step_s < 0.01,
                "the time has no steps",
                "write a step of 10ms or more",
            ),
            (
                self.duration_s > MOST_STEPS * max(self.step_s, 1e-9),
                f"there are more than {MOST_STEPS} steps",
                "write a longer step",
            ),
            (not 0 <= self.least_elevation_deg < 90, "the elevation is impossible", "write 0 to 89 degrees"),
        ):
            if wrong:
                raise LonghaulError(Code.TOPOLOGY_INVALID, what, remedy=remedy, exit_code=2)

    @cached_property
    def names(self) -> list[str]:
        """Satellites first, then ground stations."""
        return [*self.satellites.names(), *self.stations]

    @cached_property
    def times_s(self) -> list[float]:
        """The instants at which positions are sampled; the last one ends the run."""
        return [
            round(step * self.step_s, 9) for step in range(int(np.ceil(self.duration_s / self.step_s)) + 1)
        ]

    @cached_property
    def _grid(self) -> list[Pair]:
        return self.satellites.grid() if self.isl else []

    @cached_property
    def _ground(self) -> list[Floats]:
        return [ground_km(place) for place in self.stations.values()]

    def at(self, at_s: float) -> tuple[Floats, dict[Pair, float]]:
        """Positions of all nodes, and the delay in s of each link that there is."""
        satellites = self.satellites.positions_km(at_s)
        places = np.vstack([satellites, *self._ground])
        links = list(self._grid)
        for number, ground in enumerate(self._ground):
            visible = np.flatnonzero(elevation_deg(ground, satellites) >= self.least_elevation_deg)
            links += [(int(each), len(satellites) + number) for each in visible]
        ends = np.array(links, dtype=int).reshape(-1, 2)
        lengths = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
        return places, dict(zip(links, (lengths / LIGHT_KM_PER_S).tolist(), strict=True))

    def paths(self, at_s: float) -> dict[Pair, tuple[float, list[int]]]:
        """One-way delay in s, and nodes, of the shortest path between each two stations, by position."""
        _places, links = self.at(at_s)
        first, count = len(self.names) - len(self.stations), len(self.names)
        ends = np.array(list(links), dtype=int).reshape(-1, 2)
        graph = csr_array((np.array(list(links.values())), (ends[:, 0], ends[:, 1])), shape=(count, count))
        found: dict[Pair, tuple[float, list[int]]] = {}
        for source in range(len(self.stations) - 1):
            delays, before = dijkstra(graph, directed=False, indices=first + source, return_predecessors=True)
            for target in range(source + 1, len(self.stations)):
                node = first + target
                if not np.isfinite(delays[node]):
                    continue
                nodes = [node]
                while nodes[-1] != first + source:
                    nodes.append(int(before[nodes[-1]]))
                found[source, target] = (float(delays[node]), nodes[::-1])
        return found


@dataclass(frozen=True)
class Sample:
    """The shortest path between two stations at an instant."""

    at_s: float
    source: str
    target: str
    round_trip_ms: float
    nodes: tuple[str, ...]


def samples(scene: Scene) -> list[Sample]:
    """The paths between all stations at each step."""
    stations = list(scene.stations)
    return [
        Sample(at_s, stations[a], stations[b], 2e3 * delay, tuple(scene.names[node] for node in nodes))
        for at_s in scene.times_s
        for (a, b), (delay, nodes) in scene.paths(at_s).items()
    ]


@dataclass(frozen=True)
class Written:
    """The files of a scenario."""

    scenario: str
    delays: str
    """CSV: src, dst, t_s, delay_ms."""


def write(
    name: str,
    scene: Scene,
    found: Sequence[Sample],
    *,
    space: Rate,
    ground: Rate,
    hosts: int = 1,
) -> Written:
    """A scenario with the satellites and links on the shortest paths ``found``, and their delays."""
    if not found:
        remedy = "write a lower elevation, more satellites, or stations that see one"
        raise LonghaulError(Code.NO_PATH, "no path joins two ground stations", remedy=remedy, exit_code=2)
    index = {each: position for position, each in enumerate(scene.names)}
    used = sorted({_ordered(index[a], index[b]) for each in found for a, b in pairwise(each.nodes)})
    delays: dict[Pair, list[float]] = {pair: [] for pair in used}
    present: dict[Pair, list[bool]] = {pair: [] for pair in used}
    for at_s in scene.times_s:
        places, links = scene.at(at_s)
        for pair in used:
            length_km = float(np.linalg.norm(places[pair[0]] - places[pair[1]]))
            delays[pair].append(length_km / LIGHT_KM_PER_S)
            present[pair].append(pair in links)
    rows = [
        f"{scene.names[a]},{scene.names[b]},{at_s:g},{1e3 * delay:.6f}"
        for (a, b), column in delays.items()
        for at_s, delay in zip(scene.times_s, column, strict=True)
    ]
    text = "\n".join(_scenario(name, scene, used, present, space, ground, hosts))
    return Written(text + "\n", "src,dst,t_s,delay_ms\n" + "\n".join(rows) + "\n")


def _scenario(
    name: str,
    scene: Scene,
    used: list[Pair],
    present: Mapping[Pair, list[bool]],
    space: Rate,
    ground: Rate,
    hosts: int,
) -> Iterator[str]:
    names = scene.names
    first = len(names) - len(scene.stations)
    *head, last = scene.satellites.header()
    yield from (f"# {line}" for line in head)
    yield f"# {last}; elevation {scene.least_elevation_deg:g}."
    yield "# Only satellites and links on a shortest path between two ground stations at some step are here."
    yield "version: 1"
    yield f"name: {name}"
    yield f"duration: {Span(round(scene.duration_s * 1e9))}"
    yield f"routing: {{costs: current, every: {Span(round(scene.step_s * 1e9))}}}"
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
    for each in sorted({end for pair in used for end in pair if end < first}):
        yield f"  {names[each]}: {{kind: router}}"
    yield "links:"
    for a, b in used:
        profile = "ground" if b >= first else "space"
        one, other = names[a], names[b]
        trace = f"{{trace: {name}-delays.csv, from: {one}, to: {other}, interpolate: linear}}"
        yield f"  {one}_{other}: {{endpoints: [{one}, {other}], profile: {profile}, delay: {trace}}}"
    events = list(_events(scene, used, present))
    if events:
        yield "events:"
        yield from events
    stations = [f"{each}-h1" if each[-1].isdigit() else f"{each}1" for each in scene.stations]
    yield "traffic:"
    for other in stations[1:]:
        yield f"  {stations[0]}-{other}: {{kind: ping, from: {stations[0]}, to: {other}, every: 100ms}}"


def _events(scene: Scene, used: list[Pair], present: Mapping[Pair, list[bool]]) -> Iterator[str]:
    """When links of ground stations come and go, in order of time."""
    for step, at_s in enumerate(scene.times_s[:-1]):
        for word, now in (("leave", False), ("join", True)):
            links = [
                f"{scene.names[a]}_{scene.names[b]}"
                for a, b in used
                if present[a, b][step] is now and step > 0 and present[a, b][step - 1] is not now
            ]
            if links:
                at = Span(round(at_s * 1e9))
                yield f"  - {{at: {at}, link: [{', '.join(links)}], {word}: true}}"


_WALKER = ("planes", "satellites", "inclination", "altitude", "phasing", "shape")


def _satellites(given: Mapping[str, Any]) -> Satellites:
    """Those of the file of elements, or of the parameters."""
    if given.get("tle") is None:
        if given.get("at") is not None:
            message = "--at is the time of elements, and there are none"
            raise LonghaulError(Code.OPTION_CONFLICT, message, remedy="name a file with --tle", exit_code=2)
        return Walker(*(given[each] for each in _WALKER))
    return read_elements(given["tle"], at=given.get("at"))


def orbits(name: str, given: Mapping[str, Any]) -> tuple[Written, list[Sample]]:
    """The scenario that the options of ``longhaul constellation`` describe, and its paths over time."""
    scene = Scene(
        _satellites(given),
        given["stations"],
        given["duration"].ns / 1e9,
        given["step"].ns / 1e9,
        given["elevation"],
        not given["no_isl"],
    )
    found = samples(scene)
    rates = {"space": given["space_rate"], "ground": given["ground_rate"]}
    return write(name, scene, found, hosts=given["hosts"], **rates), found


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
