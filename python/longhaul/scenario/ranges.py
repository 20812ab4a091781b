"""Ranges of names: ``par1..4`` is par1, par2, par3, par4; ``par01..12`` keeps two digits."""

import re

MOST = 4096
_RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>[0-9]+)\.\.(?P<last>[0-9]+)")


class RangeError(ValueError):
    """A range that names nothing sensible."""

    def __init__(self, message: str, remedy: str) -> None:
        """Say ``message`` and what to write instead."""
        super().__init__(f"{message}; {remedy}")
        self.message = message
        self.remedy = remedy


def expand(text: str) -> tuple[str, ...]:
    """The names that ``text`` stands for: itself, or those of a range. Raises :class:`RangeError`."""
    if ".." not in text:
        return (text,)
    match = _RANGE.fullmatch(text)
    if not match:
        raise RangeError(f'"{text}" is no range', 'write for example "par1..4"')
    first, last = int(match["first"]), int(match["last"])
    if last < first:
        raise RangeError(
            f'"{text}" counts down', f'write "{match["prefix"]}{match["last"]}..{match["first"]}"'
        )
    if last - first >= MOST:
        raise RangeError(f'"{text}" has {last - first + 1} names', f"a range has at most {MOST}")
    padded = match["first"].startswith("0") and len(match["first"]) > 1
    width = len(match["first"]) if padded else 0
    return tuple(f"{match['prefix']}{number:0{width}d}" for number in range(first, last + 1))


def expand_all(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The names of several ranges, each once, in order."""
    return tuple(dict.fromkeys(name for text in texts for name in expand(text)))
