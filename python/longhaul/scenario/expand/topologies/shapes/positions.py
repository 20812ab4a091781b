"""Positions of routers in a drawing: x to the right, y down."""

from collections.abc import Iterable, Sequence
from math import cos, pi, sin

from longhaul.scenario.expand.topologies.shapes.elements import Element, Host, Joint, Router
from longhaul.scenario.model import topology as model

Spot = tuple[float, float]


def spots(spec: model.Topology, made: Sequence[Element]) -> dict[str, Spot]:
    """A spot for each router in ``made``, and for hosts with several links; empty where none says more."""
    routers = [each.name for each in made if isinstance(each, Router)]
    match spec:
        case model.Chain():
            return _row(routers, 0)
        case model.Ring() | model.Mesh():
            return _circle(routers, 1)
        case model.Star():
            return {"hub": (0, 0), **_circle(routers[1:], 1)}
        case model.Torus() if len(spec.size) == 2:
            return _grid(routers, spec.size[1])
        case model.Dumbbell():
            return _row(routers, 0)
        case model.FishBone():
            length = spec.length
            ribs = routers[length:]
            return {**_row(routers[:length], 0), **_row(ribs[::2], -0.6), **_row(ribs[1::2], 0.6)}
        case model.Tree():
            return _levels(spec, routers)
        case model.FatTree():
            return _layers(spec, routers)
        case model.Clusters(style="gateway"):
            return _circle(routers, 1)
        case model.Clusters():
            return _clusters(routers[1:], made)
        case _:
            return {}


def _row(names: Sequence[str], y: float, *, width: float | None = None) -> dict[str, Spot]:
    """Side by side, one apart, or spread evenly over ``width``."""
    apart = 1.0 if width is None else width / len(names)
    first = 0.0 if width is None else apart / 2
    return {name: (first + apart * number, y) for number, name in enumerate(names)}


def _circle(names: Sequence[str], radius: float) -> dict[str, Spot]:
    """Clockwise, with one at the top; two side by side."""
    turn = pi if len(names) == 2 else pi / 2
    angles = [2 * pi * number / len(names) - turn for number in range(len(names))]
    return {
        name: (radius * cos(angle), radius * sin(angle)) for name, angle in zip(names, angles, strict=True)
    }


def _grid(names: Sequence[str], columns: int) -> dict[str, Spot]:
    """Rows and columns a little bent, so that links from end to end do not hide behind others."""
    rows = len(names) // columns
    found = {}
    for number, name in enumerate(names):
        row, column = divmod(number, columns)
        bend = 0.7 / max(rows, columns)
        x = column - bend * (row - (rows - 1) / 2) ** 2
        y = 0.6 * (row - bend * (column - (columns - 1) / 2) ** 2)
        found[name] = (x, y)
    return found


def _levels(spec: model.Tree, routers: Iterable[str]) -> dict[str, Spot]:
    width = float(spec.fanout**spec.depth)
    by_level: dict[int, list[str]] = {}
    for name in routers:
        by_level.setdefault(0 if name == "root" else name.count("-") + 1, []).append(name)
    step = max(width / (2 * spec.depth), 1.0)
    return {
        name: spot
        for level, names in by_level.items()
        for name, spot in _row(names, step * level, width=width).items()
    }


def _layers(spec: model.FatTree, routers: Sequence[str]) -> dict[str, Spot]:
    width = float(spec.k * spec.k // 2)
    layers = (
        [name for name in routers if name.startswith("core")],
        [name for name in routers if "-a" in name],
        [name for name in routers if "-e" in name],
    )
    return {
        name: spot
        for level, names in enumerate(layers)
        for name, spot in _row(names, level * width / 5, width=width).items()
    }


def _clusters(switches: Sequence[str], made: Iterable[Element]) -> dict[str, Spot]:
    """Switches around the WAN, and the hosts of each on an arc between."""
    beside = {each.ends[0] for each in made if isinstance(each, Joint)}
    hosts: dict[str, list[str]] = {name: [] for name in switches}
    for each in made:
        if isinstance(each, Host) and each.name in beside:
            hosts[each.on].append(each.name)
    found = {"wan": (0.0, 0.0), **_circle(switches, 2)}
    for switch, names in hosts.items():
        x, y = found[switch]
        for number, name in enumerate(names):
            aside = 1.6 * ((number + 0.5) / len(names) - 0.5)
            found[name] = (x * 0.55 - y * 0.5 * aside, y * 0.55 + x * 0.5 * aside)
    return found
