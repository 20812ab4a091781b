"""Helpers that the readers of saved outputs share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from math import isfinite

from longhaul.analysis.traces import Answers
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError

LONGEST_MS = 1e6
"""Round trips that are longer are none."""


@dataclass(frozen=True)
class Output:
    """A program's output, and what is known of it beside its text."""

    name: str
    """What errors call it."""
    lines: tuple[str, ...]
    source: str
    """Where it was taken."""
    target: str | None = None
    """Where to, if the output itself does not say."""

    def wrong(self, line: int, message: str, remedy: str) -> LonghaulError:
        """An error at ``line``, counted from 1."""
        return LonghaulError(
            Code.FOREIGN_FILE_MALFORMED,
            f"{self.name}:{line}: {printable(message)}",
            remedy=remedy,
            exit_code=2,
        )


def is_address(word: str) -> bool:
    """Whether ``word`` is an IPv4 or IPv6 address, possibly with a zone."""
    try:
        ip_address(word.partition("%")[0])
    except ValueError:
        return False
    return True


def plain(word: str) -> str:
    """An address as it is always written."""
    return str(ip_address(word.partition("%")[0]))


def nanoseconds(word: str, output: Output, line: int) -> int:
    """A round trip in ms as ns, or an error."""
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not isfinite(value) or not 0 <= value <= LONGEST_MS:
        raise output.wrong(line, f'"{word}" is not a round trip in ms', "write it as the program did")
    return round(value * 1e6)


def answers(address: str, round_trips_ns: Sequence[int], *, name: str | None = None) -> Answers:
    """The answers of one address."""
    mean = sum(round_trips_ns) / len(round_trips_ns)
    return Answers(address, len(round_trips_ns), min(round_trips_ns), mean, name)


def named(word: str) -> str | None:
    """A name that says more than the address."""
    return None if is_address(word) or not re.fullmatch(r"[\w.-]+", word) else word
