"""Models in the plan's words, and packets for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LinkModel = dict[str, Any]

N = 200_000
"""Draws of a test of a distribution."""


def random_delay(jitter: LinkModel, *, base_ns: int = 0, correlation: float = 0.0) -> LinkModel:
    return {
        "delay": {
            "model": "random",
            "mean_ns": base_ns,
            "base_ns": base_ns,
            "jitter": jitter,
            "correlation": correlation,
        },
        "reorder": True,
    }


def renewal(gap: LinkModel, unit: Any = "packets", burst: float = 1.0) -> LinkModel:
    return {
        "loss": {"model": "renewal", "gap": gap, "burst": {"dist": "constant", "value": burst}, "unit": unit}
    }


def constant_rate(bits_per_s: int) -> LinkModel:
    return {"rate": {"model": "constant", "bits_per_s": bits_per_s}}


def evenly(count: int, gap_ns: float) -> NDArray[np.float64]:
    return np.arange(count, dtype=np.float64) * gap_ns


@dataclass(frozen=True)
class Wakeby:
    """In scipy's words; by its quantile function, which is all that it is defined by."""

    alpha: float
    beta: float
    gamma: float
    delta: float
    xi: float

    def ppf(self, chances: NDArray[np.float64] | float) -> NDArray[np.float64]:
        left = 1 - np.asarray(chances)
        first = self.alpha / self.beta * (1 - left**self.beta)
        return self.xi + first - self.gamma / self.delta * (1 - left**-self.delta)

    def cdf(self, amounts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between steps of a tenth of a per cent of what is left above: far finer than the tests can see."""
        chances = -np.expm1(-np.linspace(0, 36, 36_001))
        return np.interp(amounts, self.ppf(chances), chances)

    def mean(self) -> float:
        """The integral of the quantile function, by the rule of the middle of 100,000 equal shares."""
        return float(self.ppf((np.arange(100_000) + 0.5) / 100_000).mean())
