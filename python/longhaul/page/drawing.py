"""A scenario's text as a drawing: nodes, links, traffic, programs and events, also of incomplete texts."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from longhaul.page.responses.drawings import (
    Drawing,
    LinkNumbers,
    ListEntry,
    ModelEvent,
    ModelLink,
    ModelNode,
    ModelProgram,
    ModelTraffic,
    NamedEntry,
    Place,
    Varied,
    WaysText,
    Words,
)
from longhaul.plan import Plan
from longhaul.scenario.check.names import attachment_name
from longhaul.scenario.edit.splicing import flow
from longhaul.scenario.lower.main_tables import forwards_packets, host_ends
from longhaul.scenario.syntax.ranges import RangeError, expand, expand_all
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, data_of

MOST_NODES = 5_000
"""That a drawing shows."""
_SHORT = 4_000
"""Characters of an entry's text that are told."""
NO_NUMBERS: LinkNumbers = {"rtt_ns": None, "bdp_bytes": None, "mtu": None, "forward": None, "reverse": None}


def drawn(root: Branch, tree: Branch, spots: Mapping[str, Place]) -> Drawing:
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
        "traffic": list(_traffic(root, tree)),
        "programs": list(_programs(root, tree)),
        "events": list(_events(root)),
        "expect": [each for each, _node in _list(root, "expect")],
    }


def drawn_plan(
    plan: Plan,
    *,
    positions: Mapping[str, Sequence[float]],
    spots: Mapping[str, Sequence[float]],
    functions: Mapping[str, str],
) -> tuple[list[ModelNode], list[ModelLink]]:
    """The nodes and links of a plan, as a text of theirs would be drawn.

    ``positions`` are latitudes and longitudes, ``spots`` places in a topology's unit square, ``functions``
    what nodes are there for. A link from a host to a router that has the name of an attachment is one. Of a
    network of more than :data:`MOST_NODES` nodes, only the first are drawn, and the links between these.
    """
    nodes_of_plan = plan["nodes"]
    shown = [node for node in nodes_of_plan[:MOST_NODES] if node["kind"] != "interface"]
    names = [node["name"] for node in shown]
    ends = {link["name"]: host_ends(nodes_of_plan, link) for link in plan["links"]}
    drawable = [link for link in plan["links"] if max(ends[link["name"]]) < len(shown)]
    attached = {
        names[a]: (names[b], link["name"])
        for link in drawable
        for a, b in (ends[link["name"]], ends[link["name"]][::-1])
        if link["name"] == attachment_name(names[a], names[b])
        and shown[a]["kind"] == "host"
        and forwards_packets(shown[b])
    }
    nodes: list[ModelNode] = [
        {
            "name": node["name"],
            "path": None,
            "written": False,
            "line": None,
            "text": {},
            "range": None,
            "kind": _kind(node["kind"]),
            "function": functions.get(node["name"]),
            "attach": attached.get(node["name"], (None, None))[0],
            "attach_link": attached.get(node["name"], (None, None))[1],
            "profile": None,
            "at": _place(positions.get(node["name"])),
            "spot": _place(spots.get(node["name"])),
            "addresses": [address for address in (node["ipv4"], node["ipv6"]) if address],
            "congestion_control": None,
        }
        for node in shown
    ]
    attachments = {link for _router, link in attached.values()}
    links: list[ModelLink] = [
        {
            "name": link["name"],
            "a": names[ends[link["name"]][0]],
            "b": names[ends[link["name"]][1]],
            "attachment": link["name"] in attachments,
            "path": None,
            "written": False,
            "line": None,
            "profile": None,
            "text": {},
            "ways": _down_ways(link),
            **NO_NUMBERS,
        }
        for link in drawable
    ]
    return nodes, links


def _down_ways(link: Mapping[str, Any]) -> WaysText:
    """``up: false`` for the directions of a link of the plan that are down at the start."""
    found: WaysText = {}
    if not link["forward"]["up"]:
        found["forward"] = {"up": "false"}
    if not link["reverse"]["up"]:
        found["reverse"] = {"up": "false"}
    return found


def _place(found: Sequence[float] | None) -> Place | None:
    return (float(found[0]), float(found[1])) if found else None


def _kind(written: str | None) -> Literal["host", "router", "switch"]:
    """The kind of a node; what is not written yet is a host."""
    return "router" if written == "router" else "switch" if written == "switch" else "host"


def _nodes(root: Branch, tree: Branch, spots: Mapping[str, Place]) -> Iterator[ModelNode]:
    shown = 0
    for key, node in _entries(tree, "nodes"):
        attach = _text(_entry(node, "attach"))
        for name in _members(key):
            shown += 1
            if shown > MOST_NODES:
                return
            yield {
                **_named(root, "nodes", key),
                "name": name,
                "range": key if ".." in key else None,
                "kind": _kind(_text(_entry(node, "kind"))),
                "function": _text(_entry(node, "function")),
                "attach": attach,
                "attach_link": attachment_name(name, attach) if attach else None,
                "profile": _text(_entry(node, "profile")),
                "at": _coordinates(_entry(node, "at")),
                "spot": spots.get(name),
                "addresses": [],
                "congestion_control": None,
            }


def _links(root: Branch, tree: Branch) -> Iterator[ModelLink]:
    own = dict(_entries(root, "links"))
    for name, node in _entries(tree, "links"):
        ends = _names(_entry(node, "endpoints"))
        if len(ends) == 2:
            yield {
                **_named(root, "links", name),
                "a": ends[0],
                "b": ends[1],
                "attachment": False,
                "profile": _text(_entry(node, "profile")),
                "ways": _ways(own.get(name)),
                **NO_NUMBERS,
            }


def _attachments(nodes: Sequence[ModelNode]) -> Iterator[ModelLink]:
    for node in nodes:
        if node["attach"] and node["attach_link"]:
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
                "ways": {},
                **NO_NUMBERS,
            }


def _ways(node: Node | None) -> WaysText:
    """What stands under each of the two ways."""
    told: WaysText = {}
    if isinstance(forward := _entry(node, "forward"), Branch):
        told["forward"] = _texts(forward)
    if isinstance(reverse := _entry(node, "reverse"), Branch):
        told["reverse"] = _texts(reverse)
    return told


def _traffic(root: Branch, tree: Branch) -> Iterator[ModelTraffic]:
    for name, node in _entries(tree, "traffic"):
        yield {
            **_named(root, "traffic", name),
            "from": _expanded(_names(_entry(node, "from"))),
            "to": _expanded(_names(_entry(node, "to"))),
            "link": _text(_entry(node, "link")),
            "simulated": _text(_entry(node, "simulated")) == "true",
            "kind": _text(_entry(node, "kind")),
        }


def _programs(root: Branch, tree: Branch) -> Iterator[ModelProgram]:
    for name, node in _entries(tree, "programs"):
        run = _text(_entry(node, "run"))
        yield {**_named(root, "programs", name), "hosts": _hosts(node), "run": run}


def _events(root: Branch) -> Iterator[ModelEvent]:
    for each, node in _list(root, "events"):
        yield {**each, "link": _names(_entry(node, "link"))}


def _sweep(root: Branch) -> Varied | None:
    """What varies, as it stands in the file."""
    if "sweep" not in root.entries:
        return None
    told = _texts(_entry(root, "sweep"))
    return {"axes": _texts(_entry(_entry(root, "sweep"), "axes")), "repeat": told.get("repeat")}


def _named(root: Branch, section: str, name: str) -> NamedEntry:
    """What ``section`` of the file says of ``name``, if it names it."""
    own = _entry(_entry(root, section), name)
    return {
        "name": name,
        "path": [section, name] if own else None,
        "written": own is not None,
        "line": own.place.line if own else None,
        "text": _texts(own),
    }


def _hosts(node: Node) -> list[str]:
    return _expanded([name for key in ("host", "hosts", "each") for name in _names(_entry(node, key))])


def _list(root: Branch, section: str) -> Iterator[tuple[ListEntry, Node]]:
    items = _entry(root, section)
    for position, item in enumerate(items.items if isinstance(items, Items) else ()):
        told: ListEntry = {
            "path": [section, position],
            "line": item.place.line,
            "text": _texts(item),
            "yaml": flow(data_of(item))[:_SHORT],
        }
        yield told, item


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


def _texts(node: Node | None) -> Words:
    """What stands under each key, on one line."""
    if not isinstance(node, Branch):
        return {}
    return {
        key: (each.text if isinstance(each, Leaf) else flow(data_of(each)))[:_SHORT]
        for key, (_place, each) in node.entries.items()
    }


def _coordinates(node: Node | None) -> Place | None:
    values = [each.value for each in node.items if isinstance(each, Leaf)] if isinstance(node, Items) else []
    numbers = [float(each) for each in values if isinstance(each, int | Decimal)]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None
