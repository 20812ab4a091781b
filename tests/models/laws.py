"""Laws in the plan's words, and packets for them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Laws = dict[str, Any]

N = 200_000
"""Draws of a test of a distribution."""


def random_delay(jitter: Laws, *, base_ns: int = 0, correlation: float = 0.0) -> Laws:
    return {
        "delay": {
            "law": "random",
            "mean_ns": base_ns,
            "base_ns": base_ns,
            "jitter": jitter,
            "correlation": correlation,
        },
        "reorder": True,
    }


def renewal(gap: Laws, unit: Any = "packets", burst: float = 1.0) -> Laws:
    return {
        "loss": {"law": "renewal", "gap": gap, "burst": {"dist": "constant", "value": burst}, "unit": unit}
    }


def constant_rate(bits_per_s: int) -> Laws:
    return {"rate": {"law": "constant", "bits_per_s": bits_per_s}}


def evenly(count: int, gap_ns: float) -> NDArray[np.float64]:
    return np.arange(count, dtype=np.float64) * gap_ns
