"""Agreement of a measure between live and simulated runs, as far as its uncertainty allows."""

from dataclasses import dataclass
from math import inf, isinf

from longhaul.analysis.estimates import Estimate, difference_half_width

TOLERANCE = 0.15
"""Beyond it live and simulated disagree, as a share of the live mean."""


@dataclass(frozen=True)
class Agreement:
    """One measure, live and simulated."""

    live: float
    simulated: float
    difference: float
    """(simulated - live) / live; infinite where live has nothing."""
    disagrees: bool
    """The difference is beyond the tolerance, and large enough to matter."""
    certain: bool | None
    """Whether it is statistically significant (95 %, Welch); ``None`` with a single run on a side."""


def agreement(
    live: Estimate, simulated: Estimate, *, least: float = 0.0, tolerance: float = TOLERANCE
) -> Agreement:
    """Compare the means over runs; a difference of ``least`` or less is none, whatever its share."""
    real, model = live.mean, simulated.mean
    gap = model - real
    difference = gap / abs(real) if real else (0.0 if gap == 0 else inf if gap > 0 else -inf)
    disagrees = abs(gap) > least and (isinf(difference) or abs(difference) > tolerance * (1 + 1e-9))
    half = difference_half_width(live, simulated)
    return Agreement(real, model, difference, disagrees, None if half is None else abs(gap) > half)
