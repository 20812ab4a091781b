"""Axes: their units, and logarithmic scales."""

from collections.abc import Iterable, Mapping

_SCALES: Mapping[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")),
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")),
    "share": ((0.01, "%"),),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
}

_WIDE = 20
"""Times that the most is more than the least, or than the middle, where only powers of ten show both."""


def is_wide(least: float, most: float) -> bool:
    """Whether an axis should be logarithmic that shows values of these sizes."""
    return 0 < _WIDE * least < most


def scale(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """What to divide values of a metric's unit by, and the unit that they have then."""
    most = max((abs(value) for value in values), default=0)
    scales = _SCALES.get(unit, ((1.0, ""),))
    return next((each for each in scales if most >= each[0]), scales[-1])
