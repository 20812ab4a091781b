"""Components of a topology, parallel links, and shortest paths."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from longhaul.diagnostics import printable
from longhaul.scenario.expand.topologies.chart import Cable, Chart
from longhaul.scenario.expand.topologies.distance import Place, middle
from longhaul.units.text import count_text

_SHOWN = 8
"""Names in a warning at most."""


@dataclass(frozen=True)
class Bundle:
    """All cables between two sites."""

    ends: tuple[str, str]
    forward: tuple[Cable, ...]
    reverse: tuple[Cable, ...]


def connected(chart: Chart, *, largest_part: bool, warnings: list[str]) -> Chart:
    """``chart`` without loops and, where that was chosen, without all but the largest part."""
    loops = [cable for cable in chart.cables if cable.ends[0] == cable.ends[1]]
    if loops:
        warnings.append(f"left out, from a node to itself: {count_text(len(loops), 'link')}")
        chart = replace(chart, cables=tuple(each for each in chart.cables if each not in loops))
    labels = {site.key: site.label for site in chart.sites}
    parts = parts_of(chart)
    if len(parts) == 1:
        return chart
    others = [labels[key] for part in parts[1:] for key in part]
    if largest_part:
        warnings.append(f"left out, since no link leads there: {listed(others)}")
        kept = set(parts[0])
        return replace(
            chart,
            sites=tuple(each for each in chart.sites if each.key in kept),
            cables=tuple(each for each in chart.cables if each.ends[0] in kept),
            demands=tuple(each for each in chart.demands if kept.issuperset(each.ends)),
        )
    warnings.append(
        f"the network is in {len(parts)} parts; no packet gets from the largest to {listed(others)};"
        " --largest-part leaves them out"
    )
    return chart


def parts_of(chart: Chart) -> list[list[str]]:
    """Sites that are connected, the largest part first."""
    near = defaultdict(list)
    for cable in chart.cables:
        near[cable.ends[0]].append(cable.ends[1])
        near[cable.ends[1]].append(cable.ends[0])
    seen: set[str] = set()
    parts = []
    for site in chart.sites:
        part, waiting = [], [site.key]
        while waiting:
            key = waiting.pop()
            if key not in seen:
                seen.add(key)
                part.append(key)
                waiting += near[key]
        if part:
            parts.append(part)
    return sorted(parts, key=len, reverse=True)


def bundles_of(chart: Chart, warnings: list[str]) -> list[Bundle]:
    """Each two sites that cables join, with these cables."""
    together: dict[frozenset[str], list[Cable]] = defaultdict(list)
    for cable in chart.cables:
        together[frozenset(cable.ends)].append(cable)
    bundles = []
    lonely = 0
    for cables in together.values():
        ends = cables[0].ends
        forward = tuple(each for each in cables if not each.one_way or each.ends == ends)
        reverse = tuple(each for each in cables if not each.one_way or each.ends != ends)
        if len(forward) != len(reverse):
            lonely += 1
            forward = reverse = max(forward, reverse, key=len)
        bundles.append(Bundle(ends, forward, reverse))
    if lonely:
        warnings.append(
            f"{lonely} links that the file has one way only, or oftener one way, are taken for both ways"
        )
    return bundles


def places_of(chart: Chart, bundles: Sequence[Bundle]) -> Mapping[str, Place]:
    """Where sites are; a hub that does not say lies amid its neighbours."""
    places = {site.key: site.at for site in chart.sites if site.at}
    for hub in chart.sites:
        if hub.hub and not hub.at:
            around = [
                places[other]
                for bundle in bundles
                for here, other in (bundle.ends, bundle.ends[::-1])
                if here == hub.key and other in places
            ]
            if around:
                places[hub.key] = middle(around)
    return places


def reach(source: str, near: Mapping[str, Sequence[tuple[str, int]]]) -> dict[str, int]:
    """The delay of the shortest way from ``source`` to all that can be reached (Dijkstra 1959)."""
    reached: dict[str, int] = {}
    waiting = [(0, source)]
    while waiting:
        delay, here = heappop(waiting)
        if here not in reached:
            reached[here] = delay
            for other, more in near[here]:
                if other not in reached:
                    heappush(waiting, (delay + more, other))
    return reached


def listed(names: Sequence[str]) -> str:
    """The first of ``names``, and how many more there are."""
    shown = ", ".join(printable(name) for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
