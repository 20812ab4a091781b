"""Families of distributions, fitted to gaps and ranked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from longhaul.analysis.fitting.bootstrap import LARGEST, Replicates, chance, replicate, standard_errors
from longhaul.analysis.fitting.family import Dimension, Family, FloatArray
from longhaul.analysis.fitting.gamma import GAMMA, LOG_LOGISTIC
from longhaul.analysis.fitting.normal import INVERSE_GAUSSIAN, LOGNORMAL, NORMAL
from longhaul.analysis.fitting.pareto import EXTREME_VALUE, GENERALISED_PARETO, PARETO
from longhaul.analysis.fitting.statistics import STATISTICS, bins_for, statistics
from longhaul.analysis.fitting.wakeby import WAKEBY
from longhaul.analysis.fitting.weibull import EXPONENTIAL, WEIBULL, WEIBULL_3
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        EXPONENTIAL,
        WEIBULL,
        LOGNORMAL,
        GAMMA,
        LOG_LOGISTIC,
        NORMAL,
        INVERSE_GAUSSIAN,
        PARETO,
        WEIBULL_3,
        GENERALISED_PARETO,
        EXTREME_VALUE,
        WAKEBY,
    )
}
"""Every family by its name."""

LEVEL = 0.01
"""A family with a smaller or equal p is contradicted by the gaps."""
FEWEST_GAPS = 20
FEWEST_REPLICATES = 99
"""With fewer, no p could be as small as :data:`LEVEL`."""

EASYFIT_CRITICAL = {0.2: 1.3749, 0.1: 1.9286, 0.05: 2.5018, 0.02: 3.2892, 0.01: 3.9074}
"""What EasyFit holds A2 of any family against, by level: values for parameters that are known."""
_EASYFIT_LEVEL = 0.05


@dataclass(frozen=True)
class Estimate:
    """One fitted parameter."""

    name: str
    dimension: Dimension
    """A bare number, an amount in the unit of the gaps, or the logarithm of one."""
    value: float
    standard_error: float | None
    """From the replicates; ``None`` without them."""


@dataclass(frozen=True)
class Statistic:
    """A distance of the gaps from a fitted distribution."""

    value: float
    """Infinite if the distribution cannot produce all gaps."""
    p: float | None
    """The chance that gaps of the distribution lie as far from their fit; ``None`` without replicates."""
    p_error: float | None
    """The standard error of p, from the number of replicates."""


@dataclass(frozen=True)
class Fit:
    """One family, fitted and judged."""

    family: str
    parameters: tuple[Estimate, ...]
    a2: Statistic
    """Anderson-Darling."""
    ks: Statistic
    """Kolmogorov-Smirnov."""
    chi2: Statistic
    contradicted: bool | None
    """Whether the p of A2 is at most :data:`LEVEL`; ``None`` without replicates."""
    easyfit_rank: int
    """By A2 alone, from 1."""
    easyfit_accepts: bool
    """Whether A2 is below 2.5018, EasyFit's limit for every family at 5 %."""
    remarks: tuple[str, ...]

    @property
    def row(self) -> FloatArray:
        """The parameters in the order of the family."""
        return np.array([each.value for each in self.parameters])


@dataclass(frozen=True, eq=False)
class Fits:
    """Families in the order of how well they go with the gaps, the best first."""

    gaps: FloatArray
    """Ascending, in the unit in which they were given."""
    fits: tuple[Fit, ...]
    seed: int
    replicates: int
    replicate_size: int
    """Gaps of each replicate."""
    bins: int
    """Intervals that chi-squared counted in."""

    @property
    def best(self) -> Fit:
        """The first of the order."""
        return self.fits[0]


def fit_gaps(
    gaps: FloatArray,
    *,
    families: Sequence[str] = tuple(FAMILIES),
    seed: int = 1,
    replicates: int = 999,
    progress: Callable[[str], None] | None = None,
) -> Fits:
    """Fit ``families`` to ``gaps``, in any one unit, and put them into an order.

    Families that the gaps do not contradict come first, those with the fewest parameters first, and
    among these the one with the smallest A2; contradicted ones follow by A2. Without replicates there
    is no telling, and A2 alone decides. ``progress`` is told of each family before its replicates.

    Raises :class:`LonghaulError` for fewer than 20 gaps, gaps that are all the same or not above zero,
    unknown families, and fewer than 99 replicates unless none.
    """
    chosen = [_family(name) for name in dict.fromkeys(families)]
    row = _checked(gaps, replicates)
    if not chosen:
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "there is no family to fit",
            remedy=f"name some of {', '.join(FAMILIES)}",
            exit_code=2,
        )
    bins = bins_for(len(row))
    size = min(len(row), LARGEST)
    found = []
    for family in chosen:
        if progress is not None:
            progress(family.name)
        found.append(_fit(family, row, bins, seed=seed, replicates=replicates, size=size))
    by_distance = sorted(found, key=lambda each: each.a2.value)
    found = [replace(each, easyfit_rank=1 + by_distance.index(each)) for each in found]
    return Fits(row, tuple(sorted(found, key=_order)), seed, replicates, size if replicates else 0, bins)


def survival(fit: Fit, gaps: FloatArray) -> FloatArray:
    """The chances that a gap is longer than each of ``gaps``, which ascend."""
    with np.errstate(all="ignore"):
        _below, log_above = FAMILIES[fit.family].tails(gaps[None, :], fit.row[None, :])
    return np.asarray(np.exp(log_above[0]))


def quantiles(fit: Fit, chances: FloatArray) -> FloatArray:
    """What a gap stays below with each of ``chances``, between 0 and 1."""
    return np.asarray(FAMILIES[fit.family].quantile(chances[None, :], fit.row[None, :])[0])


def _fit(family: Family, gaps: FloatArray, bins: int, *, seed: int, replicates: int, size: int) -> Fit:
    with np.errstate(all="ignore"):
        parameters = family.fit(gaps[None, :])
    values = statistics(family, gaps[None, :], parameters, bins)[0]
    remarks = family.remarks(gaps, parameters[0])
    if not np.isfinite(values[0]):
        remarks = (*remarks, "it cannot produce all of the gaps")
    again = None
    if replicates and np.isfinite(parameters).all():
        again = replicate(family, parameters[0], count=replicates, size=size, bins=bins, seed=seed)
    errors = standard_errors(family, gaps, parameters[0], again) if again else None
    a2, ks, chi2 = (_judged(index, float(value), len(gaps), again) for index, value in enumerate(values))
    return Fit(
        family=family.name,
        parameters=tuple(
            Estimate(
                parameter.name,
                parameter.dimension,
                float(value),
                None if errors is None else float(errors[index]),
            )
            for index, (parameter, value) in enumerate(zip(family.parameters, parameters[0], strict=True))
        ),
        a2=a2,
        ks=ks,
        chi2=chi2,
        contradicted=None if a2.p is None else a2.p <= LEVEL,
        easyfit_rank=0,
        easyfit_accepts=a2.value < EASYFIT_CRITICAL[_EASYFIT_LEVEL],
        remarks=remarks,
    )


def _judged(index: int, value: float, count: int, replicates: Replicates | None) -> Statistic:
    if replicates is None:
        return Statistic(value, None, None)
    # D falls as 1/sqrt(n) where the other two keep their size.
    factor = np.sqrt(replicates.size / count) if STATISTICS[index] == "ks" else 1.0
    return Statistic(value, *chance(value, factor * replicates.statistics[:, index]))


def _order(fit: Fit) -> tuple[bool, float, float]:
    if fit.contradicted is False:
        return (False, len(fit.parameters), fit.a2.value)
    return (True, fit.a2.value, 0.0) if np.isfinite(fit.a2.value) else (True, inf, 0.0)


def _family(name: str) -> Family:
    if name not in FAMILIES:
        remedy = f"there are {', '.join(FAMILIES)}"
        raise LonghaulError(
            Code.WORD_UNKNOWN, f'"{name}" is not a family of distributions', remedy=remedy, exit_code=2
        )
    return FAMILIES[name]


def _checked(gaps: FloatArray, replicates: int) -> FloatArray:
    row = np.sort(np.asarray(gaps, dtype=np.float64).ravel())
    if 0 < replicates < FEWEST_REPLICATES or replicates < 0:
        message = f"{replicates} replicates cannot tell a p of {LEVEL:g}"
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            message,
            remedy=f"ask for {FEWEST_REPLICATES} or more, or for 0",
            exit_code=2,
        )
    if len(row) < FEWEST_GAPS:
        message = f"{len(row)} gaps are too few to fit anything to"
        raise LonghaulError(
            Code.SAMPLE_UNUSABLE, message, remedy=f"collect {FEWEST_GAPS} or more", exit_code=2
        )
    if not np.isfinite(row).all() or row[0] <= 0:
        worst = row[0] if np.isfinite(row).all() else row[~np.isfinite(row)][0]
        raise LonghaulError(
            Code.SAMPLE_UNUSABLE, f"a gap of {worst:g}", remedy="gaps are numbers above zero", exit_code=2
        )
    if row[0] == row[-1]:
        message = f"all gaps are {row[0]:g}"
        raise LonghaulError(
            Code.SAMPLE_UNUSABLE, message, remedy="nothing is random here: write that constant", exit_code=2
        )
    return row
