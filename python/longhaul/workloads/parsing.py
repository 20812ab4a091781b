"""Times and sizes on the command line of workloads, as scenarios spell them."""

import re
from typing import Any

import click

TIMES_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
SIZES = {
    "": 1,
    "B": 1,
    "K": 1 << 10,
    "KiB": 1 << 10,
    "M": 1 << 20,
    "MiB": 1 << 20,
    "G": 1 << 30,
    "GiB": 1 << 30,
}

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class Duration(click.ParamType[float]):
    """Seconds, from ``3.2s`` or ``500ms``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse, or say how to write it."""
        if isinstance(value, float):
            return value
        match = _NUMBER.fullmatch(value)
        if not match or match[2] not in TIMES_S:
            self.fail(f'"{value}" is not a time; write "3.2s" or "500ms"', param, ctx)
        return float(match[1]) * TIMES_S[match[2]]


class Size(click.ParamType[int]):
    """Bytes, from ``512``, ``64K`` or ``4MiB``; K and M are 1024 and 1024^2, as IMB has them."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse, or say how to write it."""
        if isinstance(value, int):
            return value
        match = _NUMBER.fullmatch(value)
        if not match or match[2] not in SIZES or "." in match[1]:
            self.fail(f'"{value}" is not a size; write "512", "64K" or "4MiB"', param, ctx)
        return int(match[1]) * SIZES[match[2]]


class Sizes(click.ParamType[tuple[int, ...]]):
    """Sizes with commas between them."""

    name = "sizes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Parse each."""
        if isinstance(value, tuple):
            return value
        return tuple(SIZE.convert(part.strip(), param, ctx) for part in value.split(","))


DURATION, SIZE, SIZES_LIST = Duration(), Size(), Sizes()
