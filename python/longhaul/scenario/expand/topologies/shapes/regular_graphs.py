"""Regular topologies: lines, stars, rings, grids, trees, clusters."""

from collections.abc import Iterator
from itertools import product

from longhaul.scenario.expand.topologies.shapes.elements import (
    Detour,
    Element,
    Joint,
    Router,
    hosts,
    joint,
    pairs,
    site,
)
from longhaul.scenario.model.topology import (
    Chain,
    Clusters,
    Dumbbell,
    FatTree,
    FishBone,
    Mesh,
    Ring,
    Star,
    Torus,
    Tree,
)

MOST_SPREAD = 8
"""Ports of a fat tree's switches; with more, the routes to single hosts would be hundreds of thousands."""


def row(spec: Chain | Ring | Mesh) -> Iterator[Element]:
    """r1, r2, .. in a row, in a circle, or each joined to every other."""
    count = spec.routers if isinstance(spec, Chain) else spec.sites
    names = [f"r{number}" for number in range(1, count + 1)]
    for name in names:
        inner = isinstance(spec, Chain) and spec.hosts_at == "ends" and name not in (names[0], names[-1])
        yield from site(name, 0 if inner else spec.hosts)
    yield from (joint(*ends) for ends in pairs(names, spec.kind))


def star(spec: Star) -> Iterator[Element]:
    """r1, r2, .. around the hub."""
    yield Router("hub")
    for number in range(1, spec.sites + 1):
        yield from site(f"r{number}", spec.hosts)
        yield joint("hub", f"r{number}")


def torus(spec: Torus) -> Iterator[Element]:
    """A grid whose ends meet: each router is joined to the next along every dimension."""
    for place in product(*(range(length) for length in spec.size)):
        yield from site(_cell(place), spec.hosts)
    for place in product(*(range(length) for length in spec.size)):
        for dimension, length in enumerate(spec.size):
            following = tuple(
                (each + 1) % length if which == dimension else each for which, each in enumerate(place)
            )
            yield joint(_cell(place), _cell(following))


def _cell(place: tuple[int, ...]) -> str:
    return "r" + "-".join(str(each + 1) for each in place)


def dumbbell(spec: Dumbbell) -> Iterator[Element]:
    """Sources on the left, sinks on the right, and what they share between."""
    yield from site("left", spec.left, function="source")
    yield from site("right", spec.right, function="sink")
    yield Joint("bottleneck", ("left", "right"))


def fish_bone(spec: FishBone) -> Iterator[Element]:
    """A spine with clients at its ends, and two ribs at each of its routers."""
    spine = [f"s{number}" for number in range(1, spec.length + 1)]
    yield from (Router(name) for name in spine)
    yield from hosts(spine[0], spec.hosts, prefix="head")
    yield from hosts(spine[-1], spec.hosts, prefix="tail")
    yield from (joint(*ends) for ends in pairs(spine, "chain"))
    for number, name in enumerate(spine, 1):
        for rib, function in ((f"up{number}", "source"), (f"down{number}", "sink")):
            yield from site(rib, spec.hosts, function=function)
            yield joint(name, rib)


def tree(spec: Tree) -> Iterator[Element]:
    """The root, its children r1, r2, .., theirs r1-1, r1-2, .., and hosts at the lowest."""
    yield Router("root")
    above = ["root"]
    for level in range(1, spec.depth + 1):
        below = []
        for parent in above:
            prefix = "r" if parent == "root" else f"{parent}-"
            for number in range(1, spec.fanout + 1):
                name = f"{prefix}{number}"
                below.append(name)
                yield from site(name, spec.hosts if level == spec.depth else 0)
                yield joint(parent, name)
        above = below


def fat_tree(spec: FatTree) -> Iterator[Element]:
    """Al-Fares, Loukissas, Vahdat (SIGCOMM 2008), section 3: k pods of k/2 edge and k/2 aggregation switches.

    Each edge switch is joined to all aggregation switches of its pod, and the j-th of these to the j-th
    group of k/2 cores.
    """
    half = range(1, spec.k // 2 + 1)
    for number in range(1, (spec.k // 2) ** 2 + 1):
        yield Router(f"core{number}")
    for pod in range(1, spec.k + 1):
        for upper in half:
            yield Router(f"p{pod}-a{upper}")
            for core in half:
                yield joint(f"p{pod}-a{upper}", f"core{(upper - 1) * len(half) + core}")
        for edge in half:
            yield from site(f"p{pod}-e{edge}", spec.hosts or len(half))
            yield from (joint(f"p{pod}-e{edge}", f"p{pod}-a{upper}") for upper in half)
    if spec.k <= MOST_SPREAD and spec.spread:
        yield from _spread(spec)


def _spread(spec: FatTree) -> Iterator[Detour]:
    """Section 3.5: on the way up the number of the host decides, so that its neighbours take other ways.

    Down there is one way. It is said too: where a link's delay is changed, a shorter one may lead up again.
    """
    half = spec.k // 2
    switches = [(pod, number) for pod in range(1, spec.k + 1) for number in range(1, half + 1)]
    for pod, edge in switches:
        for upper in range(1, half + 1):
            yield Detour(f"p{pod}-a{upper}", f"p{pod}-e{edge}", f"p{pod}-e{edge}")
            for core in range((upper - 1) * half + 1, upper * half + 1):
                yield Detour(f"core{core}", f"p{pod}-e{edge}", f"p{pod}-a{upper}")
        for host in range(1, (spec.hosts or half) + 1):
            to = f"p{pod}-e{edge}-h{host}"
            for other, switch in switches:
                port = (host + switch) % half + 1
                if (other, switch) != (pod, edge):
                    yield Detour(f"p{other}-e{switch}", to, f"p{other}-a{port}")
                if other != pod:
                    yield Detour(f"p{other}-a{switch}", to, f"core{(switch - 1) * half + port}")


def clusters(spec: Clusters) -> Iterator[Element]:
    """Gateways joined to each other, or a WAN that each host has its own link into."""
    names = [f"c{number}" for number in range(1, spec.clusters + 1)]
    if spec.style == "gateway":
        for name in names:
            yield from site(name, spec.hosts)
        yield from (joint(*ends) for ends in pairs(names, "mesh"))
        return
    yield Router("wan")
    for name in names:
        yield Router(name)
        for host in hosts(name, spec.hosts):
            yield host
            yield joint(host.name, "wan")
