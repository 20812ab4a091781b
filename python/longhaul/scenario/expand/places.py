"""Places in a scenario that an axis sets."""

import re
from dataclasses import replace

from longhaul.diagnostics import Diagnostic, Span, printable
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import (
    Branch,
    Items,
    Leaf,
    Node,
    Path,
    follow,
    read_tree,
    resolve_scalar,
)
from longhaul.units.quantities import Span as QuantitySpan
from longhaul.units.quantities import UnitError

COMMAND_LINE = "command line"
ELSEWHERE = Span(0, 0)
"""Stands for the command line in a tree that came from a file."""
_OPTIONAL = ("seed", "duration", "addresses", "coalesce", "kernel", "cpu")
"""Keys at the top that need not be there."""
_FIXED = ("version", "name", "params", "sweep", "expect", "description")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.%+-]*")
"""A scalar that needs no YAML to be read; most values are such."""


def find_axis(root: Branch, axis: str) -> Path | None:
    """Where the values of ``axis`` go: a parameter, or a key that is or could be there; else ``None``."""
    axis = round_trip_of(root, axis) or axis
    parameters = root.entries["params"][1] if "params" in root.entries else None
    if isinstance(parameters, Branch) and axis in parameters.entries:
        return ("params", axis)
    parts = axis.split(".")
    if parts[0] in _FIXED or (len(parts) == 1 and axis not in root.entries and axis not in _OPTIONAL):
        return None
    return _locate(root, parts)


RTT = "rtt"


def round_trip_of(root: Branch, axis: str) -> str | None:
    """The key of the delay that the axis ``rtt`` or ``links.wan.rtt`` sets, to half of each value.

    ``rtt`` alone is that of the only link. ``None`` for other axes, and if the scenario has several links.
    """
    parameters = root.entries["params"][1] if "params" in root.entries else None
    if isinstance(parameters, Branch) and axis in parameters.entries:
        return None
    links = root.entries["links"][1] if "links" in root.entries else None
    if (
        axis == RTT
        and "topology" not in root.entries
        and isinstance(links, Branch)
        and len(links.entries) == 1
    ):
        return f"links.{next(iter(links.entries))}.delay"
    if axis.startswith(("links.", "profiles.")) and axis.count(".") > 1 and axis.endswith(f".{RTT}"):
        return axis.removesuffix(RTT) + "delay"
    return None


def half_of(node: Node) -> Node:
    """The time of one way, of a round trip; what is not a time stays, and is refused as a delay."""
    if not isinstance(node, Leaf):
        return node
    try:
        ns = QuantitySpan.parse(node.value).ns
    except UnitError:
        return node
    # An odd number of ns has no half; the delay is refused with the finest step.
    text = f"{ns // 2}.5ns" if ns % 2 else str(QuantitySpan(ns // 2))
    return replace(node, value=text, text=text)


def _locate(node: Node, parts: list[str]) -> Path | None:
    if isinstance(node, Items) and parts[0].isdecimal() and int(parts[0]) < len(node.items):
        index = int(parts[0])
        rest = _locate(node.items[index], parts[1:]) if parts[1:] else ()
        return None if rest is None else (index, *rest)
    if not isinstance(node, Branch):
        return None
    # Names of nodes may have dots in them: par1..4.
    for count in range(len(parts), 0, -1):
        key = ".".join(parts[:count])
        if key in node.entries:
            rest = _locate(node.entries[key][1], parts[count:]) if parts[count:] else ()
            return None if rest is None else (key, *rest)
    return (parts[0],) if len(parts) == 1 and node.entries else None


def unknown_axis(root: Branch, axis: str) -> tuple[str, str]:
    """What is wrong with an axis that leads nowhere, and what helps."""
    shown = printable(axis)
    parts = axis.split(".")
    if parts[0] in _FIXED:
        return f'"{shown}" cannot vary', "name a parameter, or a key such as links.wan.loss"
    gone = next(count for count in range(len(parts), -1, -1) if _node(root, parts[:count]) is not None)
    node = _node(root, parts[:gone])
    if gone and isinstance(node, Branch):
        known = [".".join([*parts[:gone], key]) for key in node.entries]
        return f'there is no key "{shown}"', did_you_mean(axis, known)
    if axis == RTT:
        return '"rtt" is no parameter, and several links have one', "write links.NAME.rtt"
    parameters = root.entries["params"][1] if "params" in root.entries else None
    names = list(parameters.entries) if isinstance(parameters, Branch) else []
    near = f"{did_you_mean(axis, names)} " if names else "name a parameter "
    message = f'"{shown}" is neither parameter nor key'
    return message, f"{near}(keys: links.wan.loss)"


def _node(root: Branch, parts: list[str]) -> Node | None:
    """What is at a path that is there."""
    path = _locate(root, parts) if parts else ()
    if path is None:
        return None
    _place, node, walked = follow(root, path)
    return node if walked == path else None


def read_value(text: str, place: Span) -> Node:
    """One value of an axis as a tree that stands at ``place``. Raises ScenarioError."""
    if _WORD.fullmatch(text):
        return Leaf(resolve_scalar(text), text, place)
    _source, root = read_tree("axis", f"value: {text}".encode())
    return moved(root.entries["value"][1], place)


def moved(node: Node, place: Span) -> Node:
    """``node`` and all in it, as if it stood at ``place``."""
    if isinstance(node, Leaf):
        return replace(node, place=place)
    if isinstance(node, Items):
        return replace(node, place=place, items=[moved(item, place) for item in node.items])
    entries = {key: (place, moved(each, place)) for key, (_place, each) in node.entries.items()}
    return replace(node, place=place, entries=entries)


def readdressed(error: ScenarioError) -> ScenarioError:
    """``error`` with what is wrong on the command line said to be there."""
    return ScenarioError(map(_readdressed, error.diagnostics))


def _readdressed(problem: Diagnostic) -> Diagnostic:
    if problem.span != ELSEWHERE:
        return problem
    return replace(problem, file=COMMAND_LINE, span=Span(1, 1))
