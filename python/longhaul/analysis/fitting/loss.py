"""A fitted distribution as the ``loss:`` block of a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, floor, log, log10, sqrt
from typing import Literal

import numpy as np

from longhaul.analysis.fitting.ranking import FAMILIES, Fit, Fits
from longhaul.units.quantities import Span

Unit = Literal["wall", "packets"]
"""What the gaps of a renewal are counted in: seconds by the clock, or packets."""

_DIGITS = 6
_NUMBERS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "weibull": {"shape": (0.05, 1000)},
    "pareto": {"shape": (1.00001, 1000)},
    "log-logistic": {"shape": (1.00001, 1000)},
    "generalised-pareto": {"shape": (-100, 0.999999)},
    "gev": {"shape": (-100, 0.999999)},
    "wakeby": {"beta": (-0.999999, 1000), "delta": (-1000, 0.999999)},
}
"""Keys that are bare numbers, and what a scenario takes there if the gaps are to have a mean."""
_SIGNED = ("location", "alpha", "xi")
"""Amounts that may be below zero."""
_MAY_BE_ZERO = (*_SIGNED, "gamma")
_CUT = ("normal", "generalised-pareto", "gev", "wakeby")
"""Families whose gaps may be below zero."""
_MOST_PACKETS = 1e12


@dataclass(frozen=True)
class LossBlock:
    """A part of a scenario file."""

    unit: Unit
    family: str
    """Of the fits, the first that a scenario can say."""
    text: str
    """YAML, to go under a link."""
    remarks: tuple[str, ...]
    """What the reader should know about it."""


def loss_block(fits: Fits, *, unit: Unit, factor: float = 1.0) -> LossBlock | None:
    """The best fit that a scenario can say; ``None`` if there is none.

    Gaps are multiplied by ``factor`` to be seconds (``wall``) or packets. What has no finite mean, or amounts
    beyond those of a scenario, cannot be said.
    """
    for fit in fits.fits:
        words = _words(fit, unit, factor)
        if words is None:
            continue
        lines = ("loss:", "  model: renewal", f"  unit: {unit}", f"  gap: {{{words}}}")
        return LossBlock(unit, fit.family, "\n".join(lines) + "\n", _remarks(fits, fit))
    return None


def _remarks(fits: Fits, said: Fit) -> tuple[str, ...]:
    remarks = []
    if said is not fits.best:
        remarks.append(
            f"a scenario cannot say {fits.best.family} with these parameters; {said.family} is the best that"
            " it can"
        )
    if said.contradicted:
        remarks.append(
            f"the gaps contradict {said.family}; to draw from the gaps themselves, write"
            " gap: {dist: empirical, file: FILE.csv}"
        )
    if said.family in _CUT and _chance_below_zero(said) > 1e-4:
        remarks.append(f"a scenario cuts a {said.family} distribution at zero")
    return tuple(remarks)


def _chance_below_zero(fit: Fit) -> float:
    parameters = np.array([[each.value for each in fit.parameters]])
    with np.errstate(divide="ignore", over="ignore"):
        log_below, _log_above = FAMILIES[fit.family].tails(np.zeros((1, 1)), parameters)
    return float(np.exp(log_below[0, 0]))


def _words(fit: Fit, unit: Unit, factor: float) -> str | None:
    """The model as the text of a mapping; ``None`` where a value is beyond what a scenario takes."""
    dist = "weibull" if fit.family == "weibull-3" else fit.family
    numbers = _NUMBERS.get(dist, {})
    values = _values(fit, factor)
    if values is None:
        return None
    words = [f"dist: {dist}"]
    for key, value in values.items():
        if key in numbers:
            low, high = numbers[key]
            text = _text(value) if low <= _rounded(value) <= high else None
        else:
            digits = _digits_beside(value, values) if key in ("location", "xi") else _DIGITS
            text = _amount(key, value, unit, digits)
        if text is None:
            return None
        words.append(f"{key}: {text}")
    return ", ".join(words)


def _values(fit: Fit, factor: float) -> Mapping[str, float] | None:
    """Keys of the scenario's distribution, in the order in which they are written."""
    values = {each.name: each.value * (factor if each.dimension == "gap" else 1) for each in fit.parameters}
    match fit.family:
        case "pareto":
            return {"shape": values["shape"], "scale": values["least"]}
        case "gamma":
            return {"mean": values["shape"] * values["scale"], "sd": sqrt(values["shape"]) * values["scale"]}
        case "lognormal":
            variance = values["sigma"] ** 2
            log_mean = values["mu"] + log(factor) + variance / 2
            if log_mean > 500 or variance > 500:
                return None
            return {"mean": exp(log_mean), "sd": exp(log_mean) * sqrt(expm1(variance))}
        case "wakeby" if values["alpha"] and _rounded(values["beta"]) + _rounded(values["delta"]) <= 0:
            return None
    return values


def _amount(key: str, value: float, unit: Unit, digits: int) -> str | None:
    if value < 0 and key not in _SIGNED:
        return None
    most = Span.limit if unit == "wall" else _MOST_PACKETS
    size = abs(_rounded(value * (1e9 if unit == "wall" else 1), digits))
    if size > most:
        return None
    text = _text(size, digits)
    if unit == "wall":
        size = round(size)
        text = str(Span(size))
    if size == 0:
        return text if key in _MAY_BE_ZERO else None
    return f"-{text}" if value < 0 else text


def _digits_beside(value: float, values: Mapping[str, float]) -> int:
    """How many digits a lower end or a middle needs, to be as fine as the amounts that are added to it."""
    spreads = [abs(values[key]) for key in ("scale", "alpha", "gamma") if values.get(key)]
    if not value or not spreads:
        return _DIGITS
    finer = floor(log10(abs(value))) - floor(log10(min(spreads)))
    return min(max(_DIGITS + finer, _DIGITS), 15)


def _rounded(value: float, digits: int = _DIGITS) -> float:
    return float(f"{value:.{digits}g}")


def _text(value: float, digits: int = _DIGITS) -> str:
    """So many digits, without an exponent."""
    return np.format_float_positional(_rounded(value, digits), trim="-")
