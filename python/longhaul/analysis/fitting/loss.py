"""A fit in the words of a scenario: the ``loss:`` block that draws its gaps."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, inf, log, sqrt
from typing import Literal

import numpy as np

from longhaul.analysis.fitting.ranking import Fit, Fits
from longhaul.scenario.units import Span

SAYABLE = ("exponential", "weibull", "lognormal", "gamma", "normal", "pareto")
"""Families that the scenario language has."""

Unit = Literal["wall", "packets"]
"""What the gaps of a renewal are counted in: seconds by the clock, or packets."""

_SHAPES = (0.05, 1000.0)
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

    Gaps are multiplied by ``factor`` to be seconds (``wall``) or packets.
    """
    for fit in fits.fits:
        law = _law(fit, factor)
        words = None if law is None else _words(law, unit)
        if words is None:
            continue
        lines = ("loss:", "  model: renewal", f"  unit: {unit}", f"  gap: {{{words}}}")
        return LossBlock(unit, fit.family, "\n".join(lines) + "\n", _remarks(fits, fit))
    return None


def _remarks(fits: Fits, said: Fit) -> tuple[str, ...]:
    remarks = []
    if said is not fits.best:
        remarks.append(f"a scenario cannot say {fits.best.family}; {said.family} is the best that it can")
    if said.contradicted:
        remarks.append(
            f"the gaps contradict {said.family}; to draw from the gaps themselves, write"
            " gap: {dist: empirical, file: FILE.csv}"
        )
    if said.family == "normal" and said.remarks:
        remarks.append("a scenario cuts a normal distribution at zero")
    return tuple(remarks)


def _law(fit: Fit, factor: float) -> Mapping[str, float | str] | None:
    """Keys of the scenario's distribution; amounts are floating-point, shapes are in ``shape``."""
    values = {each.name: each.value for each in fit.parameters}
    match fit.family:
        case "exponential":
            law = {"mean": values["mean"] * factor}
        case "weibull":
            law = {"shape": values["shape"], "scale": values["scale"] * factor}
        case "pareto" if values["shape"] > 1:
            law = {"shape": values["shape"], "scale": values["least"] * factor}
        case "normal":
            law = {"mean": values["mean"] * factor, "sd": values["sd"] * factor}
        case "gamma":
            scale = values["scale"] * factor
            law = {"mean": values["shape"] * scale, "sd": sqrt(values["shape"]) * scale}
        case "lognormal":
            variance = values["sigma"] ** 2
            log_mean = values["mu"] + log(factor) + variance / 2
            if log_mean > 500 or variance > 500:
                return None
            law = {"mean": exp(log_mean), "sd": exp(log_mean) * sqrt(expm1(variance))}
        case _:
            return None
    return {"dist": fit.family, **law}


def _words(law: Mapping[str, float | str], unit: Unit) -> str | None:
    """The law as the text of a mapping; ``None`` where an amount is beyond what a scenario takes."""
    words = []
    for key, value in law.items():
        if isinstance(value, str):
            text: str | None = value
        elif key == "shape":
            text = _digits(value) if _SHAPES[0] <= value <= _SHAPES[1] else None
        else:
            text = _seconds(value) if unit == "wall" else _packets(value)
        if text is None:
            return None
        words.append(f"{key}: {text}")
    return ", ".join(words)


def _seconds(value: float) -> str | None:
    ns = float(f"{value * 1e9:.6g}") if value < inf else inf
    return str(Span(round(ns))) if 1 <= ns <= Span.limit else None


def _packets(value: float) -> str | None:
    return _digits(value) if 0 < value <= _MOST_PACKETS else None


def _digits(value: float) -> str:
    """Six digits, without an exponent."""
    return np.format_float_positional(float(f"{value:.6g}"), trim="-")
