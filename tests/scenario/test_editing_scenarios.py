"""Edits of every scenario in the repository: all lines that an edit is not about stay, byte for byte."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import pytest

from longhaul.scenario.edit.edits import Edit, edit
from longhaul.scenario.edit.mentions import mentions
from longhaul.scenario.edit.templates import TEMPLATES, template
from longhaul.scenario.syntax.ranges import RangeError, expand
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, follow, read_tree

from .edited_lines import own_lines, paths

ROOT = Path(__file__).parents[2]
TEXTS = {
    str(path.relative_to(ROOT)): path.read_bytes().decode()
    for folder in ("scenarios", "studies", "tests/export")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
} | {f"template {kind}": template("t", kind=kind) for kind in TEMPLATES}


def edits(root: Branch, *, turn: int) -> Iterator[Edit]:
    """Each operation on each kind of place that the scenario has; ``turn`` says which of several."""
    places = [(path, follow(root, path)[1]) for path in paths(root) if path]
    kinds = {
        "value": [path for path, node in places if isinstance(node, Leaf)],
        "mapping": [path for path, node in places if isinstance(node, Branch) and node.entries],
        "list": [path for path, node in places if isinstance(node, Items) and node.items],
        "section": [path for path, _node in places if len(path) == 1],
        "entry": [path for path, _node in places if len(path) == 2],
        "name": [path for path, _node in places if len(path) == 2 and isinstance(path[1], str)],
        "range": [path for path, _node in places if path[0] == "nodes" and len(path) == 2 and _first(path)],
    }
    chosen = {kind: found[turn % len(found)] for kind, found in kinds.items() if found}
    for kind, path in chosen.items():
        match kind:
            case "value":
                yield Edit("set", path, "fresh")
                yield Edit("remove", path)
            case "mapping":
                yield Edit("add", (*path, "fresh"), {"kind": "host"})
            case "list":
                yield Edit("add", (*path, "-"), "fresh")
            case "section" | "entry":
                yield Edit("remove", path)
            case "name":
                yield Edit("rename", path, "fresh")
            case _:
                yield Edit("split", path, _first(path))
    if "profiles" not in root.entries:
        yield Edit("add", ("profiles", "fresh"), {"delay": "1ms"})


def _first(path: tuple[str | int, ...]) -> str:
    """The first of several names in a range; empty for one name."""
    try:
        names = expand(str(path[1]))
    except RangeError:
        return ""
    return names[0] if len(names) > 1 else ""


@pytest.mark.parametrize("name", TEXTS)
def test_an_edit_keeps_all_other_lines(name: str) -> None:
    text = TEXTS[name]
    root = read_tree(name, text.encode())[1]
    for each in edits(root, turn=len(text)):
        named = mentions(root, each.path) if each.op == "rename" else []
        after = edit(text, [each]).text
        own = own_lines(text, each, mentions=named)
        lines, edited = text.split("\n"), iter(after.split("\n"))
        for number, line in enumerate(lines, 1):
            assert number in own or line in edited, f"{each}: line {number} changed: {line}"
        if each.op == "rename":
            changes = zip_longest(lines, after.split("\n"))
            changed = {number for number, (old, new) in enumerate(changes, 1) if old != new}
            assert changed <= own, each
        elif each.op != "split":
            assert len(after.split("\n")) <= len(lines) + 2, each
