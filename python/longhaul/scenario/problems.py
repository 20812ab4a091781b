"""What is wrong with a scenario: where, what, and what helps."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches

from longhaul.errors import LonghaulError

MOST_PROBLEMS = 100
"""That are kept and printed of a file; the others are counted."""
ENOUGH_PROBLEMS = 1000
"""After so many, nobody looks for more: a file that is wrong everywhere must not take minutes."""
_AS_NEAR = 0.1
"""Of similarity, by which further suggestions may be worse than the best."""
_WIDTH = 100
"""Characters of a source line shown at most."""

LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""What the YAML parser counts as the end of a line."""


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """A stretch of one line; line and column count from 1."""

    line: int
    column: int
    width: int = 1


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    file: str
    place: Place
    path: str
    """The key, as in ``links.par-nyc.delay``; empty where the file itself is wrong."""
    message: str
    remedy: str | None
    source_line: str

    @property
    def headline(self) -> str:
        """``file:line:column: path: message; remedy``, in one line."""
        address = f"{self.file}:{self.place.line}:{self.place.column}: "
        path = f"{self.path}: " if self.path else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return printable(f"{address}{path}{self.message}{remedy}", limit=2000)

    def __str__(self) -> str:
        """The headline, the line of the source, and a caret under what is meant."""
        if not self.source_line.strip():
            return self.headline
        line = "".join(char if char.isprintable() else " " for char in self.source_line)
        begin = self.place.column - 1
        cut = max(0, begin - _WIDTH // 2) if len(line) > _WIDTH else 0
        shown = line[cut : cut + _WIDTH].rstrip()
        width = max(1, min(self.place.width, len(shown) - (begin - cut)))
        return f"{self.headline}\n  {shown}\n  {' ' * (begin - cut)}{'^' * width}"

    def as_json(self) -> dict[str, str | int | None]:
        """The same for programs."""
        return {
            "file": self.file,
            "line": self.place.line,
            "column": self.place.column,
            "path": self.path,
            "message": self.message,
            "remedy": self.remedy,
        }


class ScenarioError(LonghaulError):
    """A scenario that cannot be run, with every problem that was found; exit code 2."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep the first of ``problems`` in the order of the file, each once, and count the others."""
        unique = sorted(dict.fromkeys(problems), key=lambda each: each.place)
        self.problems: tuple[Problem, ...] = tuple(unique[:MOST_PROBLEMS])
        self.count = len(unique)
        """Of all; at least so many if it is :data:`ENOUGH_PROBLEMS`."""
        lines = [str(problem) for problem in self.problems]
        if self.count > len(self.problems):
            more = self.count - len(self.problems)
            lines.append(f"... and {self.count_text(more)} more problem{'' if more == 1 else 's'}")
        super().__init__("\n".join(lines), exit_code=2)

    def count_text(self, count: int) -> str:
        """``count`` of the problems, with a note if there may be more."""
        return f"at least {count}" if self.count >= ENOUGH_PROBLEMS else str(count)


def printable(text: str, *, limit: int = 60) -> str:
    """``text`` in one line: control characters escaped, the middle of very long text left out."""
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    if len(escaped) > limit:
        return f"{escaped[: limit * 2 // 3]}...{escaped[-(limit // 4) :]}"
    return escaped


def path_text(path: Sequence[str | int]) -> str:
    """``("events", 0, "at")`` as ``events[0].at``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + printable(part)
    return text


def did_you_mean(
    name: str,
    known: Iterable[str],
    *,
    most: int = 1,
    listed: Iterable[str] | None = None,
    surely: bool = False,
) -> str:
    """A remedy for a name that is not among ``known``: the nearest ones, at ``most`` so many, or all of them.

    Where none is near, those ``listed`` are named, if there is such a list; ``surely`` all are near.
    """
    names = list(dict.fromkeys(known))
    lowered = {each.lower(): each for each in reversed(names)}
    word = name[:200].lower()
    near = get_close_matches(word, list(lowered), n=most, cutoff=0.0 if surely else 0.6)
    if near:
        least = SequenceMatcher(None, near[0], word).ratio() - _AS_NEAR
        alike = [each for each in near if surely or SequenceMatcher(None, each, word).ratio() >= least]
        *others, last = (f'"{lowered[each]}"' for each in alike)
        return f"did you mean {', '.join(others) + ' or ' if others else ''}{last}?"
    names = names if listed is None else list(dict.fromkeys(listed))
    if not names:
        return "there are none"
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return f"there are: {', '.join(names[:12])}{more}"
