"""The parametric bootstrap: what fits of a family to its own gaps look like.

W. Stute, W. Gonzalez Manteiga, M. Presedo Quindimil, Metrika 40 (1993) 243.
"""

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.random import Generator

from longhaul.analysis.fitting.family import Family, FloatArray
from longhaul.analysis.fitting.statistics import statistics

LARGEST = 2000
"""Gaps of one replicate at most. The distribution of A2 with fitted parameters hardly depends on the
number of gaps beyond some dozens (Stephens' factor for Weibull is 1 + 0.2/sqrt(n)), so that more would
only take longer; standard errors are scaled to the number that there is."""
_AT_ONCE = 1 << 17
"""Gaps that are worked on together, so that they fit into the processor's cache."""


@dataclass(frozen=True, eq=False)
class Replicates:
    """Fits to samples from one fitted distribution, a row each."""

    parameters: FloatArray
    statistics: FloatArray
    """In the order of :data:`longhaul.analysis.fitting.statistics.STATISTICS`."""
    size: int
    """Gaps of each."""


def replicate(
    family: Family, parameters: FloatArray, *, count: int, size: int, bins: int, seed: int
) -> Replicates:
    """``count`` samples of ``size`` gaps from the distribution with ``parameters``, each fitted again.

    Equal arguments give equal results, and families do not move one another's draws.
    """
    stream = _stream(seed, family.name)
    rows = max(1, _AT_ONCE // size)
    fitted, found = [], []
    for begin in range(0, count, rows):
        now = min(rows, count - begin)
        gaps = family.sample(stream, np.broadcast_to(parameters, (now, len(parameters))), size)
        with np.errstate(all="ignore"):
            again = family.fit(gaps)
        fitted.append(again)
        found.append(statistics(family, gaps, again, bins))
    return Replicates(np.concatenate(fitted), np.concatenate(found), size)


def _stream(seed: int, family: str) -> Generator:
    name = int.from_bytes(sha256(family.encode()).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, name))))


def chance(observed: float, replicated: FloatArray) -> tuple[float, float]:
    """Give p = (1 + replicates at least as far) / (1 + replicates), and its standard error.

    An infinite statistic means gaps that the distribution cannot produce: its p is 0.
    """
    if not np.isfinite(observed):
        return 0.0, 0.0
    p = (1 + int((replicated >= observed).sum())) / (1 + len(replicated))
    return p, float(np.sqrt(p * (1 - p) / len(replicated)))


def standard_errors(
    family: Family, gaps: FloatArray, parameters: FloatArray, replicates: Replicates
) -> FloatArray:
    """Standard deviations of the parameters over the replicates, for the number of ``gaps``."""
    spread = np.nanstd(replicates.parameters, axis=0, ddof=1)
    powers = np.full(len(parameters), 0.5)
    if family.irregular is not None:
        powers = family.irregular(gaps, parameters)
    return np.asarray(spread * (replicates.size / len(gaps)) ** powers)
