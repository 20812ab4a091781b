"""Edits of a scenario's text that keep comments, order and quoting.

An edit names a place by its keys, as in ``("links", "par-nyc", "delay")``, and is spliced into the text
there. Then the text is read again, and an edit that did not do exactly what it should is refused.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any, Literal

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.edit.mentions import mentions
from longhaul.scenario.edit.splicing import Splicer, SplicingError
from longhaul.scenario.model import Document
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean, path_text
from longhaul.scenario.syntax.ranges import RangeError, expand, without
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Path, data_of, follow, read_tree

Operation = Literal["set", "add", "remove", "rename", "split"]
OPERATIONS: tuple[Operation, ...] = ("set", "add", "remove", "rename", "split")
LISTS = ("events", "expect", "routes")
"""Sections that are lists."""
_MOST_MENTIONS = 5_000
_MARK = "\ufeff"
SECTIONS = tuple(Document.model_fields)
"""In the order in which a file has them."""


@dataclass(frozen=True)
class Edit:
    """One edit.

    ``set`` gives what is at ``path`` another value, or writes it there; ``add`` does so only where nothing is
    yet, and appends where there is a list (a path that ends in ``-`` says so, too); ``remove`` takes it out,
    and its section if that is empty then; ``rename`` gives the key another name,
    and so wherever the file speaks of that node, link, profile or parameter; ``split`` makes of the key
    ``par1..4`` entries of which one is ``value`` alone.
    """

    op: Operation
    path: Path
    value: Any = None
    """Plain data: text, numbers, booleans, None, lists and mappings."""
    references: bool = False
    """Whether ``remove`` also takes out what cannot be without it: a node's links and attached hosts, and
    traffic, programs, events and routes that name nothing else."""


@dataclass(frozen=True)
class Edited:
    """The text afterwards."""

    text: str
    changed_lines: tuple[int, ...]
    """Lines of the new text, from 1, that the old one has not; none where lines only went."""


class EditError(LonghaulError):
    """An edit that cannot be made."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        remedy: str | None = None,
        line: int | None = None,
        column: int | None = None,
        in_range: str | None = None,
    ) -> None:
        """``in_range`` names the range that has what the edit is about as one of its members."""
        super().__init__(code, message, remedy=remedy, exit_code=2)
        self.line = line
        self.column = column
        self.in_range = in_range


def edit(text: str, edits: Sequence[Edit]) -> Edited:
    """``text`` with all ``edits``, one after the other; raises :class:`EditError` if one cannot be made."""
    # The parser counts places from behind a byte order mark.
    after = text.removeprefix(_MARK)
    mark = text[: len(text) - len(after)]
    for each in edits:
        after = _remove_mentions(after, each.path) if each.op == "remove" and each.references else after
        after = _edit(after, _appending(each))
    return Edited(mark + after, changed_lines(text, mark + after))


def changed_lines(before: str, after: str) -> tuple[int, ...]:
    """Lines of ``after``, from 1, that ``before`` has not."""
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    return tuple(
        start + line + 1
        for tag, _a, _b, first, last in matcher.get_opcodes()
        if tag != "equal"
        for line in range(first, last)
    )


def _appending(each: Edit) -> Edit:
    if each.op in ("set", "add") and len(each.path) > 1 and each.path[-1] == "-":
        return replace(each, op="add", path=each.path[:-1])
    return each


def _remove_mentions(text: str, path: Path, *, going: tuple[Path, ...] = ()) -> str:
    """``text`` without what cannot be without the entry at ``path``; both it and those ``going`` stay."""
    after, going = text, (*going, path[:2])
    for _round in range(_MOST_MENTIONS):
        root = _read(after)
        places = [place for place in mentions(root, path, members=True) if place[:2] not in going]
        if not places or path[0] == "params":
            return after
        holder = _holder(root, places[0])
        if len(holder) == 2 and holder[0] in ("nodes", "links"):
            after = _remove_mentions(after, holder, going=going)
        after = _edit(after, Edit("remove", holder))
    raise EditError(Code.EDIT_IMPOSSIBLE, "too many other entries refer to it", remedy="edit the text")


def _holder(root: Branch, mention: Path) -> Path:
    """What goes when the value at ``mention`` does: an item of a list with others, or a whole entry."""
    if mention[-1] == "profile":
        return mention
    inner = follow(root, mention[:-1])[1]
    if isinstance(inner, Items) and len(inner.items) > 1 and mention[-2] != "endpoints":
        return mention
    return mention[:2]


def _edit(text: str, each: Edit) -> str:
    if not each.path:
        raise EditError(
            Code.EDIT_IMPOSSIBLE, "an edit needs a path", remedy='such as ["links", "wan", "delay"]'
        )
    root = _read(text)
    before = data_of(root)
    if each.op == "remove" and len(each.path) == 2 and len(before.get(each.path[0]) or ()) == 1:
        _refuse_what_is_not_there(root, each)
        each = replace(each, path=each.path[:1])
    _refuse_members_of_ranges(root, each.path)
    named = mentions(root, each.path) if each.op == "rename" else []
    names = _parts(root, each) if each.op == "split" else []
    _refuse_what_is_not_there(root, each)
    expected = _expected(before, each, named, names)
    try:
        after = _spliced(Splicer(text), each, named, names)
    except SplicingError as error:
        raise EditError(
            Code.EDIT_IMPOSSIBLE, str(error), remedy="edit the text", line=error.line, column=error.column
        ) from None
    try:
        same = data_of(read_tree("scenario", after.encode())[1]) == expected
    except ScenarioError:
        same = False
    if not same:
        place = follow(root, each.path)[0]
        message = f"{path_text(each.path)} is written in a way that cannot be edited in place"
        raise EditError(
            Code.EDIT_IMPOSSIBLE, message, remedy="edit the text", line=place.line, column=place.column
        )
    return after


def _spliced(splicer: Splicer, each: Edit, named: list[Path], names: list[str]) -> str:
    match each.op:
        case "remove":
            return splicer.remove(each.path)
        case "rename":
            return splicer.rename(each.path, str(each.value), named)
        case "split":
            return splicer.multiply(each.path, names)
        case "add" if not splicer.walk(each.path)[1]:
            return splicer.append(splicer.walk(each.path)[0][-1], each.value, is_section=len(each.path) == 1)
        case "add" if each.path[-1] in LISTS and len(each.path) == 1:
            return splicer.set(each.path, [each.value], order=SECTIONS)
        case _:
            return splicer.set(each.path, each.value, order=SECTIONS)


def _expected(before: Any, each: Edit, named: list[Path], names: list[str]) -> Any:
    """The file's data as they must be afterwards."""
    data = deepcopy(before)
    parent, key = _parent(data, each.path), each.path[-1]
    match each.op:
        case "remove":
            del parent[key]
        case "rename" | "split":
            new = names if each.op == "split" else [str(each.value)]
            for path in named:
                _parent(data, path)[path[-1]] = _renamed(_at(data, path), str(each.value))
            entries = list(parent.items())
            parent.clear()
            for old, value in entries:
                parent.update(dict.fromkeys(new, value) if old == key else {old: value})
        case "add" if isinstance(present := _present(parent, key), list):
            present.append(_normal(each.value))
        case "add" if each.path[-1] in LISTS and len(each.path) == 1:
            parent[key] = [_normal(each.value)]
        case _ if isinstance(parent, list) and key == len(parent):
            parent.append(_normal(each.value))
        case _:
            parent[key] = _normal(each.value)
    return data


def _parent(data: Any, path: Path) -> Any:
    """What holds the last part of ``path``; mappings that are missing are made."""
    for depth, part in enumerate(path[:-1]):
        try:
            if isinstance(data, dict) and data.get(part) is None:
                data[part] = {}
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
        if not isinstance(data, dict | list):
            message = f"{path_text(path[: depth + 1])} is one value"
            raise EditError(Code.EDIT_IMPOSSIBLE, message, remedy="set it as a whole")
    if not isinstance(data, dict if isinstance(path[-1], str) else list):
        what = "a list" if isinstance(data, list) else "a mapping"
        raise EditError(
            Code.EDIT_IMPOSSIBLE, f"{path_text(path[:-1])} is {what}", remedy="name an existing key or item"
        )
    return data


def _present(parent: Any, key: str | int) -> Any:
    """What ``parent`` has at ``key``; ``None`` if nothing."""
    try:
        return parent[key]
    except (KeyError, IndexError):
        return None


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _refuse_what_is_not_there(root: Branch, each: Edit) -> None:
    place, node, walked = follow(root, each.path)
    there = walked == each.path
    where = path_text(each.path)
    if not there and each.op in ("remove", "rename", "split"):
        inner = follow(root, each.path[:-1])[1] if len(each.path) > 1 else root
        known = inner.entries if isinstance(inner, Branch) else ()
        raise EditError(
            Code.EDIT_IMPOSSIBLE, f"there is no {where}", remedy=did_you_mean(str(each.path[-1]), known)
        )
    if there and each.op == "add" and not isinstance(node, Items):
        message, remedy = f"{where} already exists", "set it, or choose another name"
        raise EditError(Code.EDIT_IMPOSSIBLE, message, remedy=remedy, line=place.line, column=place.column)
    if each.op in ("rename", "split") and not isinstance(each.path[-1], str):
        raise EditError(Code.EDIT_IMPOSSIBLE, f"{where} has no name", remedy="set its values")
    if each.op == "rename":
        inner = follow(root, each.path[:-1])[1] if len(each.path) > 1 else root
        taken = {name for key in inner.entries for name in _members(key)} if isinstance(inner, Branch) else {}
        if not isinstance(each.value, str) or not each.value:
            raise EditError(
                Code.EDIT_IMPOSSIBLE, "a name is text", remedy="write letters, digits and hyphens"
            )
        if each.value in taken:
            message = f'there is a "{printable(each.value)}" already'
            raise EditError(
                Code.NAME_DUPLICATE,
                message,
                remedy="choose another name",
                line=place.line,
                column=place.column,
            )


def _refuse_members_of_ranges(root: Branch, path: Path) -> None:
    """``par2`` of ``par1..4`` has no line of its own, unless the range is split."""
    if len(path) < 2 or path[0] != "nodes" or "nodes" not in root.entries:
        return
    nodes = root.entries["nodes"][1]
    if not isinstance(nodes, Branch) or path[1] in nodes.entries:
        return
    for key, (place, _node) in nodes.entries.items():
        if path[1] in _members(key):
            raise EditError(
                Code.EDIT_IMPOSSIBLE,
                f'"{printable(str(path[1]))}" is one of {printable(key)}',
                remedy=f"edit {printable(key)}, or split it",
                line=place.line,
                column=place.column,
                in_range=key,
            )


def _parts(root: Branch, each: Edit) -> list[str]:
    """The keys that a range becomes when one of its members is to stand alone."""
    try:
        return without(str(each.path[-1]), str(each.value))
    except RangeError as error:
        raise EditError(
            error.code, error.message, remedy=error.remedy, line=follow(root, each.path)[0].line
        ) from None


def _members(key: str) -> tuple[str, ...]:
    try:
        return expand(key)
    except RangeError:
        return (key,)


def _renamed(value: Any, name: str) -> Any:
    return f"${name}" if isinstance(value, str) and value.startswith("$") else name


def _read(text: str) -> Branch:
    try:
        return read_tree("scenario", text.encode())[1]
    except ScenarioError as error:
        first = error.diagnostics[0]
        line, column = (first.span.line, first.span.column) if first.span else (None, None)
        raise EditError(
            first.code,
            f"the text cannot be read: {first.message}",
            remedy=first.remedy,
            line=line,
            column=column,
        ) from None


def _normal(value: Any) -> Any:
    """Plain data as reading them from a file gives them."""
    if isinstance(value, Mapping):
        return {str(key): _normal(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(each) for each in value]
    return Decimal(repr(value)) if isinstance(value, float) else value
