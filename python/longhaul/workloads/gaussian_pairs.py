"""EP: Gaussian deviates from uniform numbers, counted by their size (NAS-91-002, 3.1). Hardly a message."""

import math

import numpy as np

from longhaul.workloads.job import Job, Outcome, power_of_two
from longhaul.workloads.problems import EP, EP_SEED
from longhaul.workloads.uniform import jump, powers, uniforms

BATCH = 1 << 14
"""Pairs at a time: their arrays stay in a core's cache."""

TOLERANCE = 1e-8


def totals(name: str) -> dict[str, float]:
    """Units of computing in the timed part, of one rank alone."""
    return {"pairs": float(2 ** EP[name].exponent)}


def run(job: Job, name: str) -> Outcome:
    """Batches are dealt to the ranks in order; three sums over all ranks at the end."""
    power_of_two(job, "EP")
    problem = EP[name]
    pairs = 1 << problem.exponent
    mine = pairs // job.ranks
    sums = np.zeros(2)
    counts = np.zeros(10)
    table = powers(2 * BATCH)
    with job.timed():
        for begin in range(job.rank * mine, (job.rank + 1) * mine, BATCH):
            job.compute("pairs", min(BATCH, mine), _batch, table, begin, sums, counts)
        job.reduce_all(sums[:1])
        job.reduce_all(sums[1:])
        job.reduce_all(counts)
        job.reduce_all(np.zeros(1), maximum=True)
    if job.is_skeleton:
        return Outcome(verified=None, figures={})
    right = all(
        math.isclose(found, known, rel_tol=TOLERANCE) for found, known in zip(sums, problem.sums, strict=True)
    )
    figures = {
        "sum_x": float(sums[0]),
        "sum_y": float(sums[1]),
        "pairs": int(counts.sum()),
        "counts": [int(count) for count in counts],
    }
    return Outcome(verified=right, figures=figures)


def _batch(table: np.ndarray, begin: int, sums: np.ndarray, counts: np.ndarray) -> None:
    numbers = uniforms(table * np.uint64(jump(EP_SEED, 2 * begin)))
    numbers *= 2.0
    numbers -= 1.0
    x, y = numbers[0::2], numbers[1::2]
    square = x * x
    square += y * y
    inside = np.flatnonzero(square <= 1.0)
    square = square[inside]
    factor = np.log(square)
    factor *= -2.0
    factor /= square
    np.sqrt(factor, out=factor)
    deviates_x = x[inside] * factor
    deviates_y = y[inside] * factor
    sums[0] += deviates_x.sum()
    sums[1] += deviates_y.sum()
    np.abs(deviates_x, out=deviates_x)
    np.abs(deviates_y, out=deviates_y)
    rings = np.maximum(deviates_x, deviates_y, out=deviates_x).astype(np.intp)
    counts += np.bincount(rings, minlength=10)
