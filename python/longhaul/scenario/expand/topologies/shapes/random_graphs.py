"""Random graphs, the same for the same seed.

``random.Random.random`` is the one generator whose sequence Python promises to keep, so everything is drawn
with it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import exp, hypot, sqrt
from random import Random

from longhaul.scenario.expand.topologies.shapes.elements import Element, joint, site
from longhaul.scenario.model.topology import BarabasiAlbert, Waxman
from longhaul.units.quantities import Span

Edge = tuple[int, int]


def waxman(spec: Waxman) -> Iterator[Element]:
    """B. M. Waxman, "Routing of multipoint connections" (JSAC 1988), the first of its two models.

    Routers are uniform in a square; two at distance d are joined with probability beta exp(-d / (alpha L)),
    where L is the longest distance. Parts that are apart are then joined by the shortest links that do.
    """
    draw = Random(spec.seed).random
    points = [(draw(), draw()) for _router in range(spec.routers)]
    far = {(a, b): hypot(points[a][0] - points[b][0], points[a][1] - points[b][1]) for a, b in _all(points)}
    longest = max(far.values()) or sqrt(2)
    edges = [
        edge for edge, distance in far.items() if draw() < spec.beta * exp(-distance / (spec.alpha * longest))
    ]
    edges += _missing(spec.routers, edges, far)
    yield from _routers(spec)
    for a, b in edges:
        yield joint(f"r{a + 1}", f"r{b + 1}", delay=_share(spec.across, far[a, b]))


def _all(points: Sequence[object]) -> Iterator[Edge]:
    return combinations(range(len(points)), 2)


def _share(across: Span, distance: float) -> Span:
    """To the microsecond, one at least: no two places are the same."""
    return Span(max(1, round(across.ns * distance / 1000)) * 1000)


def _missing(count: int, edges: Sequence[Edge], far: dict[Edge, float]) -> list[Edge]:
    """The shortest links that make one network of all (Kruskal 1956)."""
    part = list(range(count))

    def root(node: int) -> int:
        while part[node] != node:
            part[node] = part[part[node]]
            node = part[node]
        return node

    for a, b in edges:
        part[root(a)] = root(b)
    added = []
    for a, b in sorted(far, key=lambda edge: (far[edge], edge)):
        if root(a) != root(b):
            part[root(a)] = root(b)
            added.append((a, b))
    return added


def barabasi_albert(spec: BarabasiAlbert) -> Iterator[Element]:
    """A.-L. Barabasi, R. Albert, "Emergence of scaling in random networks" (Science 1999).

    It begins with a star of ``links`` routers around one. Each new router is joined to ``links`` others, each
    chosen with a probability in proportion to the links that it has.
    """
    draw = Random(spec.seed).random
    edges = [(0, other) for other in range(1, spec.links + 1)]
    ends = [end for edge in edges for end in edge]
    for new in range(spec.links + 1, spec.routers):
        chosen = _distinct(draw, ends, spec.links)
        edges += [(old, new) for old in chosen]
        ends += [end for old in chosen for end in (old, new)]
    yield from _routers(spec)
    yield from (joint(f"r{a + 1}", f"r{b + 1}") for a, b in edges)


def _distinct(draw: Callable[[], float], ends: Sequence[int], count: int) -> list[int]:
    """So many different nodes, drawn from the ends of links."""
    chosen: dict[int, None] = {}
    while len(chosen) < count:
        chosen[ends[int(draw() * len(ends))]] = None
    return list(chosen)


def _routers(spec: Waxman | BarabasiAlbert) -> Iterator[Element]:
    first = spec.routers - (spec.sites or spec.routers)
    for number in range(spec.routers):
        yield from site(f"r{number + 1}", spec.hosts if number >= first else 0)
