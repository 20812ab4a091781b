"""Distributions in the plan's words: ns, bytes or packets, as floating-point numbers."""

import math
import re
from collections.abc import Mapping
from typing import Any

from longhaul.scenario.inputs import SIZE, TIME, CsvFile, Inputs, LawError, Units
from longhaul.scenario.model.amount import amount_of
from longhaul.scenario.model.distribution import (
    Constant,
    Empirical,
    Exponential,
    Gamma,
    GeneralisedPareto,
    Gev,
    InverseGaussian,
    LogLogistic,
    Lognormal,
    Normal,
    Pareto,
    Table,
    Uniform,
    Wakeby,
    Weibull,
)
from longhaul.scenario.units import Size, Span

Plain = dict[str, Any]
TABLE_SCALE = 8192
"""What a sample of one standard deviation is in netem's tables."""
_EULER = 0.5772156649015329
"""Euler's constant, the mean of Gumbel's distribution."""
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
            least = amount_of(law.location)
            scale = _scale(law, weibull_mean(law.shape, 1.0), least=least)
            shifted = {"location": least} if least else {}
            return {"dist": "weibull", "shape": law.shape, "scale": scale, **shifted}
        case Pareto() | LogLogistic():
            plain = {"dist": law.dist, "shape": law.shape, "scale": 1.0}
            return {**plain, "scale": _scale(law, distribution_mean(plain))}
        case Lognormal():
            # mean = exp(mu + sigma^2 / 2) and sd^2 = mean^2 (exp(sigma^2) - 1), solved for mu and sigma.
            mean, sd = amount_of(law.mean), amount_of(law.sd)
            sigma2 = math.log1p((sd / mean) ** 2)
            return {"dist": "lognormal", "mu": math.log(mean) - sigma2 / 2, "sigma": math.sqrt(sigma2)}
        case Gamma():
            mean, sd = amount_of(law.mean), amount_of(law.sd)
            return {"dist": "gamma", "shape": (mean / sd) ** 2, "scale": sd**2 / mean}
        case InverseGaussian():
            return {"dist": law.dist, "mean": amount_of(law.mean), "shape": amount_of(law.shape)}
        case GeneralisedPareto() | Gev():
            scale, location = amount_of(law.scale), amount_of(law.location)
            return {"dist": law.dist, "shape": law.shape, "scale": scale, "location": location}
        case Wakeby():
            weights = {key: amount_of(getattr(law, key)) for key in ("alpha", "gamma", "xi")}
            return {"dist": "wakeby", **weights, "beta": law.beta, "delta": law.delta}
        case Table():
            return {"dist": "table", "mean": 0.0, "sd": amount_of(law.sd), "samples": _samples(law, inputs)}
        case Empirical():
            return {"dist": "empirical", "values": sorted(_values(law, inputs, units))}
    raise AssertionError(law)


def weibull_mean(shape: float, scale: float) -> float:
    """The mean of a Weibull distribution: scale * Gamma(1 + 1 / shape)."""
    return scale * math.gamma(1 + 1 / shape)


def distribution_mean(law: Mapping[str, Any]) -> float:
    """The mean of a distribution of the plan, before a cut at zero; infinite where the tail is too heavy."""
    if _endless(law) is not None:
        return math.inf
    match law["dist"]:
        case "constant":
            mean = law["value"]
        case "uniform":
            mean = (law["low"] + law["high"]) / 2
        case "weibull":
            mean = law.get("location", 0.0) + weibull_mean(law["shape"], law["scale"])
        case "pareto":
            mean = law["scale"] * law["shape"] / (law["shape"] - 1)
        case "log-logistic":
            angle = math.pi / law["shape"]
            mean = law["scale"] * angle / math.sin(angle)
        case "generalised-pareto":
            mean = law["location"] + law["scale"] / (1 - law["shape"])
        case "gev":
            mean = law["location"] + law["scale"] * _mean_of_extremes(law["shape"])
        case "wakeby":
            first = law["alpha"] / (1 + law["beta"]) if law["alpha"] else 0.0
            second = law["gamma"] / (1 - law["delta"]) if law["gamma"] else 0.0
            mean = law["xi"] + first + second
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


def needed_mean(law: Mapping[str, Any]) -> float:
    """The same where the rest depends on it; raises :class:`LawError` if it is infinite."""
    endless = _endless(law)
    if endless is not None:
        key, remedy = endless
        name = {"pareto": "Pareto", "gev": "GEV", "wakeby": "Wakeby"}.get(law["dist"], law["dist"])
        raise LawError((key,), f"a {name} of {key} {law[key]:g} has no finite mean", remedy)
    return distribution_mean(law)


def _endless(law: Mapping[str, Any]) -> tuple[str, str] | None:
    """Which key makes the tail so heavy that there is no finite mean, and what to write."""
    match law["dist"]:
        case "pareto" | "log-logistic" if law["shape"] <= 1:
            return "shape", "write a shape above 1"
        case "generalised-pareto" | "gev" if law["shape"] >= 1:
            return "shape", "write a shape below 1"
        case "wakeby" if law["gamma"] and law["delta"] >= 1:
            return "delta", "write a delta below 1"
        case "wakeby" if law["alpha"] and law["beta"] <= -1:
            return "beta", "write a beta above -1"
    return None


def _mean_of_extremes(shape: float) -> float:
    """Of location 0 and scale 1: (Gamma(1 - shape) - 1) / shape, and near 0 its series."""
    if abs(shape) < 1e-5:
        return _EULER + shape * (_EULER**2 + math.pi**2 / 6) / 2
    return (math.gamma(1 - shape) - 1) / shape


def _scale(law: Weibull[Any] | Pareto[Any] | LogLogistic[Any], of_one: float, *, least: float = 0.0) -> float:
    """The scale, from the mean where that is written: ``of_one`` is the mean of scale 1."""
    if law.scale is not None:
        return amount_of(law.scale)
    return (amount_of(law.mean) - least) / of_one


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
