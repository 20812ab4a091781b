"""``$name`` in values: substituted in the tree, before values have a type."""

import re
from collections.abc import Mapping
from dataclasses import replace

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, Path, Source, resolve_scalar

_WHOLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_WITHIN = re.compile(r"\$\$|" + _WHOLE.pattern)
_UNTOUCHED = frozenset({"params", "sweep"})
_LONGEST = 1 << 16


def parameters(
    source: Source, root: Branch, settings: Mapping[str, str]
) -> tuple[dict[str, Leaf], list[Diagnostic]]:
    """The parameters of a scenario with ``settings`` in place of what the file says."""
    node = root.entries["params"][1] if "params" in root.entries else None
    found: dict[str, Leaf] = {}
    if isinstance(node, Branch):
        found = {name: leaf for name, (_place, leaf) in node.entries.items() if isinstance(leaf, Leaf)}
    problems = []
    for name, text in settings.items():
        if name in found:
            found[name] = replace(found[name], value=resolve_scalar(text), text=text)
        else:
            place = root.entries["params"][0] if "params" in root.entries else root.place
            message = f'--set {printable(name)}: there is no parameter "{printable(name)}"'
            problems.append(
                source.problem(Code.PARAMETER_UNKNOWN, place, ("params",), message, did_you_mean(name, found))
            )
    return found, problems


def substitute(
    source: Source, root: Branch, known: Mapping[str, Leaf]
) -> tuple[Branch, set[str], list[Diagnostic]]:
    """``root`` with parameters replaced; which were used; and what names no parameter.

    A value that is ``$name`` alone takes the parameter's value and kind; within longer text the
    parameter's text goes in. ``$$`` is a dollar sign.
    """
    used: set[str] = set()
    problems: list[Diagnostic] = []

    def unknown(leaf: Leaf, path: Path, name: str) -> None:
        remedy = f"{did_you_mean(name, known)} (a dollar sign itself is $$)"
        problems.append(
            source.problem(
                Code.PARAMETER_UNKNOWN, leaf.place, path, f'there is no parameter "{printable(name)}"', remedy
            )
        )

    def leaf_of(leaf: Leaf, path: Path) -> Leaf:
        if not isinstance(leaf.value, str) or "$" not in leaf.value:
            return leaf
        whole = _WHOLE.fullmatch(leaf.value)
        if whole:
            name = whole[1] or whole[2]
            if name not in known:
                unknown(leaf, path, name)
                return leaf
            used.add(name)
            return replace(leaf, value=known[name].value, text=known[name].text, parameter=name)

        def within(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            name = match[1] or match[2]
            if name not in known:
                unknown(leaf, path, name)
                return match[0]
            used.add(name)
            return known[name].text

        text = _WITHIN.sub(within, leaf.value)
        if len(text) > _LONGEST:
            problems.append(
                source.problem(
                    Code.PARAMETER_INVALID,
                    leaf.place,
                    path,
                    "becomes very long text",
                    "use shorter parameters",
                )
            )
            return leaf
        return replace(leaf, value=text, text=text)

    def walk(node: Node, path: Path) -> Node:
        if isinstance(node, Leaf):
            return leaf_of(node, path)
        if isinstance(node, Items):
            return replace(node, items=[walk(item, (*path, index)) for index, item in enumerate(node.items)])
        return replace(
            node,
            entries={key: (place, walk(each, (*path, key))) for key, (place, each) in node.entries.items()},
        )

    entries = {
        key: (place, node if key in _UNTOUCHED else walk(node, (key,)))
        for key, (place, node) in root.entries.items()
    }
    return replace(root, entries=entries), used, problems
