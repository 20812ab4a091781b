"""YAML as a tree of plain values, each with its place.

The C parser of PyYAML gives events; scalars are resolved here by the core schema of YAML 1.2 (section
10.3.2), so that ``no``, ``on``, ``1_000`` and ``1:30`` are text. What a scenario has no use for is refused
with an address: duplicate keys, aliases, tags, several documents, tabs, files of another encoding.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any, NoReturn

import yaml

from longhaul.diagnostics import Code, Diagnostic, Span, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.problems import LINE_BREAK, ScenarioError, path_text

MAX_BYTES = 4 << 20
MAX_DEPTH = 32

Path = tuple[str | int, ...]
Scalar = None | bool | int | Decimal | str

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_INT = re.compile(r"[-+]?[0-9]{1,40}")
_OCTAL = re.compile(r"0o[0-7]{1,40}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,40}|[0-9]{1,40}(\.[0-9]{0,40})?)([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar."""

    value: Scalar
    text: str
    place: Span
    parameter: str | None = None
    """The parameter that the value came from."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A mapping, in the order of the file."""

    place: Span
    entries: "dict[str, tuple[Span, Node]]" = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Items:
    """A sequence."""

    place: Span
    items: "list[Node]" = field(default_factory=list)


Node = Leaf | Branch | Items


class Placed(dict[str, Any]):
    """A mapping as plain data that still knows where it stood."""

    node: Branch
    path: Path


@dataclass(frozen=True)
class FileKind:
    """What errors say of a kind of file."""

    noun: str
    begin: str
    """The remedy where the file is not a mapping."""
    start: str
    """The remedy for an empty file."""
    shorten: str
    """The remedy for a file that is too large."""
    share: str
    """The remedy for an alias."""


SCENARIO = FileKind(
    "scenario",
    begin='begin with "version: 1"',
    start="longhaul new NAME writes a start",
    shorten="use ranges (par1..4) and profiles",
    share="share values with profiles and params",
)


@dataclass(frozen=True)
class Source:
    """The text of a scenario, or of another kind of file, under the name that errors give it."""

    name: str
    content: bytes
    lines: tuple[str, ...] = ()
    kind: FileKind = SCENARIO

    def problem(
        self, code: Code, place: Span, path: Path, message: str, remedy: str | None = None
    ) -> Diagnostic:
        """A problem at ``place``."""
        line = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        return Diagnostic(code, message, remedy, self.name, place, path_text(path), line)


def read_file(path: FilePath) -> bytes:
    """The content of a file for :func:`read_tree`; raises LonghaulError if it cannot be read."""
    try:
        return read_regular(path, most_bytes=MAX_BYTES + 1)
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNREADABLE, f"cannot read {path}: {error.strerror}", exit_code=2
        ) from error


def read_tree(name: str, content: bytes, *, kind: FileKind = SCENARIO) -> tuple[Source, Branch]:
    """The tree of ``content``; raises :class:`ScenarioError` for anything that is not a scenario's YAML."""
    source = Source(name, content, kind=kind)
    text = _decode(source)
    source = replace(source, lines=tuple(LINE_BREAK.split(text)))
    root = _Reader(source).read(text)
    if not isinstance(root, Branch):
        raise ScenarioError(
            [
                source.problem(
                    Code.WRONG_TYPE,
                    Span(1, 1),
                    (),
                    "is not a mapping of keys to values",
                    kind.begin,
                )
            ]
        )
    return source, root


def resolve_scalar(text: str) -> Scalar:
    """A plain scalar's value by YAML 1.2's core schema; decimals stay exact."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        return Decimal(text)
    return text


def plain(node: Node, path: Path = ()) -> Any:
    """Plain data for validation: :class:`Placed` mappings, lists and scalars."""
    if isinstance(node, Leaf):
        return node.value
    if isinstance(node, Items):
        return [plain(item, (*path, position)) for position, item in enumerate(node.items)]
    data = Placed({key: plain(value, (*path, key)) for key, (_place, value) in node.entries.items()})
    data.node = node
    data.path = path
    return data


def data_of(node: Node) -> Any:
    """Plain data that know nothing of their places; decimals stay exact."""
    match node:
        case Leaf():
            return node.value
        case Items():
            return [data_of(each) for each in node.items]
        case _:
            return {key: data_of(each) for key, (_place, each) in node.entries.items()}


def follow(root: Node, path: Path) -> tuple[Span, Node, Path]:
    """As far along ``path`` as the tree goes: where that key stands, its node, and the path so far."""
    node, place, gone = root, root.place, ()
    walked: Path = gone
    for part in path:
        if isinstance(node, Branch) and isinstance(part, str) and part in node.entries:
            place, node = node.entries[part]
        elif isinstance(node, Items) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            place = node.place
        else:
            continue
        walked = (*walked, part)
    return place, node, walked


def _decode(source: Source) -> str:
    content = source.content
    if len(content) > MAX_BYTES:
        message = f"has {len(content)} bytes; a {source.kind.noun} has at most {MAX_BYTES}"
        raise ScenarioError(
            [source.problem(Code.FILE_TOO_LARGE, Span(1, 1), (), message, source.kind.shorten)]
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _position(content[: error.start].decode("utf-8", errors="replace"))
        message = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise ScenarioError(
            [source.problem(Code.NOT_TEXT, Span(line, column), (), message, "save the file as UTF-8")]
        ) from None
    bad = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufeff\ufffe\uffff]", text)
    if bad:
        lines = replace(source, lines=tuple(LINE_BREAK.split(text)))
        line, column = _position(text[: bad.start()])
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        raise ScenarioError([lines.problem(Code.NOT_TEXT, Span(line, column), (), message, "remove it")])
    return text


def _position(before: str) -> tuple[int, int]:
    lines = LINE_BREAK.split(before)
    return len(lines), len(lines[-1]) + 1


_BEFORE_COMMA = re.compile(r": +([^\s,{}\[\]\"'][^,{}\[\]]*),$")
"""What a value ends with before a comma without a space."""


class _Reader:
    """Builds the tree from events, without recursion, collecting problems that need not end it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Diagnostic] = []

    def read(self, text: str) -> Node:
        try:
            root = self._build(yaml.parse(text, Loader=yaml.CSafeLoader))
        except yaml.MarkedYAMLError as error:
            self.problems.append(self._syntax(error))
        except yaml.YAMLError as error:
            self.problems.append(
                self.source.problem(Code.YAML_SYNTAX, Span(1, 1), (), f"is not YAML: {error}", None)
            )
        if self.problems:
            raise ScenarioError(self.problems)
        if root is None:
            message = "the file is empty"
            raise ScenarioError(
                [self.source.problem(Code.EMPTY_FILE, Span(1, 1), (), message, self.source.kind.start)]
            )
        return root

    def _build(self, events: Iterator[yaml.Event]) -> Node | None:
        root: Node | None = None
        stack: list[tuple[Branch | Items, Path]] = []
        key: tuple[str, Span] | None = None
        keys: list[tuple[str, Span] | None] = []
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(
                        Code.YAML_FEATURE,
                        event,
                        (),
                        "a second document begins here",
                        f"one file holds one {self.source.kind.noun}",
                    )
            elif isinstance(event, yaml.AliasEvent):
                self._refuse(
                    Code.YAML_FEATURE,
                    event,
                    stack[-1][1] if stack else (),
                    f"the alias *{printable(str(event.anchor))} is not used in {self.source.kind.noun}s",
                    self.source.kind.share,
                )
            if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                stack.pop()
                key = keys.pop()
                continue
            if not isinstance(event, yaml.NodeEvent):
                continue
            where = stack[-1] if stack else None
            path = self._path(where, key)
            tag = getattr(event, "tag", None)
            if tag is not None:
                self._refuse(
                    Code.YAML_FEATURE,
                    event,
                    path,
                    f"the tag {printable(tag)} is not used in {self.source.kind.noun}s",
                    "remove it",
                )
            if where is not None and isinstance(where[0], Branch) and key is None:
                key = self._key(event, where)
                continue
            node = self._node(event)
            if where is None:
                root = node
            elif isinstance(where[0], Items):
                where[0].items.append(node)
            else:
                assert key is not None
                if not self._is_split_by_comma(event, key, path):
                    where[0].entries.setdefault(key[0], (key[1], node))
            if not isinstance(node, Leaf):
                if len(stack) >= MAX_DEPTH:
                    message = f"nests deeper than {MAX_DEPTH} levels"
                    remedy = f"{self.source.kind.noun}s are shallow"
                    self._refuse(Code.YAML_FEATURE, event, path[:4], message, remedy)
                stack.append((node, path))
                keys.append(None)
            key = None
        return root

    def _is_split_by_comma(self, event: yaml.NodeEvent, key: tuple[str, Span], path: Path) -> bool:
        """Whether ``5ms`` is a key without a value in ``{delay: 1,5ms}``; the problem is noted."""
        name, place = key
        if not isinstance(event, yaml.ScalarEvent) or event.value or event.style not in (None, ""):
            return False
        line = self.source.lines[place.line - 1]
        before = _BEFORE_COMMA.search(line[: place.column - 1])
        if before is None or not line.startswith(name, place.column - 1):
            return False
        value = printable(f"{before[1]},{name}")
        is_number = before[1].isdecimal() and name[:1].isdecimal()
        point = f"write {value.replace(',', '.')}, or " if is_number else ""
        self.problems.append(
            self.source.problem(
                Code.YAML_SYNTAX,
                place,
                path[:-1],
                f'"{value}" is cut at its comma',
                f'{point}quote values with commas: "{value}"',
            )
        )
        return True

    @staticmethod
    def _path(where: tuple[Branch | Items, Path] | None, key: tuple[str, Span] | None) -> Path:
        if where is None:
            return ()
        if isinstance(where[0], Items):
            return (*where[1], len(where[0].items))
        return (*where[1], key[0]) if key else where[1]

    def _key(self, event: yaml.NodeEvent, where: tuple[Branch | Items, Path]) -> tuple[str, Span]:
        if not isinstance(event, yaml.ScalarEvent):
            self._refuse(
                Code.YAML_FEATURE,
                event,
                where[1],
                "a key must be one word",
                "quote values that begin with { or [",
            )
        place, name, branch = _place(event), str(event.value), where[0]
        assert isinstance(branch, Branch)
        if name in branch.entries:
            message = f'"{printable(name)}" is given twice, first in line {branch.entries[name][0].line}'
            remedy = "remove or rename one of them"
            self.problems.append(
                self.source.problem(Code.KEY_DUPLICATE, place, (*where[1], name), message, remedy)
            )
        return name, place

    @staticmethod
    def _node(event: yaml.NodeEvent) -> Node:
        place = _place(event)
        if isinstance(event, yaml.MappingStartEvent):
            return Branch(place)
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(place)
        assert isinstance(event, yaml.ScalarEvent)
        is_plain = event.implicit[0] and event.style in (None, "")
        value = resolve_scalar(event.value) if is_plain else event.value
        return Leaf(value, event.value, place)

    def _refuse(self, code: Code, event: yaml.Event, path: Path, message: str, remedy: str) -> NoReturn:
        raise ScenarioError([*self.problems, self.source.problem(code, _place(event), path, message, remedy)])

    def _syntax(self, error: yaml.MarkedYAMLError) -> Diagnostic:
        mark = error.problem_mark or error.context_mark
        place = Span(mark.line + 1, mark.column + 1) if mark else Span(1, 1)
        problem = str(error.problem or "is not YAML")
        line = self.source.lines[place.line - 1] if place.line <= len(self.source.lines) else ""
        character = line[place.column - 1 : place.column]
        opened = f" that begins in line {error.context_mark.line + 1}" if error.context_mark else ""
        if ("cannot start any token" in problem and character == "\t") or "tab character" in problem:
            return self.source.problem(
                Code.YAML_INDENTATION, place, (), "a tab cannot indent", "write spaces"
            )
        if "cannot start any token" in problem:
            return self.source.problem(
                Code.YAML_SYNTAX, place, (), f'a value cannot begin with "{character}"', "quote it"
            )
        if "mapping values are not allowed" in problem:
            remedy = "quote the value, or begin a new line"
            return self.source.problem(Code.YAML_SYNTAX, place, (), 'a second ": " in one value', remedy)
        if "expected ','" in problem or "expected the node content" in problem:
            remedy = f"close the bracket{opened}, or put a comma" if opened else "remove this"
            return self.source.problem(
                Code.YAML_SYNTAX, self._unclosed(place, error.context_mark), (), problem, remedy
            )
        begun = error.context_mark and Span(error.context_mark.line + 1, error.context_mark.column + 1)
        if "expected ':'" in problem:
            # Read on to the next line in search of it.
            return self.source.problem(
                Code.YAML_SYNTAX, begun or place, (), 'a key without ": "', 'write "key: value"'
            )
        if "quoted scalar" in str(error.context) and "end of stream" in problem:
            message = "a quotation that does not end"
            return self.source.problem(Code.YAML_SYNTAX, begun or place, (), message, "close the quote")
        if "block mapping" in str(error.context) or "block collection" in str(error.context):
            remedy = f"indent it like the mapping{opened}"
            return self.source.problem(
                Code.YAML_INDENTATION, place, (), "does not line up with the keys around it", remedy
            )
        context = f"{error.context}{opened}: " if error.context else ""
        return self.source.problem(Code.YAML_SYNTAX, place, (), f"{context}{problem}", None)

    def _unclosed(self, place: Span, opened: yaml.Mark | None) -> Span:
        """Where something is missing in a bracket that began before ``place``, where that was noticed."""
        if opened is None or opened.line + 1 >= place.line:
            return place
        noticed = self.source.lines[place.line - 1] if place.line <= len(self.source.lines) else ""
        if not _BEGINS_LINE.fullmatch(noticed[: place.column - 1]):
            return place
        last = next(
            number
            for number in range(place.line - 1, opened.line, -1)
            if self.source.lines[number - 1].partition("#")[0].strip() or number == opened.line + 1
        )
        if last == opened.line + 1:
            return Span(last, opened.column + 1)
        return Span(last, len(self.source.lines[last - 1].rstrip()) + 1)


_BEGINS_LINE = re.compile(r"\s*[^\s\[\]{},\"'#]*\s*")
"""Nothing, or a word that begins a line: what should have ended did so before it."""


def _place(event: yaml.Event) -> Span:
    begin, end = event.start_mark, event.end_mark
    assert begin is not None
    assert end is not None
    width = end.column - begin.column if end.line == begin.line else 1
    return Span(begin.line + 1, begin.column + 1, max(1, width))
