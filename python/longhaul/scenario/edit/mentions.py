"""Places in a scenario's text that name a node, link, profile or parameter."""

from collections.abc import Iterator

from longhaul.scenario.syntax.ranges import RangeError, expand
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, Path

_KEYS = {
    "nodes": ("attach", "endpoints", "from", "to", "host", "hosts", "each", "at", "via"),
    "links": ("link", "links", "via"),
    "profiles": ("profile",),
}
"""Under which keys the names of each section stand, alone or in a list."""
_ELSEWHERE = {"nodes": ("links", "nodes", "traffic", "programs", "routes"), "links": (), "profiles": ()}
"""The only sections in which they do; all, if there are none."""


def mentions(root: Branch, path: Path, *, members: bool = False) -> list[Path]:
    """The places of all values that are the name at ``path``; those in the midst of a text are not.

    With ``members`` also those of the names in a range.
    """
    if len(path) != 2 or not isinstance(path[1], str):
        return []
    section, name = str(path[0]), path[1]
    if section == "params":
        return [place for place, _key, leaf in _leaves(root, ()) if leaf.value == f"${name}"]
    names: set[object] = {name, *_members(name)} if members else {name}
    keys, sections = _KEYS.get(section, ()), _ELSEWHERE.get(section, ())
    return [
        place
        for place, key, leaf in _leaves(root, ())
        if leaf.value in names and key in keys and (not sections or place[0] in sections)
    ]


def _members(key: str) -> tuple[str, ...]:
    try:
        return expand(key)
    except RangeError:
        return ()


def _leaves(node: Node, path: Path, key: str = "") -> Iterator[tuple[Path, str, Leaf]]:
    """Every scalar, with the key that it or its list stands under."""
    match node:
        case Leaf():
            yield path, key, node
        case Items():
            for position, each in enumerate(node.items):
                yield from _leaves(each, (*path, position), key)
        case Branch():
            for name, (_place, each) in node.entries.items():
                yield from _leaves(each, (*path, name), name)
