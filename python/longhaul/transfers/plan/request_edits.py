"""Requests as the rows of a table, and edits of their files that keep comments, order and other lines."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.edit.edits import Edit, edit
from longhaul.scenario.syntax.csv_row import cells_of
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf
from longhaul.transfers.plan.request_files import COLUMNS, NEEDED, parse_requests, request_tree


@dataclass(frozen=True)
class RequestRow:
    """A request as it is written."""

    name: str
    line: int
    cells: dict[str, str]
    """The text of each column of :data:`COLUMNS` but the name; empty where nothing is written."""


@dataclass(frozen=True)
class RequestTable:
    """The requests of a file, as far as they can be read, and everything that is wrong with them."""

    rows: tuple[RequestRow, ...]
    points: tuple[str, ...]
    """Names of the access points that the file itself gives."""
    problems: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class RequestEdit:
    """One edit.

    ``set`` writes ``text`` into a column of a request, its name included; without text it removes an optional
    value. ``add`` appends a request with the values of ``cells``; ``remove`` takes one out.
    """

    op: Literal["set", "add", "remove"]
    request: str
    column: str = ""
    text: str = ""
    cells: tuple[tuple[str, str], ...] = ()


def request_table(content: bytes, *, name: str) -> RequestTable:
    """The requests in ``content``, CSV by its ``name`` or else YAML, with all problems."""
    try:
        _source, tree = request_tree(content, name=name)
    except ScenarioError as error:
        return RequestTable((), (), tuple(error.diagnostics))
    problems: tuple[Diagnostic, ...] = ()
    try:
        parse_requests(content, name=name)
    except ScenarioError as error:
        problems = tuple(error.diagnostics)
    rows = tuple(
        RequestRow(key, place.line, {column: _text(node, column) for column in COLUMNS[1:]})
        for key, (place, node) in _branch(tree, "requests").entries.items()
    )
    return RequestTable(rows, tuple(_branch(tree, "points").entries), problems)


def edit_requests(text: str, edits: Sequence[RequestEdit], *, name: str) -> str:
    """``text`` with all ``edits``, one after the other. Raises LonghaulError if one cannot be made."""
    change: Callable[[str, RequestEdit], str] = _edit_csv if name.lower().endswith(".csv") else _edit_yaml
    for each in edits:
        if each.op == "set" and each.column not in COLUMNS:
            raise _refused(
                f'there is no column "{printable(each.column)}"', f"write one of {', '.join(COLUMNS)}"
            )
        if each.op == "set" and not each.text.strip() and each.column in ("name", *NEEDED):
            raise _refused(f"{each.column} is empty", f"write the {each.column} of the request")
        text = change(text, each)
    return text


def _edit_yaml(text: str, each: RequestEdit) -> str:
    path = ("requests", each.request)
    value = each.text.strip()
    match each.op:
        case "add":
            made = {column: cell for column, cell in each.cells if cell.strip()}
            return edit(text, [Edit("add", path, made)]).text
        case "remove":
            return edit(text, [Edit("remove", path)]).text
    if each.column == "name":
        return text if value == each.request else edit(text, [Edit("rename", path, value)]).text
    if value:
        return edit(text, [Edit("set", (*path, each.column), _plain(value))]).text
    written = {row.name: row.cells for row in request_table(text.encode(), name="requests.yaml").rows}
    if not written.get(each.request, {}).get(each.column):
        return text
    return edit(text, [Edit("remove", (*path, each.column))]).text


def _plain(text: str) -> str | int | float:
    """What is typed, as YAML reads it without quotes: a number without a unit is a number."""
    if re.fullmatch(r"\d{1,15}(\.\d{1,15})?", text):
        return float(text) if "." in text else int(text)
    return text


def _edit_csv(text: str, each: RequestEdit) -> str:
    lines = text.splitlines(keepends=True)
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if not filled:
        lines, filled = [f"{','.join(COLUMNS)}\n"], [0]
    if not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    header = cells_of(lines[filled[0]].removeprefix("\ufeff"))
    wanted = [column for column, cell in each.cells if cell] if each.op == "add" else [each.column or "name"]
    for column in [] if each.op == "remove" else dict.fromkeys(["name", *wanted]):
        if column not in header:
            _add_column(lines, filled, header, column)
    names = _names(lines, filled, header)
    if each.op == "add":
        if each.request in names:
            raise _refused(f'there is a "{printable(each.request)}" already', "choose another name")
        new = dict(each.cells) | {"name": each.request}
        return "".join([*lines, _row([new.get(column, "") for column in header])])
    if each.request not in names:
        raise _refused(f'there is no request "{printable(each.request)}"', "load the table again")
    at = filled[1 + names.index(each.request)]
    if each.op == "remove":
        return "".join(lines[:at] + lines[at + 1 :])
    cells = cells_of(lines[at])
    cells += [""] * (len(header) - len(cells))
    cells[header.index(each.column)] = each.text.strip()
    lines[at] = _row(cells)
    return "".join(lines)


def _add_column(lines: list[str], filled: Sequence[int], header: list[str], column: str) -> None:
    """A column more; that of names has the names that the requests had without it."""
    names = _names(lines, filled, header)
    for number, at in enumerate(filled[1:]):
        lines[at] = _row([*cells_of(lines[at]), names[number] if column == "name" else ""])
    header.append(column)
    lines[filled[0]] = _row(header)


def _names(lines: Sequence[str], filled: Sequence[int], header: Sequence[str]) -> list[str]:
    """The name of each request, as reading the file gives them."""
    at = header.index("name") if "name" in header else None
    found: list[str] = []
    for line in filled[1:]:
        cells = cells_of(lines[line])
        called = cells[at] if at is not None and at < len(cells) else ""
        found.append(called or f"r{len(found) + 1}")
    return found


def _row(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _branch(tree: Branch, key: str) -> Branch:
    node = tree.entries.get(key, (tree.place, None))[1]
    return node if isinstance(node, Branch) else Branch(tree.place)


def _text(node: object, column: str) -> str:
    """What is written in a column, if it is one value."""
    if not isinstance(node, Branch) or column not in node.entries:
        return ""
    leaf = node.entries[column][1]
    return leaf.text if isinstance(leaf, Leaf) else ""


def _refused(message: str, remedy: str) -> LonghaulError:
    return LonghaulError(Code.EDIT_IMPOSSIBLE, message, remedy=remedy, exit_code=2)
