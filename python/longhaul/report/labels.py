"""Positions of labels beside lines, without overlaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Line = tuple[Array, Array]

CLEAR = 6.0
"""The least between words and their line, in pixels."""
_ALONG = (0.5, 0.38, 0.62, 0.27, 0.73)
"""How far along its line words may stand, the best first."""
_LEAST_OUTWARD = 15.0
"""Of a line from the middle of the drawing: nearer ones have their words above."""


@dataclass(frozen=True)
class Box:
    """What words fill, in pixels."""

    x: float
    y: float
    """Of its middle."""
    wide: float
    high: float

    def covers(self, other: "Box") -> bool:
        """Whether the two have something in common."""
        return (
            abs(self.x - other.x) < (self.wide + other.wide) / 2
            and abs(self.y - other.y) < (self.high + other.high) / 2
        )

    def meets(self, line: Line) -> bool:
        """Whether a line goes through it (clipping of Liang and Barsky, 1984)."""
        first, last = 0.0, 1.0
        (x, y), (to_x, to_y) = line
        for at, step, middle, size in ((x, to_x - x, self.x, self.wide), (y, to_y - y, self.y, self.high)):
            ends = (middle - size / 2 - at, middle + size / 2 - at)
            if abs(step) < 1e-9:
                if not ends[0] < 0 < ends[1]:
                    return False
                continue
            near, far = sorted(end / step for end in ends)
            first, last = max(first, near), min(last, far)
        return first < last


def beside(
    line: Line, size: tuple[float, float], *, taken: Sequence[Box], lines: Sequence[Line]
) -> Box | None:
    """Room of ``size`` for the words of ``line``; ``None`` where all that is near is ``taken``.

    Outside is better than inside the drawing, the middle of the line than its ends, and nowhere else better
    than on another of the ``lines``.
    """
    one, other = line
    along = other - one
    length = max(float(np.hypot(*along)), 1e-9)
    across = np.array([-along[1], along[0]]) / length
    centre = np.mean([end for each in lines for end in each], axis=0)
    outward = float(across @ ((one + other) / 2 - centre))
    if abs(outward) < _LEAST_OUTWARD:
        outward = -across[1] or 1.0
    wide, high = size
    away = abs(across[0]) * wide / 2 + abs(across[1]) * high / 2 + CLEAR
    found: list[tuple[int, Box]] = []
    for share in _ALONG:
        for side in (1, -1):
            x, y = one + share * along + side * np.sign(outward) * away * across
            box = Box(float(x), float(y), wide, high)
            if not any(box.covers(each) for each in taken):
                found.append((sum(box.meets(each) for each in lines if each is not line), box))
    return min(found, key=lambda each: each[0])[1] if found else None
