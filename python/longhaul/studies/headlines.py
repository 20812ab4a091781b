"""The line with which a part of a study begins: written by the program, read by those who follow it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from longhaul.units.text import duration_text

_LINE = re.compile(r"== part (\d+) of (\d+): (\S+) \(\w+\)(?:; (.+ left) by the last time.*)?")


@dataclass(frozen=True)
class PartBegun:
    """A part that begins."""

    number: int
    """From 1."""
    of: int
    name: str
    left_text: str
    """How long it and the following parts take, as text; empty if that is not known."""


def headline(number: int, of: int, name: str, how: str, lasting_s: Sequence[float | None]) -> str:
    """``== part 2 of 5: transfers (simulated); about 12 min left by the last time``.

    ``lasting_s``: how long this part and each of the following ones took the last time, as far as known.
    """
    known = [each for each in lasting_s if each is not None]
    text = f"== part {number} of {of}: {name} ({how})"
    if not known:
        return text
    more = "" if len(known) == len(lasting_s) else ", and parts that were never measured"
    return f"{text}; about {duration_text(sum(known))} left by the last time{more}"


def read_headline(line: str) -> PartBegun | None:
    """What a line of :func:`headline` says; ``None`` for any other."""
    found = _LINE.fullmatch(line.strip())
    if found is None:
        return None
    number, of, name, left = found.groups()
    return PartBegun(int(number), int(of), name, left or "")
