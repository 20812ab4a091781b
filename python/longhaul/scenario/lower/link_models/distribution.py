"""Distributions of the plan: ns, bytes or packets, as floating-point numbers."""

import math
import re
from typing import Any, assert_never

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.model.amount import amount_of
from longhaul.scenario.model.distribution import (
    AnyDistribution,
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
from longhaul.scenario.syntax.csv_file import SIZE, TIME, CsvFile, Units
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.units.quantities import Size, Span

Plain = dict[str, Any]
TABLE_SCALE = 8192
"""What a sample of one standard deviation is in netem's tables."""
_EULER = 0.5772156649015329
"""Euler's constant, the mean of Gumbel's distribution."""
_SAMPLE = re.compile(r"-?[0-9]{1,9}")


def plan_distribution(distribution: AnyDistribution, inputs: Inputs, units: Units) -> planned.Distribution:
    """A distribution of the plan; columns of files are in ``units``."""
    match distribution:
        case Constant():
            return {"dist": "constant", "value": amount_of(distribution.value)}
        case Uniform():
            return {
                "dist": "uniform",
                "low": amount_of(distribution.low),
                "high": amount_of(distribution.high),
            }
        case Normal():
            return {"dist": "normal", "mean": amount_of(distribution.mean), "sd": amount_of(distribution.sd)}
        case Exponential():
            return {"dist": "exponential", "mean": amount_of(distribution.mean)}
        case Weibull():
            least = amount_of(distribution.location)
            scale = _scale(distribution, weibull_mean(distribution.shape, 1.0), least=least)
            weibull: planned.WeibullDistribution = {
                "dist": "weibull",
                "shape": distribution.shape,
                "scale": scale,
            }
            return {**weibull, "location": least} if least else weibull
        case Pareto():
            pareto: planned.ParetoDistribution = {"dist": "pareto", "shape": distribution.shape, "scale": 1.0}
            return {**pareto, "scale": _scale(distribution, distribution_mean(pareto))}
        case LogLogistic():
            log_logistic: planned.LogLogisticDistribution = {
                "dist": "log-logistic",
                "shape": distribution.shape,
                "scale": 1.0,
            }
            return {**log_logistic, "scale": _scale(distribution, distribution_mean(log_logistic))}
        case Lognormal():
            # mean = exp(mu + sigma^2 / 2) and sd^2 = mean^2 (exp(sigma^2) - 1), solved for mu and sigma.
            mean, sd = amount_of(distribution.mean), amount_of(distribution.sd)
            sigma2 = math.log1p((sd / mean) ** 2)
            return {"dist": "lognormal", "mu": math.log(mean) - sigma2 / 2, "sigma": math.sqrt(sigma2)}
        case Gamma():
            mean, sd = amount_of(distribution.mean), amount_of(distribution.sd)
            return {"dist": "gamma", "shape": (mean / sd) ** 2, "scale": sd**2 / mean}
        case InverseGaussian():
            return {
                "dist": distribution.dist,
                "mean": amount_of(distribution.mean),
                "shape": amount_of(distribution.shape),
            }
        case GeneralisedPareto():
            return {
                "dist": "generalised-pareto",
                "shape": distribution.shape,
                "scale": amount_of(distribution.scale),
                "location": amount_of(distribution.location),
            }
        case Gev():
            return {
                "dist": "gev",
                "shape": distribution.shape,
                "scale": amount_of(distribution.scale),
                "location": amount_of(distribution.location),
            }
        case Wakeby():
            return {
                "dist": "wakeby",
                "alpha": amount_of(distribution.alpha),
                "gamma": amount_of(distribution.gamma),
                "xi": amount_of(distribution.xi),
                "beta": distribution.beta,
                "delta": distribution.delta,
            }
        case Table():
            return {
                "dist": "table",
                "mean": 0.0,
                "sd": amount_of(distribution.sd),
                "samples": _samples(distribution, inputs),
            }
        case Empirical():
            return {"dist": "empirical", "values": sorted(_values(distribution, inputs, units))}
        case _:
            assert_never(distribution)


def weibull_mean(shape: float, scale: float) -> float:
    """The mean of a Weibull distribution: scale * Gamma(1 + 1 / shape)."""
    return scale * math.gamma(1 + 1 / shape)


def distribution_mean(distribution: planned.Distribution) -> float:
    """The mean of a distribution of the plan, before a cut at zero; infinite where the tail is too heavy."""
    if _endless(distribution) is not None:
        return math.inf
    match distribution["dist"]:
        case "normal" | "exponential" | "inverse-gaussian":
            mean = distribution["mean"]
        case "constant":
            mean = distribution["value"]
        case "uniform":
            mean = (distribution["low"] + distribution["high"]) / 2
        case "weibull":
            mean = distribution.get("location", 0.0) + weibull_mean(
                distribution["shape"], distribution["scale"]
            )
        case "pareto":
            mean = distribution["scale"] * distribution["shape"] / (distribution["shape"] - 1)
        case "log-logistic":
            angle = math.pi / distribution["shape"]
            mean = distribution["scale"] * angle / math.sin(angle)
        case "generalised-pareto":
            mean = distribution["location"] + distribution["scale"] / (1 - distribution["shape"])
        case "gev":
            mean = distribution["location"] + distribution["scale"] * _mean_of_extremes(distribution["shape"])
        case "wakeby":
            first = distribution["alpha"] / (1 + distribution["beta"]) if distribution["alpha"] else 0.0
            second = distribution["gamma"] / (1 - distribution["delta"]) if distribution["gamma"] else 0.0
            mean = distribution["xi"] + first + second
        case "lognormal":
            mean = math.exp(distribution["mu"] + distribution["sigma"] ** 2 / 2)
        case "gamma":
            mean = distribution["shape"] * distribution["scale"]
        case "table":
            samples = distribution["samples"]
            mean = distribution["mean"] + distribution["sd"] * sum(samples) / len(samples) / TABLE_SCALE
        case "empirical":
            mean = math.fsum(distribution["values"]) / len(distribution["values"])
        case _:
            assert_never(distribution)
    return float(mean)


def needed_mean(distribution: planned.Distribution) -> float:
    """The same where the rest depends on it; raises :class:`ScenarioValueError` if it is infinite."""
    endless = _endless(distribution)
    if endless is not None:
        key, value, remedy = endless
        name = {"pareto": "Pareto", "gev": "GEV", "wakeby": "Wakeby"}.get(
            distribution["dist"], distribution["dist"]
        )
        raise ScenarioValueError(
            Code.DISTRIBUTION_INVALID,
            (key,),
            f"a {name} of {key} {value:g} has no finite mean",
            remedy,
        )
    return distribution_mean(distribution)


def _endless(distribution: planned.Distribution) -> tuple[str, float, str] | None:
    """Which key makes the tail so heavy that there is no finite mean, its value, and what to write."""
    match distribution["dist"]:
        case "pareto" | "log-logistic" if distribution["shape"] <= 1:
            return "shape", distribution["shape"], "write a shape above 1"
        case "generalised-pareto" | "gev" if distribution["shape"] >= 1:
            return "shape", distribution["shape"], "write a shape below 1"
        case "wakeby" if distribution["gamma"] and distribution["delta"] >= 1:
            return "delta", distribution["delta"], "write a delta below 1"
        case "wakeby" if distribution["alpha"] and distribution["beta"] <= -1:
            return "beta", distribution["beta"], "write a beta above -1"
    return None


def _mean_of_extremes(shape: float) -> float:
    """Of location 0 and scale 1: (Gamma(1 - shape) - 1) / shape, and near 0 its series."""
    if abs(shape) < 1e-5:
        return _EULER + shape * (_EULER**2 + math.pi**2 / 6) / 2
    return (math.gamma(1 - shape) - 1) / shape


def _scale(
    distribution: "Weibull[Any] | Pareto[Any] | LogLogistic[Any]", of_one: float, *, least: float = 0.0
) -> float:
    """The scale, from the mean where that is written: ``of_one`` is the mean of scale 1."""
    if distribution.scale is not None:
        return amount_of(distribution.scale)
    return (amount_of(distribution.mean) - least) / of_one


def _values(distribution: "Empirical[Any]", inputs: Inputs, units: Units) -> list[float]:
    if distribution.values is not None:
        return [amount_of(value) for value in distribution.values]
    file = inputs.file(distribution.file or "", at="file")
    most = {id(TIME): Span.limit, id(SIZE): Size.limit}.get(id(units), 10**12)
    column = CsvFile(file).column(distribution.column, units, at="column", most=most)
    return [float(value * column.factor) for _line, value in column.values]


def _samples(distribution: Table, inputs: Inputs) -> list[int]:
    """The format of netem: whole numbers of 16 bits between spaces, and comments from # on."""
    file = inputs.file(distribution.file, at="file")
    samples = []
    for line, text in file.rows():
        for word in text.split():
            if not _SAMPLE.fullmatch(word) or not -(2**15) <= int(word) < 2**15:
                message = f'"{word[:40]}" is not a sample'
                raise file.wrong(
                    Code.CELL_INVALID, line, message, "write whole numbers from -32768 to 32767", word=word
                )
            samples.append(int(word))
    return sorted(samples)
