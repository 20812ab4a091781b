"""The lines in which a build of a kernel says how far it is, written and read."""

import re

from longhaul.kernels.building import STEPS_EXPECTED, Progress
from longhaul.units.text import duration_text

_LINE = re.compile(r"(?P<phase>[a-z][a-z ]+?)(?:, (?P<share>\d{1,2}) %)?, [\d.]+ (?:s|min|h)")


def percent(progress: Progress) -> int:
    """How much of the compilation is done, 99 at most."""
    return min(99, 100 * progress.done // STEPS_EXPECTED)


def headline(progress: Progress, elapsed_s: float) -> str:
    """``compiling, 34 %, 5 min``: phase, share of the compilation, and time since the beginning."""
    share = f", {percent(progress)} %" if progress.done else ""
    return f"{progress.phase}{share}, {duration_text(elapsed_s)}"


def read_headline(line: str) -> tuple[str, int | None] | None:
    """Phase and percentage of a line of :func:`headline`; ``None`` for another line."""
    found = _LINE.fullmatch(line)
    return found and (found["phase"], None if found["share"] is None else int(found["share"]))
