"""The uniform numbers of the NAS parallel benchmarks (NAS-91-002, 2.3): x <- 5^13 x mod 2^46.

Numbers are x 2^-46, taken after each step. A product of 64-bit integers wraps mod 2^64, of which 2^46 is a
divisor, so that the lowest 46 bits of it are exact.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MULTIPLIER = 5**13
BITS = 46
MASK = (1 << BITS) - 1

Reals = NDArray[np.float64]

_EXPONENT = 0x4330_0000_0000_0000
"""The bits of 2^52: with an integer below 2^52 in its mantissa, a double is 2^52 and that integer."""


def jump(seed: int, steps: int) -> int:
    """The state so many steps after ``seed``."""
    return seed * pow(MULTIPLIER, steps, 1 << BITS) & MASK


def powers(count: int) -> NDArray[np.uint64]:
    """The multiplier's powers from the first on: the state after k + 1 steps is seed times the k-th entry."""
    table = np.empty(count, np.uint64)
    table[:1] = MULTIPLIER
    known = 1
    while known < count:
        more = min(known, count - known)
        factor = np.uint64(pow(MULTIPLIER, known, 1 << BITS))
        np.multiply(table[:more], factor, out=table[known : known + more])
        table[known : known + more] &= np.uint64(MASK)
        known += more
    return table


def uniforms(states: NDArray[np.uint64], out: Reals | None = None) -> Reals:
    """The numbers that unreduced ``states`` stand for, in place: the memory of ``states`` is used up."""
    states &= np.uint64(MASK)
    states |= np.uint64(_EXPONENT)
    numbers: Reals = states.view(np.float64)
    result: Any = np.subtract(numbers, 2.0**52, out=numbers if out is None else out)
    result *= 2.0**-BITS
    return result  # type: ignore[no-any-return]


def fill(out: Reals, *, seed: int, skip: int, table: NDArray[np.uint64] | None = None) -> None:
    """Fill a flat array with the numbers from the one after ``skip`` on."""
    table = powers(min(len(out), 1 << 14)) if table is None else table
    for begin in range(0, len(out), len(table)):
        part = out[begin : begin + len(table)]
        state = np.uint64(jump(seed, skip + begin))
        uniforms(table[: len(part)] * state, part)
