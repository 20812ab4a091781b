"""The network as a drawing: routers where they stand, hosts in a group beside theirs."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import combinations
from math import cos, inf, radians
from typing import Any

import numpy as np

from longhaul.analysis.links import requested
from longhaul.analysis.text import rate_text, share_text, time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

_WIDTH, _MARGIN = 860.0, 120.0
_LEAST_APART = 150.0
"""Between two nodes of the drawing, so that names do not cover one another."""
_BESIDE = 26.0
"""Between links that join the same nodes."""
MOST_NODES = 60
"""Beyond this many a drawing tells nothing."""


def draw(
    plan: Json,
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
    nodes, links = plan["nodes"], plan["links"]
    degree = [0] * len(nodes)
    for link in links:
        for end in link["endpoints"]:
            degree[end] += 1
    leaf_of: dict[int, int] = {}
    for link in links:
        a, b = link["endpoints"]
        for leaf, inner in ((a, b), (b, a)):
            if nodes[leaf]["kind"] == "host" and degree[leaf] == 1 and nodes[inner]["kind"] == "router":
                leaf_of[leaf] = inner
    core = [index for index in range(len(nodes)) if index not in leaf_of]
    if not core or len(core) > MOST_NODES:
        return None
    inner = [link for link in links if not any(end in leaf_of for end in link["endpoints"])]
    places, height = _place(core, nodes, inner, positions, spots or {})
    bows = _bows(inner)
    room = max((abs(bow) for bow in bows), default=0.0)
    places = {index: point + np.array([0.0, room]) for index, point in places.items()}
    height += 2 * room
    parts = [_link(link, places, bow, words=words) for link, bow in zip(inner, bows, strict=True)]
    told = [{**node, "function": (functions or {}).get(node["name"], "")} for node in nodes]
    parts += [
        _node(index, told, places, [leaf for leaf, at in leaf_of.items() if at == index], words=words)
        for index in core
    ]
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


def _link(link: Json, places: Mapping[int, Array], bow: float, *, words: bool) -> str:
    (x1, y1), (x2, y2) = (places[end] for end in sorted(link["endpoints"]))
    if not words:
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="wire"/>'
    return _told(link, (x1, y1), (x2, y2), bow)


def _told(link: Json, one: Sequence[float], other: Sequence[float], bow: float) -> str:
    """A link with its name and laws beside it."""
    (x1, y1), (x2, y2) = one, other
    forward, reverse = link["forward"], link["reverse"]
    laws = [time_text(_delay_ns(forward))]
    if _delay_ns(reverse) != _delay_ns(forward):
        laws[0] += f" / {time_text(_delay_ns(reverse))}"
    asked = requested(forward)
    if asked["routes"] > 1:
        laws.append(f"{asked['routes']} routes")
    if asked["rate_bits_per_s"]:
        laws.append(rate_text(asked["rate_bits_per_s"]))
    if asked["loss"] is None:
        laws.append("lossy")
    elif asked["loss"]:
        laws.append(f"loss {share_text(asked['loss'])}")
    # The words stand beside the line: above it, or to its right where it is steep.
    length = max(float(np.hypot(x2 - x1, y2 - y1)), 1e-9)
    right, up = abs(y2 - y1) / length, abs(x2 - x1) / length
    leans_right = (x2 - x1) * (y2 - y1) > 0
    steep = right > 0.6
    aside = bow * np.array([-(y2 - y1), x2 - x1]) / length
    mid_x, mid_y = (x1 + x2) / 2 + aside[0], (y1 + y2) / 2 + aside[1]
    x = mid_x + (12 * right if leans_right or steep else -12 * right)
    y = mid_y - (0 if steep else 14 * up)
    anchor = ' style="text-anchor: start"' if steep else ""
    if bow:
        # The middle of a quadratic curve lies halfway to its control point.
        bent = f"Q {mid_x + aside[0]:.1f} {mid_y + aside[1]:.1f} {x2:.1f} {y2:.1f}"
        told = f"{link['name']}: {', '.join(laws)}"
        return (
            f'<path d="M {x1:.1f} {y1:.1f} {bent}" class="wire" fill="none"/>'
            f'<text x="{mid_x:.1f}" y="{mid_y + (13 if bow > 0 else -5):.1f}" class="halo small">'
            f"{escape(told)}</text>"
        )
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="wire"/>'
        f'<text x="{x:.1f}" y="{y - 6:.1f}" class="halo"{anchor}>{escape(link["name"])}</text>'
        f'<text x="{x:.1f}" y="{y + 8:.1f}" class="halo small"{anchor}>{escape(", ".join(laws))}</text>'
    )


def _node(
    index: int, nodes: Sequence[Json], places: Mapping[int, Array], leaves: list[int], *, words: bool
) -> str:
    x, y = places[index]
    node = nodes[index]
    function = node["function"]
    router = node["kind"] == "router"
    shape = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="router {function}"/>'
        if router
        else f'<rect x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16" rx="3" class="host {function}"/>'
    )
    lines = [f'<text x="{x:.1f}" y="{y + 24:.1f}" class="halo name">{escape(node["name"])}</text>']
    if leaves:
        names = [nodes[leaf]["name"] for leaf in leaves]
        text = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
        kinds = {nodes[leaf]["function"] for leaf in leaves}
        kind = kinds.pop() if len(kinds) == 1 and kinds <= {"source", "sink"} else "host"
        told = escape(f"{len(names)} {kind}{'' if len(names) == 1 else 's'}: {text}")
        if words:
            lines.append(f'<text x="{x:.1f}" y="{y + 38:.1f}" class="halo small">{told}</text>')
        shown = min(len(names), 12)
        shape += "".join(_small_host(x - 4 * shown + 8 * number + 1, y - 22) for number in range(shown))
    return shape + "".join(lines)


def _small_host(x: float, y: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="6" height="6" class="host"/>'


def _delay_ns(direction: Json) -> int:
    delay = direction["delay"]
    return int(delay.get("delay_ns", delay.get("mean_ns", 0)) or 0)
