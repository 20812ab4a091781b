"""Ranges of names: ``par1..4`` is par1, par2, par3, par4; ``par01..12`` keeps two digits."""

import re

from longhaul.diagnostics import Code

MOST = 4096
_RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\.\.(?P<last>[0-9]+)")


class RangeError(ValueError):
    """A range that names nothing sensible."""

    def __init__(self, code: Code, message: str, remedy: str) -> None:
        """Say ``message`` and what to write instead."""
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.message = message
        self.remedy = remedy


def expand(text: str) -> tuple[str, ...]:
    """The names that ``text`` stands for: itself, or those of a range. Raises :class:`RangeError`."""
    if ".." not in text:
        return (text,)
    match = _RANGE.fullmatch(text)
    if not match:
        raise RangeError(Code.NAME_RANGE_INVALID, f'"{text}" is not a range', 'write for example "par1..4"')
    first, last = int(match["first"]), int(match["last"])
    if last < first:
        raise RangeError(
            Code.NAME_RANGE_INVALID,
            f'"{text}" counts down',
            f'write "{match["prefix"]}{match["last"]}..{match["first"]}"',
        )
    if last - first >= MOST:
        raise RangeError(
            Code.NAME_RANGE_INVALID, f'"{text}" has {last - first + 1} names', f"a range has at most {MOST}"
        )
    padded = match["first"].startswith("0") and len(match["first"]) > 1
    width = len(match["first"]) if padded else 0
    return tuple(f"{match['prefix']}{number:0{width}d}" for number in range(first, last + 1))


def expand_all(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The names of several ranges, each once, in order."""
    return tuple(dict.fromkeys(name for text in texts for name in expand(text)))


def without(text: str, name: str) -> list[str]:
    """The keys that say the same as range ``text``, of which one is ``name`` alone.

    Raises :class:`RangeError`.
    """
    names = expand(text)
    if name not in names:
        raise RangeError(
            Code.NAME_RANGE_INVALID,
            f'"{name}" is not in "{text}"',
            f"name one from {names[0]} to {names[-1]}",
        )
    place = names.index(name)
    return [key for key in (_range(text, names[:place]), name, _range(text, names[place + 1 :])) if key]


def _range(text: str, names: tuple[str, ...]) -> str:
    """``names``, which follow each other in range ``text``, as one key."""
    if len(names) < 2:
        return "".join(names)
    match = _RANGE.fullmatch(text)
    prefix = match["prefix"] if match else ""
    return f"{names[0]}..{names[-1].removeprefix(prefix)}"
