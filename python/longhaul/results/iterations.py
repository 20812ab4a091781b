"""Time per iteration of parallel programs, real and simulated."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.results.growing_files import last_bytes

Json = dict[str, Any]

KEY = "iteration_s"
"""Of a line in JSON that a program prints: how long each iteration took, in s, in order."""

WARM_UP_FACTOR = 1.1
"""The warm-up ends with the first iteration that takes at most so many times the median."""

_MOST_BYTES = 4 << 20
"""Of the end of a program's output, where the line is looked for."""


def summarise_iterations(times_ns: Sequence[int]) -> Json | None:
    """The first iteration, quantiles of all, and the warm-up; ``None`` without iterations.

    ``warm_up`` iterations at the beginning took longer than 1.1 times the median each, and ``warm_up_ns``
    together. Times are in ns; quantiles are times of iterations (the inverse of the empirical distribution).
    """
    if not len(times_ns):
        return None
    times = np.asarray(times_ns, dtype=np.int64)
    p50, p90, p99 = (int(each) for each in np.quantile(times, (0.5, 0.9, 0.99), method="inverted_cdf"))
    settled = np.flatnonzero(times <= WARM_UP_FACTOR * p50)
    warm_up = int(settled[0])
    return {
        "count": len(times),
        "first_ns": int(times[0]),
        "mean_ns": float(times.mean()),
        "p50_ns": p50,
        "p90_ns": p90,
        "p99_ns": p99,
        "max_ns": int(times.max()),
        "warm_up": warm_up,
        "warm_up_ns": int(times[:warm_up].sum()),
    }


def printed_iterations(log: Path) -> Json | None:
    """The same of the last line ``{"iteration_s": [...]}`` of a program's output; ``None`` without one."""
    try:
        content, _size = last_bytes(log, _MOST_BYTES)
    except OSError:
        return None
    for line in reversed(content.decode(errors="replace").splitlines()):
        if f'"{KEY}"' in line and line.lstrip().startswith("{"):
            times = _times(line)
            if times:
                return summarise_iterations([round(1e9 * each) for each in times])
    return None


def simulated_iterations(job: Mapping[str, Any]) -> Json | None:
    """The same of a simulated program, as its engine has it."""
    of_all = {key: value for key, value in job["iteration"].items() if key != "cdf"}
    # Of many iterations, the engine has the quantiles of all, and the first ones by themselves.
    return {**(summarise_iterations(job.get("iteration_ns") or ()) or {}), **of_all} or None


def _times(line: str) -> list[float] | None:
    try:
        found = json.loads(line).get(KEY)
    except ValueError:
        return None
    if not isinstance(found, list):
        return None
    numbers = [each for each in found if isinstance(each, int | float) and not isinstance(each, bool)]
    valid = len(numbers) == len(found) and all(math.isfinite(each) and each >= 0 for each in numbers)
    return [float(each) for each in numbers] if valid else None
