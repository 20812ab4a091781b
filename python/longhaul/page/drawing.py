"""A scenario's text as a drawing: nodes, links, traffic, programs and events, though it be not right yet."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from longhaul.scenario.ranges import RangeError, expand, expand_all
from longhaul.scenario.references import attachment_name
from longhaul.scenario.splicing import flow
from longhaul.scenario.yaml_tree import Branch, Items, Leaf, Node, data_of

Json = dict[str, Any]

MOST_NODES = 5_000
"""That a drawing shows."""
_SHORT = 4_000
"""Characters of an entry's text that are told."""


def drawn(root: Branch, tree: Branch, spots: Mapping[str, Sequence[float]]) -> Json:
    """What text ``root`` says; in ``tree`` parameters have values, and its topology is laid out.

    ``text`` of an entry has what stands in the file under each of its keys, on one line; ``path`` and
    ``line`` are those of the file, and ``None`` for what a topology makes.
    """
    nodes = list(_nodes(root, tree, spots))
    return {
        "name": _text(_entry(root, "name")),
        "description": _text(_entry(root, "description")),
        "duration": _text(_entry(root, "duration")),
        "params": _texts(_entry(root, "params")),
        "profiles": {name: _texts(node) for name, node in _entries(root, "profiles")},
        "topology": _texts(_entry(root, "topology")) if "topology" in root.entries else None,
        "sweep": _sweep(root),
        "nodes": nodes,
        "links": [*_links(root, tree), *_attachments(nodes)],
        "traffic": [
            {**_named(root, "traffic", name), **_ends(node), "kind": _text(_entry(node, "kind"))}
            for name, node in _entries(tree, "traffic")
        ],
        "programs": [
            {**_named(root, "programs", name), "hosts": _hosts(node), "run": _text(_entry(node, "run"))}
            for name, node in _entries(tree, "programs")
        ],
        "events": [{**each, "link": _names(_entry(node, "link"))} for each, node in _list(root, "events")],
        "expect": [each for each, _node in _list(root, "expect")],
    }


def _nodes(root: Branch, tree: Branch, spots: Mapping[str, Sequence[float]]) -> Iterator[Json]:
    own = dict(_entries(root, "nodes"))
    shown = 0
    for key, node in _entries(tree, "nodes"):
        attach = _text(_entry(node, "attach"))
        for name in _members(key):
            shown += 1
            if shown > MOST_NODES:
                return
            yield {
                "name": name,
                "range": key if ".." in key else None,
                **_place(own, "nodes", key),
                "kind": _text(_entry(node, "kind")) or "host",
                "function": _text(_entry(node, "function")),
                "attach": attach,
                "attach_link": attachment_name(name, attach) if attach else None,
                "profile": _text(_entry(node, "profile")),
                "at": _coordinates(_entry(node, "at")),
                "spot": list(spots[name]) if name in spots else None,
                "text": _texts(own.get(key)),
            }


def _links(root: Branch, tree: Branch) -> Iterator[Json]:
    own = dict(_entries(root, "links"))
    for name, node in _entries(tree, "links"):
        ends = _names(_entry(node, "endpoints"))
        if len(ends) == 2:
            yield {
                "name": name,
                "a": ends[0],
                "b": ends[1],
                "attachment": False,
                **_place(own, "links", name),
                "profile": _text(_entry(node, "profile")),
                "text": _texts(own.get(name)),
            }


def _attachments(nodes: Sequence[Json]) -> Iterator[Json]:
    for node in nodes:
        if node["attach"]:
            yield {
                "name": node["attach_link"],
                "a": node["name"],
                "b": node["attach"],
                "attachment": True,
                "path": None,
                "written": False,
                "line": node["line"],
                "profile": node["profile"],
                "text": {},
            }


def _sweep(root: Branch) -> Json | None:
    """What varies, as it stands in the file."""
    if "sweep" not in root.entries:
        return None
    told = _texts(_entry(root, "sweep"))
    return {"axes": _texts(_entry(_entry(root, "sweep"), "axes")), "repeat": told.get("repeat")}


def _place(own: Mapping[str, Node], section: str, key: str) -> Json:
    return {
        "path": [section, key] if key in own else None,
        "written": key in own,
        "line": own[key].place.line if key in own else None,
    }


def _named(root: Branch, section: str, name: str) -> Json:
    own = dict(_entries(root, section))
    return {"name": name, **_place(own, section, name), "text": _texts(own.get(name))}


def _ends(node: Node) -> Json:
    return {
        "from": _expanded(_names(_entry(node, "from"))),
        "to": _expanded(_names(_entry(node, "to"))),
        "link": _text(_entry(node, "link")),
        "simulated": _text(_entry(node, "simulated")) == "true",
    }


def _hosts(node: Node) -> list[str]:
    return _expanded([name for key in ("host", "hosts", "each") for name in _names(_entry(node, key))])


def _list(root: Branch, section: str) -> Iterator[tuple[Json, Node]]:
    items = _entry(root, section)
    for position, item in enumerate(items.items if isinstance(items, Items) else ()):
        told = {"path": [section, position], "line": item.place.line, "text": _texts(item)}
        yield {**told, "yaml": flow(data_of(item))[:_SHORT]}, item


def _entry(node: Node | None, key: str) -> Node | None:
    return node.entries[key][1] if isinstance(node, Branch) and key in node.entries else None


def _entries(root: Branch, section: str) -> Iterator[tuple[str, Node]]:
    inner = _entry(root, section)
    for key, (_place, node) in inner.entries.items() if isinstance(inner, Branch) else ():
        yield key, node


def _names(node: Node | None) -> list[str]:
    """A name, or several."""
    leaves = node.items if isinstance(node, Items) else [node]
    return [text for each in leaves if (text := _text(each))]


def _expanded(names: list[str]) -> list[str]:
    try:
        return list(expand_all(tuple(names)))
    except RangeError:
        return names


def _members(key: str) -> tuple[str, ...]:
    try:
        return expand(key)
    except RangeError:
        return (key,)


def _text(node: Node | None) -> str | None:
    return node.text if isinstance(node, Leaf) and node.text else None


def _texts(node: Node | None) -> Json:
    """What stands under each key, on one line; of the two ways, under each of theirs."""
    if not isinstance(node, Branch):
        return {}
    return {
        key: _texts(each)
        if key in ("forward", "reverse") and isinstance(each, Branch)
        else (each.text if isinstance(each, Leaf) else flow(data_of(each)))[:_SHORT]
        for key, (_place, each) in node.entries.items()
    }


def _coordinates(node: Node | None) -> list[float] | None:
    values = [each.value for each in node.items if isinstance(each, Leaf)] if isinstance(node, Items) else []
    numbers = [float(each) for each in values if isinstance(each, int | Decimal)]
    return numbers if len(numbers) == 2 else None
