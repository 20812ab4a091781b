"""The rule to stop by: which variants need more repetitions, and how many.

Half of the confidence interval shrinks with the square root of the number of runs, so what is missing can be
told from what there is. Stopping when an interval happens to be narrow makes it cover a little less often
than it says, the less the more runs it begins with (Y. S. Chow, H. Robbins, Ann. Math. Statist. 36, 1965).

A variant whose repetitions are all equal has no interval, and gets no more of them.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from longhaul.run.sweeps.summary import summarise
from longhaul.scenario.model.sweep import Until

MOST_GROWTH = 2.0
"""By which the runs of a variant are multiplied at most in a round: the first estimates are rough."""


def more_runs(until: Until, parts: Sequence[Path], runs: Mapping[int, int]) -> dict[int, tuple[int, int]]:
    """For each variant that needs more: the first repetition to add, and how many.

    ``parts`` hold all rounds so far; ``runs`` says how many repetitions each variant has had.
    """
    table = summarise(parts, [until.metric]).select(["variant", "mean", "half_width", "repeats"]).to_pydict()
    wanted: dict[int, int] = {}
    for variant, mean, half_width, measured in zip(*table.values(), strict=True):
        had = runs[variant]
        need = _need(had, measured, mean, half_width, float(until.within))
        wanted[variant] = max(wanted.get(variant, 0), min(need, until.at_most))
    return {
        variant: (runs[variant], need - runs[variant])
        for variant, need in sorted(wanted.items())
        if need > runs[variant]
    }


def _need(had: int, measured: int, mean: float, half_width: float | None, within: float) -> int:
    """How many repetitions the variant should have after the next round; ``had`` if that is enough."""
    most = math.ceil(had * MOST_GROWTH)
    if half_width is None:
        return most if measured == 1 else had
    if half_width <= within * abs(mean):
        return had
    ratio = half_width / (within * abs(mean)) if mean else math.inf
    return max(had + 1, min(most, math.ceil(had * min(ratio, MOST_GROWTH) ** 2)))
