"""Errors of a scenario with all their diagnostics, and suggestions for names."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

from longhaul.diagnostics import Diagnostic, Span, printable
from longhaul.errors import LonghaulError

_NOWHERE = Span(0, 0)
MOST_PROBLEMS = 100
"""That are kept and printed of a file; the others are counted."""
ENOUGH_PROBLEMS = 1000
"""After so many, nobody looks for more: a file that is wrong everywhere must not take minutes."""
_AS_NEAR = 0.1
"""Of similarity, by which further suggestions may be worse than the best."""

LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""What the YAML parser counts as the end of a line."""


class ScenarioError(LonghaulError):
    """A scenario that cannot be run, with every problem that was found; exit code 2."""

    def __init__(self, problems: Iterable[Diagnostic]) -> None:
        """Keep the first of ``problems`` in the order of the file, each once, and count the others."""
        unique = sorted(dict.fromkeys(problems), key=lambda each: each.span or _NOWHERE)
        kept = tuple(unique[:MOST_PROBLEMS])
        self.count = len(unique)
        """Of all; at least so many if it is :data:`ENOUGH_PROBLEMS`."""
        lines = [str(each) for each in kept]
        if self.count > len(kept):
            more = self.count - len(kept)
            lines.append(f"... and {self.count_text(more)} more problem{'' if more == 1 else 's'}")
        super().__init__(kept[0].code, "\n".join(lines), exit_code=2)
        self.diagnostics = kept

    @property
    def headline(self) -> str:
        """The problems, each with its code."""
        return str(self)

    def count_text(self, count: int) -> str:
        """``count`` of the problems, with a note if there may be more."""
        return f"at least {count}" if self.count >= ENOUGH_PROBLEMS else str(count)


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
