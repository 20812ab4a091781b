"""Replacement of YAML nodes in a text: everything else stays the same, byte for byte."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

from longhaul.scenario.syntax.yaml_tree import Path, resolve_scalar

_PLAIN = re.compile(r"[A-Za-z0-9_./$][A-Za-z0-9_./$%+@=~-]*(( |:(?=[A-Za-z0-9/]))[A-Za-z0-9_./$%+@=~-]+)*")
"""Text that needs no quotes anywhere, if it is not a number or word of YAML."""
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON allows in quotes, and YAML reads as line breaks or refuses."""


class SplicingError(ValueError):
    """A place in the text that cannot be changed like this; lines and columns count from 1."""

    def __init__(self, message: str, node: yaml.Node | None = None) -> None:
        """Say ``message``, about ``node``."""
        super().__init__(message)
        self.line = node.start_mark.line + 1 if node is not None else None
        self.column = node.start_mark.column + 1 if node is not None else None


@dataclass(frozen=True)
class Spot:
    """An entry of a mapping, or an item of a list."""

    parent: yaml.MappingNode | yaml.SequenceNode
    position: int
    key: yaml.ScalarNode | None
    node: yaml.Node


def flow(value: Any) -> str:
    """``value`` as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_word(str(key))}: {flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(each) for each in value) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{Decimal(repr(value)):f}"
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    return _word(str(value))


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text) and resolve_scalar(text) == text:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


class Splicer:
    """A text whose nodes' places are known. Each method returns another text; this one stays as it is."""

    def __init__(self, text: str) -> None:
        """``text`` is one document that can be read."""
        self.text = text
        self.root = yaml.compose(text, Loader=yaml.CSafeLoader)

    def walk(self, path: Path) -> tuple[list[Spot], Path]:
        """The entries along ``path`` as far as there are any, and the rest of the path."""
        spots: list[Spot] = []
        node = self.root
        for depth, part in enumerate(path):
            spot = None
            if isinstance(node, yaml.MappingNode):
                spot = next(
                    (
                        Spot(node, place, key, value)
                        for place, (key, value) in enumerate(node.value)
                        if key.value == part
                    ),
                    None,
                )
            elif (
                isinstance(node, yaml.SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value)
            ):
                spot = Spot(node, part, None, node.value[part])
            if spot is None:
                return spots, path[depth:]
            spots.append(spot)
            node = spot.node
        return spots, ()

    def set(self, path: Path, value: Any, *, order: Sequence[str] = ()) -> str:
        """Put ``value`` at ``path``, with what lies between; new sections come in ``order``."""
        spots, rest = self.walk(path)
        if not rest:
            return self._replace(spots[-1], value, is_section=len(path) == 1)
        for part in reversed(rest[1:]):
            value = {part: value}
        parent = spots[-1].node if spots else self.root
        if isinstance(parent, yaml.MappingNode):
            if parent.value or not spots:
                return self._insert(parent, str(rest[0]), value, order=order if not spots else ())
            return self._replace(spots[-1], {rest[0]: value}, is_section=len(spots) == 1)
        if isinstance(parent, yaml.SequenceNode) and rest[0] == len(parent.value):
            return self.append(spots[-1], value, is_section=len(spots) == 1)
        if isinstance(parent, yaml.ScalarNode) and parent.value == "" and parent.style is None:
            return self._replace(spots[-1], {rest[0]: value}, is_section=len(spots) == 1)
        what = "a list" if isinstance(parent, yaml.SequenceNode) else "one value"
        raise SplicingError(f'"{path[len(spots) - 1]}" is {what}, which has no "{rest[0]}"', parent)

    def append(self, spot: Spot, value: Any, *, is_section: bool) -> str:
        """Put ``value`` behind the last item of the list at ``spot``."""
        items = spot.node
        if not items.value:
            return self._replace(spot, [value], is_section=is_section)
        end = self._end(items.value[-1])
        assert isinstance(items, yaml.SequenceNode)
        if items.flow_style:
            return self._behind(items, end, flow(value))
        line_end = self._line_end(end)
        indent = " " * items.start_mark.column
        line_break = self._break(line_end)
        return f"{self.text[:line_end]}{line_break}{indent}- {flow(value)}{self.text[line_end:]}"

    def remove(self, path: Path) -> str:
        """Take out the entry or item at ``path``, with its line if it has one of its own."""
        spots, _rest = self.walk(path)
        spot = spots[-1]
        if len(spot.parent.value) == 1 and len(spots) > 1:
            empty: Any = [] if isinstance(spot.parent, yaml.SequenceNode) else {}
            return self._replace(spots[-2], empty, is_section=False)
        start = (spot.key or spot.node).start_mark.index
        end = self._end(spot.node)
        if spot.parent.flow_style:
            return self._remove_from_flow(spot, start, end)
        line_start = self._line_start(start)
        before = self.text[line_start:start]
        if before.strip() not in ("", "-"):
            raise SplicingError(f'"{path[-1]}" has no line of its own', spot.node)
        if before.strip() == "-" and spot.key is not None:
            following = spot.parent.value[spot.position + 1][0].start_mark.index
            return self.text[:start] + self.text[following:]
        return self.text[:line_start] + self.text[self._next_line(end) :]

    def rename(self, path: Path, name: str, mentions: Sequence[Path]) -> str:
        """Give the key at ``path`` another name, and the values at ``mentions`` that too."""
        spots, _rest = self.walk(path)
        places = [spots[-1].key, *(self.walk(each)[0][-1].node for each in mentions)]
        changes = [
            (node.start_mark.index, node.end_mark.index, _quoted_like(node, _with_sign(node, name)))
            for node in places
            if isinstance(node, yaml.ScalarNode)
        ]
        text = self.text
        for start, end, word in sorted(changes, reverse=True):
            text = text[:start] + word + text[end:]
        return text

    def multiply(self, path: Path, names: Sequence[str]) -> str:
        """Repeat the entry at ``path`` under each of ``names`` instead of its own."""
        spot = self.walk(path)[0][-1]
        assert spot.key is not None
        key_end, end = spot.key.end_mark.index, self._end(spot.node)
        start = spot.key.start_mark.index
        body = self.text[key_end:end]
        if spot.parent.flow_style:
            return self.text[:start] + ", ".join(f"{_word(each)}{body}" for each in names) + self.text[end:]
        line_start, line_end = self._line_start(start), self._line_end(end)
        indent = self.text[line_start:start]
        copies = [f"{indent}{_word(each)}{body}" for each in names]
        copies[0] += self.text[end:line_end]
        return self.text[:line_start] + self._break(line_end).join(copies) + self.text[line_end:]

    def _replace(self, spot: Spot, value: Any, *, is_section: bool) -> str:
        node, text = spot.node, self.text
        start, end = node.start_mark.index, self._end(node)
        lines = _lines(value) if is_section and not spot.parent.flow_style else None
        if spot.key is not None:
            colon = self._colon(spot.key)
            if colon is None:
                return self._behind_key(spot.key, value)
            on_lines = not getattr(node, "flow_style", True)
            below = "".join(f"{self._break(colon)}  {each}" for each in lines or ())
            new = below or f" {flow(value)}"
            end = max(end, colon + 1)
            if on_lines:
                # What is on lines of its own begins behind the comment of its key.
                comment = text[colon + 1 : self._line_end(colon)]
                below = f"{comment}{new}" if lines else f"{new}{comment}"
                return text[: colon + 1] + below + text[end:]
            if lines:
                line_end = self._line_end(end)
                return text[: colon + 1] + text[end:line_end] + new + text[line_end:]
            if start == node.end_mark.index:
                return text[: colon + 1] + new + text[end:]
        if isinstance(node, yaml.ScalarNode) and isinstance(value, str):
            return text[:start] + _quoted_like(node, value) + text[end:]
        return text[:start] + flow(value) + text[end:]

    def _insert(self, parent: yaml.MappingNode, key: str, value: Any, *, order: Sequence[str]) -> str:
        text, is_root = self.text, parent is self.root
        entry = f"{_word(key)}: {flow(value)}"
        if not parent.value:
            return text[: parent.start_mark.index] + "{" + entry + "}" + text[parent.end_mark.index :]
        last = parent.value[-1]
        if order and key in order:
            earlier = order[: order.index(key)]
            last = next((each for each in reversed(parent.value) if each[0].value in earlier), last)
        end = self._end(last[1], key=last[0])
        if parent.flow_style:
            return self._behind(parent, end, entry)
        indent = " " * parent.value[0][0].start_mark.column
        lines = _lines(value) if is_root else None
        line_end = self._line_end(end)
        line_break = self._break(line_end)
        if lines is not None:
            entry = f"{_word(key)}:" + "".join(f"{line_break}{indent}  {each}" for each in lines)
        return f"{text[:line_end]}{line_break}{indent}{entry}{text[line_end:]}"

    def _behind_key(self, key: yaml.Node, value: Any) -> str:
        """A colon and ``value`` behind a key that has neither."""
        place = key.end_mark.index
        return f"{self.text[:place]}: {flow(value)}{self.text[place:]}"

    def _behind(self, parent: yaml.Node, end: int, entry: str) -> str:
        """``entry`` behind the last one of a collection in brackets."""
        comma = self._comma(end, parent.end_mark.index - 1)
        if comma is None:
            return f"{self.text[:end]}, {entry}{self.text[end:]}"
        return f"{self.text[: comma + 1]} {entry},{self.text[comma + 1 :]}"

    def _remove_from_flow(self, spot: Spot, start: int, end: int) -> str:
        text, parent = self.text, spot.parent
        comma = self._comma(end, parent.end_mark.index - 1)
        if comma is not None:
            end = comma + 1
            while end < len(text) and text[end] == " ":
                end += 1
            if text[end] in "\r\n#" or text[end] in "}]":
                end = comma + 1
        elif spot.position > 0:
            before = parent.value[spot.position - 1]
            key, value = before if isinstance(before, tuple) else (None, before)
            found = self._comma(self._end(value, key=key), start)
            if found is not None and not text[found + 1 : start].strip():
                start = found
        alone = self._line_start(start)
        if not text[alone:start].strip() and not text[end : self._line_end(end)].strip():
            return text[:alone] + text[self._next_line(end) :]
        return text[:start] + text[end:]

    def _comma(self, start: int, end: int) -> int | None:
        """The comma between two entries, which may be in other lines, behind comments."""
        place = start
        while place < end:
            character = self.text[place]
            if character == ",":
                return place
            place = self._line_end(place) if character == "#" else place + 1
        return None

    def _end(self, node: yaml.Node, *, key: yaml.Node | None = None) -> int:
        """Where what is written of a node ends; marks of those on lines lie behind comments and breaks."""
        while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            key, node = last if isinstance(last, tuple) else (None, last)
        end: int = node.end_mark.index
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            return node.start_mark.index + len(self.text[node.start_mark.index : end].rstrip())
        colon = self._colon(key) if key is not None and node.start_mark.index == end else None
        return end if colon is None else max(end, colon + 1)

    def _colon(self, key: yaml.Node) -> int | None:
        """The colon behind a key; a key alone, as ``a`` in ``{a, b: 1}``, has none."""
        place = key.end_mark.index
        while place < len(self.text) and self.text[place] in " \t\r\n#":
            place = self._line_end(place) if self.text[place] == "#" else place + 1
        return place if self.text[place : place + 1] == ":" else None

    def _break(self, place: int) -> str:
        """The break of the line at ``place``; that of the line before if the last line has none."""
        found = self.text.find("\n", place)
        found = self.text.rfind("\n") if found < 0 else found
        return "\r\n" if found > 0 and self.text[found - 1] == "\r" else "\n"

    def _line_start(self, place: int) -> int:
        return self.text.rfind("\n", 0, place) + 1

    def _line_end(self, place: int) -> int:
        found = self.text.find("\n", place)
        if found < 0:
            return len(self.text)
        return found - 1 if found > place and self.text[found - 1] == "\r" else found

    def _next_line(self, place: int) -> int:
        found = self.text.find("\n", place)
        return len(self.text) if found < 0 else found + 1


def _lines(value: Any) -> list[str] | None:
    """A section's entries, each for a line of its own; ``None`` for what is better written on one."""
    if isinstance(value, Mapping) and value and all(isinstance(each, Mapping) for each in value.values()):
        return [f"{_word(str(key))}: {flow(each)}" for key, each in value.items()]
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        return [f"- {flow(each)}" for each in value]
    return None


def _with_sign(node: yaml.ScalarNode, name: str) -> str:
    """A parameter is mentioned with a dollar sign."""
    return f"${name}" if node.value.startswith("$") else name


def _quoted_like(node: yaml.Node, text: str) -> str:
    """``text`` in the quotes that a scalar has, if it can stand in them."""
    style = getattr(node, "style", None)
    if style == '"':
        return _quoted(text)
    if style == "'" and "\n" not in text and text.isprintable():
        doubled = text.replace("'", "''")
        return f"'{doubled}'"
    return _word(text)
