"""Distributions in the plan's words: ns, bytes or packets, as floating-point numbers."""

import math
import re
from collections.abc import Mapping
from typing import Any

from longhaul.scenario.inputs import SIZE, TIME, CsvFile, Inputs, Units
from longhaul.scenario.model.distribution import (
    Constant,
    Empirical,
    Exponential,
    Gamma,
    Lognormal,
    Normal,
    Pareto,
    Table,
    Uniform,
    Weibull,
    amount_of,
)
from longhaul.scenario.units import Size, Span

Plain = dict[str, Any]
TABLE_SCALE = 8192
"""What a sample of one standard deviation is in netem's tables."""
_SAMPLE = re.compile(r"-?[0-9]{1,9}")


def plan_distribution(law: Any, inputs: Inputs, units: Units) -> Plain:
    """A distribution of the plan; columns of files are in ``units``."""
    match law:
        case Constant():
            return {"dist": "constant", "value": amount_of(law.value)}
        case Uniform():
            return {"dist": "uniform", "low": amount_of(law.low), "high": amount_of(law.high)}
        case Normal():
            return {"dist": "normal", "mean": amount_of(law.mean), "sd": amount_of(law.sd)}
        case Exponential():
            return {"dist": "exponential", "mean": amount_of(law.mean)}
        case Weibull():
            return {"dist": "weibull", "shape": law.shape, "scale": _scale(law, weibull_mean(law.shape, 1.0))}
        case Pareto():
            mean = law.shape / (law.shape - 1)
            return {"dist": "pareto", "shape": law.shape, "scale": _scale(law, mean)}
        case Lognormal():
            # mean = exp(mu + sigma^2 / 2) and sd^2 = mean^2 (exp(sigma^2) - 1), solved for mu and sigma.
            mean, sd = amount_of(law.mean), amount_of(law.sd)
            sigma2 = math.log1p((sd / mean) ** 2)
            return {"dist": "lognormal", "mu": math.log(mean) - sigma2 / 2, "sigma": math.sqrt(sigma2)}
        case Gamma():
            mean, sd = amount_of(law.mean), amount_of(law.sd)
            return {"dist": "gamma", "shape": (mean / sd) ** 2, "scale": sd**2 / mean}
        case Table():
            return {"dist": "table", "mean": 0.0, "sd": amount_of(law.sd), "samples": _samples(law, inputs)}
        case Empirical():
            return {"dist": "empirical", "values": sorted(_values(law, inputs, units))}
    raise AssertionError(law)


def weibull_mean(shape: float, scale: float) -> float:
    """The mean of a Weibull distribution: scale * Gamma(1 + 1 / shape)."""
    return scale * math.gamma(1 + 1 / shape)


def distribution_mean(law: Mapping[str, Any]) -> float:
    """The mean of a distribution of the plan."""
    match law["dist"]:
        case "constant":
            mean = law["value"]
        case "uniform":
            mean = (law["low"] + law["high"]) / 2
        case "weibull":
            mean = weibull_mean(law["shape"], law["scale"])
        case "pareto":
            mean = law["scale"] * law["shape"] / (law["shape"] - 1)
        case "lognormal":
            mean = math.exp(law["mu"] + law["sigma"] ** 2 / 2)
        case "gamma":
            mean = law["shape"] * law["scale"]
        case "table":
            samples = law["samples"]
            mean = law["mean"] + law["sd"] * sum(samples) / len(samples) / TABLE_SCALE
        case "empirical":
            mean = math.fsum(law["values"]) / len(law["values"])
        case _:
            mean = law["mean"]
    return float(mean)


def _scale(law: Weibull[Any] | Pareto[Any], mean_of_scale_one: float) -> float:
    if law.scale is not None:
        return amount_of(law.scale)
    assert law.mean is not None
    return amount_of(law.mean) / mean_of_scale_one


def _values(law: Empirical[Any], inputs: Inputs, units: Units) -> list[float]:
    if law.values is not None:
        return [amount_of(value) for value in law.values]
    file = inputs.file(law.file or "", at="file")
    most = {id(TIME): Span.limit, id(SIZE): Size.limit}.get(id(units), 10**12)
    column = CsvFile(file).column(law.column, units, at="column", most=most)
    return [float(value * column.factor) for _line, value in column.values]


def _samples(law: Table, inputs: Inputs) -> list[int]:
    """The format of netem: whole numbers of 16 bits between spaces, and comments from # on."""
    file = inputs.file(law.file, at="file")
    samples = []
    for line, text in file.rows():
        for word in text.split():
            if not _SAMPLE.fullmatch(word) or not -(2**15) <= int(word) < 2**15:
                message = f'"{word[:40]}" is no sample'
                raise file.wrong(line, message, "write whole numbers from -32768 to 32767", word=word)
            samples.append(int(word))
    return sorted(samples)
