"""Ranges of names: ``par1..4`` is par1, par2, par3, par4; ``par01..12`` keeps two digits.

A name may have several: ``p1..2-h1..2`` is p1-h1, p1-h2, p2-h1, p2-h2.
"""

import re
from dataclasses import dataclass
from typing import Self

from longhaul.diagnostics import Code

MOST = 4096
_RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\.\.(?P<last>[0-9]+)(?P<rest>.*)")


class RangeError(ValueError):
    """A range that names nothing sensible."""

    def __init__(self, code: Code, message: str, remedy: str) -> None:
        """Say ``message`` and what to write instead."""
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class _Range:
    """The first range of a name."""

    prefix: str
    first: str
    last: str
    rest: str
    """What follows, which may be further ranges."""

    @classmethod
    def of(cls, text: str, whole: str) -> Self:
        """That of ``text``, the end of ``whole``. Raises :class:`RangeError`."""
        match = _RANGE.fullmatch(text)
        if not match:
            message, remedy = f'"{whole}" is not a range', 'write for example "par1..4"'
            raise RangeError(Code.NAME_RANGE_INVALID, message, remedy)
        found = cls(**match.groupdict())
        if int(found.last) < int(found.first):
            before = whole.removesuffix(text)
            remedy = f'write "{before}{found.prefix}{found.last}..{found.first}{found.rest}"'
            raise RangeError(Code.NAME_RANGE_INVALID, f'"{whole}" counts down', remedy)
        return found

    @property
    def count(self) -> int:
        return int(self.last) - int(self.first) + 1

    def numbers(self) -> list[str]:
        padded = self.first.startswith("0") and len(self.first) > 1
        width = len(self.first) if padded else 0
        return [f"{number:0{width}d}" for number in range(int(self.first), int(self.last) + 1)]


def expand(text: str) -> tuple[str, ...]:
    """The names that ``text`` stands for: itself, or those of its ranges, of which the last counts fastest.

    Raises :class:`RangeError`.
    """
    parts: list[list[str]] = []
    rest, names = text, 1
    while ".." in rest:
        found = _Range.of(rest, text)
        names *= found.count
        if names > MOST:
            message = (
                f'"{text}" has {names} names or more' if ".." in found.rest else f'"{text}" has {names} names'
            )
            raise RangeError(Code.NAME_RANGE_INVALID, message, f"a range has at most {MOST}")
        parts.append([f"{found.prefix}{number}" for number in found.numbers()])
        rest = found.rest
    expanded = [""]
    for part in parts:
        expanded = [before + each for before in expanded for each in part]
    return tuple(each + rest for each in expanded)


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
    return list(_without(text, name))


def _without(text: str, name: str) -> list[str]:
    if ".." not in text:
        return [text]
    found = _Range.of(text, text)
    numbers = found.numbers()
    (place,) = (
        place for place, number in enumerate(numbers) if name in expand(f"{found.prefix}{number}{found.rest}")
    )
    before, after = (_key(found, some) for some in (numbers[:place], numbers[place + 1 :]))
    alone = _without(found.rest, name.removeprefix(f"{found.prefix}{numbers[place]}"))
    return [*before, *(f"{found.prefix}{numbers[place]}{each}" for each in alone), *after]


def _key(found: _Range, numbers: list[str]) -> list[str]:
    """The key of ``numbers``, which follow each other, if there are any."""
    if not numbers:
        return []
    shown = numbers[0] if len(numbers) == 1 else f"{numbers[0]}..{numbers[-1]}"
    return [f"{found.prefix}{shown}{found.rest}"]
