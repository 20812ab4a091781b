"""YAML of other tools, each value with its line."""

from collections.abc import Iterator

from longhaul.diagnostics import Span
from longhaul.scenario.syntax.yaml_tree import Branch, FileKind, Items, Leaf, Node, read_tree

_KIND = FileKind(
    "lab",
    begin="take a topology of containerlab or netlab, or a compose file",
    start="take a file with a network in it",
    shorten="use a part of it",
    share="write the value out; `docker compose config` prints a file without aliases",
)


def read_lab(name: str, content: bytes) -> Branch:
    """The mapping in ``content``, which errors call ``name``; raises LonghaulError with the line."""
    _source, tree = read_tree(name, content, kind=_KIND)
    return tree


def get(node: Node | None, *keys: str) -> Node | None:
    """The node that ``keys`` lead to."""
    for key in keys:
        node = node.entries[key][1] if isinstance(node, Branch) and key in node.entries else None
    return node


def entries(node: Node | None) -> Iterator[tuple[str, int, Node]]:
    """Key, line and node of each entry of a mapping; none for anything else."""
    if isinstance(node, Branch):
        for key, (place, each) in node.entries.items():
            yield key, place.line, each


def items(node: Node | None) -> list[Node]:
    """The items of a sequence; of anything else that is there, that itself."""
    if node is None or (isinstance(node, Leaf) and node.value is None):
        return []
    return list(node.items) if isinstance(node, Items) else [node]


def text(node: Node | None, otherwise: str = "") -> str:
    """The text of a scalar."""
    return node.text if isinstance(node, Leaf) and node.value is not None else otherwise


def line(node: Node | None) -> int | None:
    """Where a node is."""
    place: Span | None = node.place if node is not None else None
    return place.line if place else None


def pairs(node: Node | None) -> dict[str, str]:
    """Text by name: of a mapping, or of a list of NAME=VALUE."""
    if isinstance(node, Branch):
        return {key: text(each) for key, _line, each in entries(node)}
    found = (text(each).partition("=") for each in items(node))
    return {name: value for name, _equals, value in found if name}
