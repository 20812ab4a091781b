"""Topologies from Python: each function returns a scenario to write, check and run.

>>> import longhaul
>>> pair = longhaul.topologies.dumbbell(left=2, right=2, wan={"delay": "20ms", "rate": "100Mbit"})
>>> len(pair.check().plan["nodes"])
6

Options are the keys of section ``topology`` (docs/reference/topologies.md); beside them stand the other
sections of a scenario, such as ``duration`` and ``traffic``.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from longhaul.scenario import Resolved, parse_scenario, resolve
from longhaul.scenario.expand.topologies.outline import outline

Settings = str | Mapping[str, Any]
"""The name of a profile, or its settings."""
Section = Mapping[str, Any]


@dataclass(frozen=True)
class Sketch:
    """A scenario that has no file yet."""

    name: str
    text: str
    """YAML, as a file has it."""

    def write(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write it, into ``<name>.yaml`` if no other ``path`` is given; returns where it is."""
        written = Path(path or f"{self.name}.yaml")
        written.write_text(self.text, encoding="utf-8")
        return written

    def check(self) -> Resolved:
        """What it resolves to; raises :class:`longhaul.scenario.ScenarioError` with every problem found."""
        return resolve(parse_scenario(self.text.encode(), name=f"{self.name}.yaml"))

    def _repr_html_(self) -> str:
        from longhaul.notebook_objects import Described

        return Described(self.check())._repr_html_()


class Rest(TypedDict, total=False):
    """What all topologies take, and the other sections of a scenario."""

    name: str
    hosts: int
    access: Settings
    wan: Settings
    mtu: int
    addresses: str
    description: str
    seed: int
    duration: str
    params: Section
    profiles: Section
    tcp: Section
    nodes: Section
    links: Section
    traffic: Section
    programs: Section
    events: Sequence[Section]
    measure: Section
    expect: Sequence[Section]


def chain(*, routers: int = 3, hosts_at: str = "ends", **rest: Unpack[Rest]) -> Sketch:
    """Routers in a row, with hosts at the ends or at ``all``."""
    return _sketch("chain", rest, routers=routers, hosts_at=hosts_at)


def star(*, sites: int = 4, **rest: Unpack[Rest]) -> Sketch:
    """Sites around a hub."""
    return _sketch("star", rest, sites=sites)


def ring(*, sites: int = 4, **rest: Unpack[Rest]) -> Sketch:
    """Sites in a circle."""
    return _sketch("ring", rest, sites=sites)


def mesh(*, sites: int = 4, **rest: Unpack[Rest]) -> Sketch:
    """Sites of which each has a link to every other."""
    return _sketch("mesh", rest, sites=sites)


def torus(*, size: Sequence[int] = (4, 4), **rest: Unpack[Rest]) -> Sketch:
    """A grid of two to four dimensions whose ends meet."""
    return _sketch("torus", rest, size=list(size))


def dumbbell(*, left: int = 2, right: int = 2, **rest: Unpack[Rest]) -> Sketch:
    """Sources on the left, sinks on the right, and one link between."""
    return _sketch("dumbbell", rest, left=left, right=right)


def fish_bone(*, length: int = 3, **rest: Unpack[Rest]) -> Sketch:
    """A spine with clients at its ends, and two ribs of cross traffic at each of its routers."""
    return _sketch("fish-bone", rest, length=length)


def tree(*, depth: int = 2, fanout: int = 2, **rest: Unpack[Rest]) -> Sketch:
    """A root, ``depth`` levels of routers below it, hosts at the lowest."""
    return _sketch("tree", rest, depth=depth, fanout=fanout)


def fat_tree(*, k: int = 4, **rest: Unpack[Rest]) -> Sketch:
    """Three layers of switches with ``k`` ports."""
    return _sketch("fat-tree", rest, k=k)


def clusters(*, clusters: int = 2, style: str = "gateway", **rest: Unpack[Rest]) -> Sketch:
    """Clusters that reach each other by their ``gateway``, or by a link of each ``end-node``."""
    return _sketch("clusters", rest, clusters=clusters, style=style)


def sites(
    places: Mapping[str, Any],
    *,
    join: str | Sequence[tuple[str, str]] = "mesh",
    route_factor: float | None = None,
    **rest: Unpack[Rest],
) -> Sketch:
    """Sites at latitudes and longitudes, with the delays of fibre between them."""
    joined = join if isinstance(join, str) else [list(pair) for pair in join]
    return _sketch("sites", rest, sites=dict(places), join=joined, route_factor=route_factor)


def grid5000(*, route_factor: float | None = None, **rest: Unpack[Rest]) -> Sketch:
    """Nine sites in France, as those of Grid'5000."""
    return _sketch("grid5000", rest, route_factor=route_factor)


def teragrid(
    *,
    loss: str = "teragrid",
    cross: str = "none",
    sink: str = "direct",
    queue: str = "1000p",
    **rest: Unpack[Rest],
) -> Sketch:
    """San Diego to Purdue, as in the simulations of 2008."""
    return _sketch("teragrid", rest, loss=loss, cross=cross, sink=sink, queue=queue)


def waxman(
    *,
    routers: int = 20,
    alpha: float = 0.2,
    beta: float = 0.4,
    across: str = "30ms",
    topology_seed: int = 1,
    sites: int | None = None,
    **rest: Unpack[Rest],
) -> Sketch:
    """Routers at random places, the nearer the likelier joined; ``seed`` is that of the run."""
    options = {"alpha": alpha, "beta": beta, "across": across, "seed": topology_seed, "sites": sites}
    return _sketch("waxman", rest, routers=routers, **options)


def barabasi_albert(
    *,
    routers: int = 20,
    links_each: int = 2,
    topology_seed: int = 1,
    sites: int | None = None,
    **rest: Unpack[Rest],
) -> Sketch:
    """Routers that prefer to join those with many links; ``seed`` is that of the run."""
    options = {"links": links_each, "seed": topology_seed, "sites": sites}
    return _sketch("barabasi-albert", rest, routers=routers, **options)


def constellation(
    stations: Mapping[str, Any],
    *,
    shape: str | None = None,
    planes: int | None = None,
    satellites: int | None = None,
    inclination: float | None = None,
    altitude: str | None = None,
    phasing: int | None = None,
    tle: str | None = None,
    at: str | None = None,
    elevation: float = 25.0,
    isl: bool = True,
    step: str = "1s",
    span: str | None = None,
    ground: Settings | None = None,
    space: Settings | None = None,
    **rest: Unpack[Rest],
) -> Sketch:
    """Satellites of Walker parameters or of a file of two-line elements, and ground stations."""
    orbits = {"shape": shape, "planes": planes, "satellites": satellites, "inclination": inclination}
    orbits |= {"altitude": altitude, "phasing": phasing, "tle": tle, "at": at}
    links = {"elevation": elevation, "isl": isl, "ground": ground, "space": space}
    return _sketch("constellation", rest, stations=dict(stations), **orbits, **links, step=step, span=span)


_OPTIONS = ("hosts", "access", "wan", "mtu", "addresses")


def _sketch(kind: str, rest: Rest, **options: Any) -> Sketch:
    common = {key: value for key, value in rest.items() if key in _OPTIONS}
    others = {key: value for key, value in rest.items() if key not in (*_OPTIONS, "name")}
    section = {
        "kind": kind,
        **{key: value for key, value in {**options, **common}.items() if value is not None},
    }
    name = rest.get("name", kind)
    return Sketch(name, outline(name, section, others))
