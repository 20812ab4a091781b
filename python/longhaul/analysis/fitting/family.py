"""The interface of a family of distributions: fit, tails, quantiles, random numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Dimension = Literal["number", "gap", "log gap"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a family."""

    name: str
    dimension: Dimension = "number"
    """A bare number, an amount in the unit of the gaps, or the logarithm of one."""


@dataclass(frozen=True)
class Family:
    """A family of distributions, fitted to many samples at once.

    ``gaps`` has a sample in each row, ascending and above zero; ``parameters`` has the parameters of
    one in each row. A row's results depend on that row alone.
    """

    name: str
    parameters: tuple[Parameter, ...]
    fit: Callable[[FloatArray], FloatArray]
    """Parameters for each row of gaps."""
    tails: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    """ln F and ln(1 - F) at each gap; minus infinity where a gap is impossible."""
    quantile: Callable[[FloatArray, FloatArray], FloatArray]
    """Amounts that a gap stays below with the chances in each row."""
    draw: Callable[[Generator, FloatArray, int], FloatArray] | None = None
    """So many gaps for each row of parameters, in any order; by inversion if ``None``."""
    least_is_a_parameter: bool = False
    """The least gap is the lower end itself; then the others are tested, given the least."""
    irregular: Callable[[FloatArray, FloatArray], FloatArray] | None = None
    """How errors shrink where not as 1/sqrt(n): powers of 1/n, for each of one row's parameters."""
    remarks: Callable[[FloatArray, FloatArray], tuple[str, ...]] = lambda _gaps, _parameters: ()
    """What a reader of one row's parameters should know."""

    def sample(self, stream: Generator, parameters: FloatArray, count: int) -> FloatArray:
        """Ascending rows of ``count`` gaps, one row for each row of parameters."""
        if self.draw is not None:
            drawn = self.draw(stream, parameters, count)
        else:
            drawn = self.quantile(uniform(stream, (len(parameters), count)), parameters)
        drawn.sort(axis=1)
        return drawn


def uniform(stream: Generator, shape: tuple[int, int]) -> FloatArray:
    """Uniform on (0, 1), without 0."""
    return np.maximum(stream.random(shape), 2.0**-54)


def columns(parameters: FloatArray) -> tuple[FloatArray, ...]:
    """Each parameter as a column that goes with rows of gaps."""
    return tuple(parameters[:, index, None] for index in range(parameters.shape[1]))


def rows_of(*parameters: FloatArray) -> FloatArray:
    """The parameters of each row beside one another."""
    return np.stack(parameters, axis=1)


def log_one_minus_exp(log_value: FloatArray) -> FloatArray:
    """ln(1 - exp(v)) for v <= 0, without loss of digits at either end."""
    near_zero = log_value > -0.6931471805599453
    return np.where(near_zero, np.log(-np.expm1(log_value)), np.log1p(-np.exp(log_value)))


def least_offset(gaps: FloatArray) -> FloatArray:
    """How far below the least gap a lower end must lie: (mean - least) / n.

    That is the mean distance of the least of n exponential gaps from their lower end, and it keeps
    away from the point where likelihoods are unbounded and A2 infinite.
    """
    least = gaps[:, 0]
    return np.asarray((gaps.mean(axis=1) - least) / gaps.shape[1])
