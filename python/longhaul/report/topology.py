"""A drawing of the network: routers at their places, hosts in groups beside them."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from math import cos, inf, radians
from typing import Any

import numpy as np

from longhaul.analysis.links import requested
from longhaul.plan import Link, Plan
from longhaul.report.labels import Box, Line, beside
from longhaul.scenario.lower.main_tables import forwards_packets, host_ends
from longhaul.units.text import rate_text, share_text, time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

_WIDTH, _MARGIN = 860.0, 120.0
_LEAST_APART = 150.0
"""Between two nodes of the drawing, so that names do not cover one another."""
_BESIDE = 26.0
"""Between links that join the same nodes."""
_LETTER, _SMALL_LETTER, _TWO_LINES = 7.0, 6.0, 28.0
"""How wide letters of names and of labels are on average, and how high two lines of text."""
MOST_NODES = 60
"""Beyond this many a drawing tells nothing."""


def draw(
    plan: Plan,
    positions: Mapping[str, Sequence[float]],
    *,
    functions: Mapping[str, str] | None = None,
    spots: Mapping[str, Sequence[float]] | None = None,
    words: bool = True,
) -> str | None:
    """An ``<svg>`` element; None for a network too large to draw. ``positions``: latitude, longitude.

    ``functions`` are what nodes are there for, ``spots`` where they stand if they have no such positions: x
    to the right, y down. Without ``words``, only nodes have names.
    """
    nodes = [node for node in plan["nodes"] if node["kind"] != "interface"]
    links: list[Link] = [
        {**link, "endpoints": list(host_ends(plan["nodes"], link))} for link in plan["links"]
    ]
    degree = [0] * len(nodes)
    for link in links:
        for end in link["endpoints"]:
            degree[end] += 1
    leaf_of: dict[int, int] = {}
    for link in links:
        a, b = link["endpoints"]
        for leaf, inner in ((a, b), (b, a)):
            if nodes[leaf]["kind"] == "host" and degree[leaf] == 1 and forwards_packets(nodes[inner]):
                leaf_of[leaf] = inner
    core = [index for index in range(len(nodes)) if index not in leaf_of]
    if not core or len(core) > MOST_NODES:
        return None
    between = [link for link in links if not any(end in leaf_of for end in link["endpoints"])]
    places, height = _place(core, nodes, between, positions, spots or {})
    bows = _bows(between)
    room = max((abs(bow) for bow in bows), default=0.0)
    places = {index: point + np.array([0.0, room]) for index, point in places.items()}
    height += 2 * room
    told = [{**node, "function": (functions or {}).get(node["name"], "")} for node in nodes]
    lines = [_line(link, places) for link in between]
    taken: list[Box] = []
    standing = []
    for index in core:
        leaves = [leaf for leaf, at in leaf_of.items() if at == index]
        standing.append(_node(told, index, leaves, places, lines, taken, words=words))
    parts = [
        _link(link, line, bow, taken, lines, words=words)
        for link, line, bow in zip(between, lines, bows, strict=True)
    ]
    parts += standing
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} {height:.0f}" role="img" aria-label="topology" class="topology">'
        + "".join(parts)
        + "</svg>"
    )


def _place(
    core: list[int],
    nodes: Sequence[Json],
    links: Sequence[Json],
    positions: Mapping[str, Sequence[float]],
    spots: Mapping[str, Sequence[float]],
) -> tuple[dict[int, Array], float]:
    """Where the nodes of the core go, in pixels, and the height of the drawing."""
    apart = _LEAST_APART
    if all(nodes[index]["name"] in spots for index in core) and len(core) > 1:
        points = np.array([spots[nodes[index]["name"]] for index in core], dtype=float)
        apart = 0.0
    elif all(nodes[index]["name"] in positions for index in core) and len(core) > 1:
        at = np.array([positions[nodes[index]["name"]] for index in core], dtype=float)
        shrink = cos(radians(float(at[:, 0].mean())))
        points = np.column_stack([at[:, 1] * shrink, -at[:, 0]])
    else:
        points = _by_delay(core, links)
    points = points - points.min(axis=0)
    width = max(float(points[:, 0].max()), 1e-9)
    points = points * ((_WIDTH - 2 * _MARGIN) / width if width > 1e-6 else 1.0)
    points[:, 1] = np.minimum(points[:, 1], 420 * points[:, 1] / max(float(points[:, 1].max()), 420.0))
    points = _apart(points, apart)
    points = points - points.min(axis=0)
    span = max(float(points[:, 0].max()), 1e-9)
    points[:, 0] *= min(1.0, (_WIDTH - 2 * _MARGIN) / span)
    points[:, 0] += (_WIDTH - float(points[:, 0].max())) / 2
    points[:, 1] += 50
    return dict(zip(core, points, strict=True)), float(points[:, 1].max()) + 70


def _by_delay(core: list[int], links: Sequence[Json]) -> Array:
    """Nodes as far apart as the delays between them say: classical scaling of shortest paths."""
    index = {node: number for number, node in enumerate(core)}
    far = np.full((len(core), len(core)), inf)
    np.fill_diagonal(far, 0.0)
    for link in links:
        a, b = (index[end] for end in link["endpoints"])
        far[a, b] = far[b, a] = min(far[a, b], float(max(_delay_ns(link["forward"]), 1)))
    for middle in range(len(core)):
        far = np.minimum(far, far[:, [middle]] + far[[middle], :])
    finite = far[np.isfinite(far)]
    far[~np.isfinite(far)] = finite.max() * 1.5 if finite.max() > 0 else 1.0
    far = np.sqrt(far)  # or near ones could not be told apart
    centre = np.eye(len(core)) - 1 / len(core)
    values, vectors = np.linalg.eigh(-0.5 * centre @ (far**2) @ centre)
    scaled = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    points = np.zeros((len(core), 2))
    points[:, : scaled.shape[1]] = scaled
    if points[0, 0] > points[-1, 0]:
        points[:, 0] *= -1
    return points


def _apart(points: Array, least: float) -> Array:
    """Push nodes that are too near each other apart, a little at a time."""
    points = points.copy()
    least = min(least, (_WIDTH - 2 * _MARGIN) / max(len(points) ** 0.5, 1))
    for _ in range(200):
        moved = False
        for a, b in combinations(range(len(points)), 2):
            gap = points[b] - points[a]
            distance = float(np.hypot(*gap))
            if distance < least:
                direction = gap / distance if distance > 1e-9 else np.array([1.0, 0.1 * (a + b)])
                push = direction * (least - distance) * 0.3
                points[a] -= push
                points[b] += push
                moved = True
        if not moved:
            break
    return points


def _bows(links: Sequence[Json]) -> list[float]:
    """How far each link bends aside, in pixels, so that links between the same nodes stay apart."""
    together: dict[tuple[int, ...], list[int]] = {}
    for number, link in enumerate(links):
        together.setdefault(tuple(sorted(link["endpoints"])), []).append(number)
    bows = [0.0] * len(links)
    for group in together.values():
        for place, number in enumerate(group):
            bows[number] = _BESIDE * (place - (len(group) - 1) / 2)
    return bows


def _line(link: Json, places: Mapping[int, Array]) -> Line:
    one, other = (places[end] for end in sorted(link["endpoints"]))
    return one, other


def _link(link: Json, line: Line, bow: float, taken: list[Box], lines: Sequence[Line], *, words: bool) -> str:
    """A link with its name and labels beside it, if there is room."""
    one, other = line
    (x1, y1), (x2, y2) = line
    wire = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="wire"'
    if not words:
        return f"{wire}/>"
    forward, reverse = link["forward"], link["reverse"]
    labels = [time_text(_delay_ns(forward))]
    if _delay_ns(reverse) != _delay_ns(forward):
        labels[0] += f" / {time_text(_delay_ns(reverse))}"
    asked = requested(forward)
    if asked["routes"] > 1:
        labels.append(f"{asked['routes']} routes")
    if asked["rate_bits_per_s"]:
        labels.append(rate_text(asked["rate_bits_per_s"]))
    if asked["loss"] is None:
        labels.append("lossy")
    elif asked["loss"]:
        labels.append(f"loss {share_text(asked['loss'])}")
    told = f"{link['name']}: {', '.join(labels)}"
    title = f"<title>{escape(told)}</title>"
    if bow:
        length = max(float(np.hypot(*(other - one))), 1e-9)
        across = np.array([y1 - y2, x2 - x1]) / length
        # The middle of a quadratic curve lies halfway to its control point.
        x, y = (one + other) / 2 + bow * across
        bend_x, bend_y = (one + other) / 2 + 2 * bow * across
        bent = f"Q {bend_x:.1f} {bend_y:.1f} {x2:.1f} {y2:.1f}"
        return (
            f'<path d="M {x1:.1f} {y1:.1f} {bent}" class="wire" fill="none">{title}</path>'
            f'<text x="{x:.1f}" y="{y + (13 if bow > 0 else -5):.1f}" class="halo small">'
            f"{escape(told)}</text>"
        )
    wide = max(_LETTER * len(link["name"]), _SMALL_LETTER * len(", ".join(labels)))
    box = beside(line, (wide, _TWO_LINES), taken=taken, lines=lines)
    if box is None:
        return f"{wire}>{title}</line>"
    taken.append(box)
    return (
        f"{wire}>{title}</line>"
        f'<text x="{box.x:.1f}" y="{box.y - 3:.1f}" class="halo">{escape(link["name"])}</text>'
        f'<text x="{box.x:.1f}" y="{box.y + 11:.1f}" class="halo small">{escape(", ".join(labels))}</text>'
    )


def _node(
    nodes: Sequence[Any],
    index: int,
    leaves: list[int],
    places: Mapping[int, Array],
    lines: Sequence[Line],
    taken: list[Box],
    *,
    words: bool,
) -> str:
    x, y = places[index]
    node = nodes[index]
    function = node["function"]
    router = forwards_packets(node)
    shape = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="router {function}"/>'
        if router
        else f'<rect x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16" rx="3" class="host {function}"/>'
    )
    told = [(node["name"], "halo name")]
    if leaves:
        names = [nodes[leaf]["name"] for leaf in leaves]
        text = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
        kinds = {nodes[leaf]["function"] for leaf in leaves}
        kind = kinds.pop() if len(kinds) == 1 and kinds <= {"source", "sink"} else "host"
        if words:
            told.append((f"{len(names)} {kind}{'' if len(names) == 1 else 's'}: {text}", "halo small"))
    # Hosts are on one side of the node, words on the other: below, unless more links leave there than above.
    wide, high = _LETTER * max(len(text) for text, _ in told), 14.0 * len(told)
    below, above = (Box(x, y + way * (12 + high / 2), wide, high) for way in (1, -1))
    under = sum(map(below.meets, lines)) <= sum(map(above.meets, lines))
    box = below if under else above
    taken += [box, Box(x, y, 20, 20)]
    first = box.y - high / 2 + 12
    texts = "".join(
        f'<text x="{x:.1f}" y="{first + 14 * number:.1f}" class="{look}">{escape(text)}</text>'
        for number, (text, look) in enumerate(told)
    )
    shown = min(len(leaves), 12)
    hosts = y - 22 if under else y + 16
    return shape + "".join(_small_host(x - 4 * shown + 8 * each + 1, hosts) for each in range(shown)) + texts


def _small_host(x: float, y: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="6" height="6" class="host"/>'


def _delay_ns(direction: Json) -> int:
    delay = direction["delay"]
    return int(delay.get("delay_ns", delay.get("mean_ns", 0)) or 0)
