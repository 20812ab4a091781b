"""The places of a scenario's text, and the lines that an edit may change."""

from collections.abc import Sequence

from longhaul.scenario.edit.edits import Edit
from longhaul.scenario.edit.splicing import Splicer
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, Path


def paths(node: Node, path: Path = ()) -> list[Path]:
    """The path of ``node`` and of everything in it."""
    match node:
        case Branch():
            inner: list[tuple[str | int, Node]] = [
                (key, each) for key, (_place, each) in node.entries.items()
            ]
        case Items():
            inner = list(enumerate(node.items))
        case Leaf():
            inner = []
    return [path, *(each for key, child in inner for each in paths(child, (*path, key)))]


def own_lines(text: str, each: Edit, *, mentions: Sequence[Path] = ()) -> set[int]:
    """The lines of what an edit is about, from its key to its end, and those of ``mentions`` of it."""
    splicer = Splicer(text)
    spots, rest = splicer.walk(each.path)
    if rest:
        # Something new comes on a line of its own, or behind the last entry on the line of a bracket.
        node = spots[-1].node if spots else splicer.root
        if not getattr(node, "flow_style", True):
            return set()
        first, last = node.start_mark.line, splicer.text.count("\n", 0, splicer._end(node))
        key = spots[-1].key if spots else None
        return set(range(key.start_mark.line + 1 if key else first + 1, last + 2))
    spot = spots[-1]
    if each.op == "remove" and len(spots) > 1 and len(spot.parent.value) == 1:
        spot = spots[-2]
    start = (spot.key or spot.node).start_mark.line
    if each.op == "remove" and spot.position == 0 and len(spot.parent.value) > 1:
        # The first key of an item stands behind the dash, and then the second does.
        following = spot.parent.value[1]
        end = (following[0] if spot.key else following).start_mark.line
        return set(range(start + 1, end + 2))
    if each.op == "remove" and spot.position > 0 and spot.parent.flow_style:
        # The comma before goes, too.
        before = spot.parent.value[spot.position - 1]
        start = (before[1] if spot.key else before).end_mark.line
    end = splicer.text.count("\n", 0, splicer._end(spot.node, key=spot.key))
    own = set(range(start + 1, end + 2))
    for mention in mentions:
        node = splicer.walk(mention)[0][-1].node
        own |= set(range(node.start_mark.line + 1, node.end_mark.line + 2))
    return own
