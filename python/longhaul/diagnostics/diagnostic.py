"""A diagnostic: what is wrong, where, and what to do, as data for the terminal, JSON and the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from longhaul.diagnostics.codes import Code

Severity = Literal["error", "warning", "hint"]
"""An error prevents a run; a warning does not; a hint names the next step."""

_SHOWN_CHARACTERS = 100
"""Of a source line."""
_HEADLINE_CHARACTERS = 2000


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """A part of one line of a file; line and column count from 1."""

    line: int
    column: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, with its place in a file if it has one."""

    code: Code
    message: str
    remedy: str | None = None
    file: str | None = None
    span: Span | None = None
    path: str = ""
    """The key, as in ``links.par-nyc.delay``; empty where the file itself is wrong."""
    source_line: str = ""
    """The line of the file that ``span`` is in."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The diagnostic that :meth:`as_json` gave, without its source line."""
        span = None if data["line"] is None else Span(data["line"], data["column"], data["width"])
        code = Code(data["code"])
        return cls(code, data["message"], data["remedy"], data["file"], span, data["path"])

    @property
    def severity(self) -> Severity:
        """How bad it is, which follows from the code."""
        return "warning" if self.code.startswith("W") else "error"

    @property
    def headline(self) -> str:
        """``file:line:column: path: message; remedy [code]``, in one line."""
        return f"{self.text} [{self.code}]"

    @property
    def text(self) -> str:
        """The headline without the code."""
        place = "" if self.file is None else f"{self.file}: "
        if self.span is not None:
            place = f"{self.file}:{self.span.line}:{self.span.column}: "
        path = f"{self.path}: " if self.path else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return printable(f"{place}{path}{self.message}{remedy}", limit=_HEADLINE_CHARACTERS)

    def __str__(self) -> str:
        """The headline, the line of the source, and a caret under the span."""
        if self.span is None or not self.source_line.strip():
            return self.headline
        line = "".join(char if char.isprintable() else " " for char in self.source_line)
        begin = self.span.column - 1
        cut = max(0, begin - _SHOWN_CHARACTERS // 2) if len(line) > _SHOWN_CHARACTERS else 0
        shown = line[cut : cut + _SHOWN_CHARACTERS].rstrip()
        width = max(1, min(self.span.width, len(shown) - (begin - cut)))
        return f"{self.headline}\n  {shown}\n  {' ' * (begin - cut)}{'^' * width}"

    def as_json(self) -> dict[str, str | int | None]:
        """The same for programs; without a place, ``line`` and ``column`` are null."""
        return {
            "code": str(self.code),
            "severity": self.severity,
            "file": self.file,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
            "width": self.span.width if self.span else 1,
            "path": self.path,
            "message": self.message,
            "remedy": self.remedy,
        }


def printable(text: str, *, limit: int = 60) -> str:
    """``text`` in one line: control characters escaped, the middle of very long text left out."""
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    if len(escaped) > limit:
        return f"{escaped[: limit * 2 // 3]}...{escaped[-(limit // 4) :]}"
    return escaped
