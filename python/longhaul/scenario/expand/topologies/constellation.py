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
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.distance import EARTH_KM, LIGHT_KM_PER_S, Place
from longhaul.scenario.expand.topologies.satellites import Floats, Pair, Satellites, ordered
from longhaul.scenario.expand.topologies.tle import read_elements
from longhaul.scenario.expand.topologies.walker import Walker
from longhaul.units.quantities import Rate, Span

MOST_STEPS = 10_000


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
    warnings: tuple[str, ...]


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
    used = sorted({ordered(index[a], index[b]) for each in found for a, b in pairwise(each.nodes)})
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
    count = scene.satellites.left_out
    left_out = (f"{count} satellites are left out: their elements have no orbit then",) if count else ()
    return Written(text + "\n", "src,dst,t_s,delay_ms\n" + "\n".join(rows) + "\n", left_out)


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
