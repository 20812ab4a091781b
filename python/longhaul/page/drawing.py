"""A scenario's text as a drawing: nodes, links, traffic, programs and events, though it be not right yet."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from longhaul.scenario.ranges import RangeError, expand
from longhaul.scenario.references import attachment_name
from longhaul.scenario.yaml_tree import Branch, Items, Leaf, Node

Json = dict[str, Any]

MOST_NODES = 5_000
"""That a drawing shows."""


def drawn(root: Branch, tree: Branch, spots: Mapping[str, Sequence[float]]) -> Json:
    """What text ``root`` says; in ``tree`` parameters have values, and its topology is laid out."""
    nodes = list(_nodes(root, tree, spots))
    return {
        "name": _text(_entry(root, "name")),
        "description": _text(_entry(root, "description")),
        "duration": _text(_entry(root, "duration")),
        "params": _written(_entry(root, "params")) or {},
        "profiles": _written(_entry(root, "profiles")) or {},
        "topology": _written(_entry(root, "topology")),
        "has_sweep": "sweep" in root.entries,
        "nodes": nodes,
        "links": [*_links(root, tree), *_attachments(nodes)],
        "traffic": [
            {"name": name, "path": ["traffic", name], "written": _written(node)}
            for name, node in _entries(root, "traffic")
        ],
        "programs": [
            {"name": name, "path": ["programs", name], "written": _written(node)}
            for name, node in _entries(root, "programs")
        ],
        "events": _list(root, "events"),
        "expect": _list(root, "expect"),
    }


def _nodes(root: Branch, tree: Branch, spots: Mapping[str, Sequence[float]]) -> Iterator[Json]:
    own = dict(_entries(root, "nodes"))
    shown = 0
    for key, node in _entries(tree, "nodes"):
        for name in _members(key):
            shown += 1
            if shown > MOST_NODES:
                return
            yield {
                "name": name,
                "key": key if key in own else None,
                "range": key if ".." in key else None,
                "path": ["nodes", key] if key in own else None,
                "kind": _text(_entry(node, "kind")) or "host",
                "function": _text(_entry(node, "function")),
                "attach": _text(_entry(node, "attach")),
                "profile": _text(_entry(node, "profile")),
                "at": _coordinates(_entry(node, "at")),
                "spot": list(spots[name]) if name in spots else None,
                "line": own[key].place.line if key in own else None,
                "written": _written(own.get(key)),
            }


def _links(root: Branch, tree: Branch) -> Iterator[Json]:
    own = dict(_entries(root, "links"))
    for name, node in _entries(tree, "links"):
        ends = _entry(node, "endpoints")
        names = [_text(each) for each in ends.items] if isinstance(ends, Items) else []
        if len(names) != 2 or not all(names):
            continue
        yield {
            "name": name,
            "endpoints": names,
            "path": ["links", name] if name in own else None,
            "is_attachment": False,
            "line": own[name].place.line if name in own else None,
            "profile": _text(_entry(node, "profile")),
            "written": _written(own.get(name)),
        }


def _attachments(nodes: Sequence[Json]) -> Iterator[Json]:
    for node in nodes:
        if node["attach"]:
            yield {
                "name": attachment_name(node["name"], node["attach"]),
                "endpoints": [node["name"], node["attach"]],
                "path": None,
                "is_attachment": True,
                "line": node["line"],
                "profile": node["profile"],
                "written": None,
            }


def _list(root: Branch, section: str) -> list[Json]:
    items = _entry(root, section)
    return [
        {"path": [section, position], "line": item.place.line, "written": _written(item)}
        for position, item in enumerate(items.items if isinstance(items, Items) else ())
    ]


def _entry(node: Node | None, key: str) -> Node | None:
    return node.entries[key][1] if isinstance(node, Branch) and key in node.entries else None


def _entries(root: Branch, section: str) -> Iterator[tuple[str, Node]]:
    inner = _entry(root, section)
    for key, (_place, node) in inner.entries.items() if isinstance(inner, Branch) else ():
        yield key, node


def _members(key: str) -> tuple[str, ...]:
    try:
        return expand(key)
    except RangeError:
        return (key,)


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Leaf) and node.text else None


def _coordinates(node: Node | None) -> list[float] | None:
    values = [each.value for each in node.items if isinstance(each, Leaf)] if isinstance(node, Items) else []
    numbers = [float(each) for each in values if isinstance(each, int | Decimal)]
    return numbers if len(numbers) == 2 else None


def _written(node: Node | None) -> Any:
    """As it stands in the text: quantities and decimals as text, the rest as plain data."""
    match node:
        case Branch():
            return {key: _written(each) for key, (_place, each) in node.entries.items()}
        case Items():
            return [_written(each) for each in node.items]
        case Leaf():
            return node.text if isinstance(node.value, Decimal) else node.value
    return None
