"""Distributions of times, sizes and numbers of packets."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Generic, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from longhaul.scenario.model.amount import Amount, Packets, SignedAmount, amount_of
from longhaul.scenario.model.base import AlsoText, Column, FileName, Name, Number, Strict, choice, problem
from longhaul.scenario.units import Size, Span

Shape = Annotated[float, Number(at_least=0.05, at_most=1000, example="0.8")]
SignedShape = Annotated[float, Number(at_least=-100, at_most=100, example="0.2")]
"""Above 0 the upper tail is heavy."""


class Drawn(Strict):
    """What all distributions have in common."""

    above_zero: ClassVar[tuple[str, ...]] = ()
    """Amounts that cannot be zero."""

    @model_validator(mode="after")
    def _possible(self) -> "Drawn":
        for key in self.above_zero:
            value = getattr(self, key)
            if value is not None and amount_of(value) == 0:
                raise problem("must be more than zero", "write a positive amount", at=key)
        return self


class Constant(Drawn, Generic[Amount]):
    """Always the same."""

    dist: Literal["constant"]
    value: Amount


class Uniform(Drawn, Generic[Amount]):
    """Uniform from ``low`` to ``high``."""

    dist: Literal["uniform"]
    low: Amount
    high: Amount

    @model_validator(mode="after")
    def _order(self) -> "Uniform[Amount]":
        if amount_of(self.low) > amount_of(self.high):
            raise problem("is less than low", "write low first, high second", at="high")
        return self


class Normal(Drawn, Generic[Amount]):
    """Normal, cut at zero."""

    dist: Literal["normal"]
    mean: Amount
    sd: Amount


class Exponential(Drawn, Generic[Amount]):
    """Exponential."""

    above_zero: ClassVar[tuple[str, ...]] = ("mean",)
    dist: Literal["exponential"]
    mean: Amount


class _Scaled(Drawn, Generic[Amount]):
    """A shape, and either the mean or the scale."""

    above_zero: ClassVar[tuple[str, ...]] = ("mean", "scale")
    shape: Shape
    mean: Amount | None = None
    scale: Amount | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "_Scaled[Amount]":
        if self.mean is not None and self.scale is not None:
            raise problem("says its size twice", "write one of mean and scale", at="scale")
        if self.mean is None and self.scale is None:
            raise problem("does not say how large it is", "add mean or scale")
        return self


class Weibull(_Scaled[Amount], Generic[Amount]):
    """Weibull: P(X > x) = exp(-((x - location) / scale)^shape)."""

    dist: Literal["weibull"]
    location: Amount | None = None
    """The least amount; zero if left out."""

    @model_validator(mode="after")
    def _mean_above_the_least(self) -> "Weibull[Amount]":
        if self.mean is not None and amount_of(self.mean) <= amount_of(self.location):
            raise problem("is not above the location", "write a larger mean", at="mean")
        return self


class Pareto(_Scaled[Amount], Generic[Amount]):
    """Pareto, type I: P(X > x) = (scale / x)^shape from the scale on."""

    dist: Literal["pareto"]

    @model_validator(mode="after")
    def _finite(self) -> "Pareto[Amount]":
        _mean_needs_a_shape_above_one(self, "Pareto")
        return self


class LogLogistic(_Scaled[Amount], Generic[Amount]):
    """Log-logistic: P(X <= x) = 1 / (1 + (x / scale)^-shape)."""

    dist: Literal["log-logistic"]

    @model_validator(mode="after")
    def _finite(self) -> "LogLogistic[Amount]":
        _mean_needs_a_shape_above_one(self, "log-logistic")
        return self


def _mean_needs_a_shape_above_one(law: _Scaled[Any], name: str) -> None:
    if law.mean is not None and law.shape <= 1:
        message = f"a {name} of shape {law.shape:g} has no finite mean"
        raise problem(message, "write a shape above 1", at="shape")


class Lognormal(Drawn, Generic[Amount]):
    """Lognormal, by its own mean and standard deviation."""

    above_zero: ClassVar[tuple[str, ...]] = ("mean",)
    dist: Literal["lognormal"]
    mean: Amount
    sd: Amount


class Gamma(Drawn, Generic[Amount]):
    """Gamma, by its mean and standard deviation."""

    above_zero: ClassVar[tuple[str, ...]] = ("mean", "sd")
    dist: Literal["gamma"]
    mean: Amount
    sd: Amount


class InverseGaussian(Drawn, Generic[Amount]):
    """Inverse Gaussian, by its mean and its shape, an amount too: the variance is mean^3 / shape."""

    above_zero: ClassVar[tuple[str, ...]] = ("mean", "shape")
    dist: Literal["inverse-gaussian"]
    mean: Amount
    shape: Amount


class GeneralisedPareto(Drawn, Generic[Amount]):
    """Generalised Pareto: P(X > x) = (1 + shape (x - location) / scale)^(-1 / shape), cut at zero."""

    above_zero: ClassVar[tuple[str, ...]] = ("scale",)
    dist: Literal["generalised-pareto"]
    shape: SignedShape
    scale: Amount
    location: SignedAmount[Amount] | None = None
    """The least amount; zero if left out."""


class Gev(Drawn, Generic[Amount]):
    """Extreme values: P(X <= x) = exp(-(1 + shape (x - location) / scale)^(-1 / shape)), cut at zero."""

    above_zero: ClassVar[tuple[str, ...]] = ("scale",)
    dist: Literal["gev"]
    shape: SignedShape
    scale: Amount
    location: SignedAmount[Amount]


class Wakeby(Drawn, Generic[Amount]):
    """Wakeby: x = xi + alpha/beta (1 - q^beta) - gamma/delta (1 - q^-delta) at P(X > x) = q, cut at zero."""

    dist: Literal["wakeby"]
    alpha: SignedAmount[Amount]
    beta: Annotated[float, Number(at_least=-15, at_most=1000, example="5")]
    gamma: Amount
    delta: Annotated[float, Number(at_least=-1000, at_most=15, example="0.2")]
    xi: SignedAmount[Amount]
    """The least amount."""

    @model_validator(mode="after")
    def _ascends(self) -> "Wakeby[Amount]":
        alpha, gamma = amount_of(self.alpha), amount_of(self.gamma)
        if alpha + gamma < 0:
            raise problem("is less than minus gamma", "write a larger alpha or gamma", at="alpha")
        if alpha and gamma and self.beta + self.delta <= 0:
            raise problem("is not more than minus delta", "write a larger beta or delta", at="beta")
        return self


class Empirical(Drawn, Generic[Amount]):
    """Each of a list of amounts with the same chance."""

    dist: Literal["empirical"]
    values: Annotated[tuple[Amount, ...], Field(strict=False, min_length=1)] | None = None
    file: FileName | None = None
    column: Column | None = None
    """Of a CSV file with a header; the first that fits if left out."""

    @model_validator(mode="after")
    def _one_source(self) -> "Empirical[Amount]":
        if (self.values is None) == (self.file is None):
            raise problem("needs its values or a file of them", "write one of values and file")
        if self.column and not self.file:
            raise problem("belongs to a file", "write file: NAME too", at="column")
        return self


class Table(Drawn):
    """A table as netem's ``.dist`` files have it, around zero."""

    dist: Literal["table"]
    file: FileName
    sd: Span


DISTRIBUTIONS = (
    "constant",
    "uniform",
    "normal",
    "exponential",
    "weibull",
    "pareto",
    "lognormal",
    "gamma",
    "log-logistic",
    "inverse-gaussian",
    "generalised-pareto",
    "gev",
    "wakeby",
    "empirical",
)


def _distribution(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"dist": "constant", "value": value}
    choice(value, "dist", DISTRIBUTIONS, (), "distribution")
    return value


_OfTimes = (
    Constant[Span]
    | Uniform[Span]
    | Normal[Span]
    | Exponential[Span]
    | Weibull[Span]
    | Pareto[Span]
    | Lognormal[Span]
    | Gamma[Span]
    | LogLogistic[Span]
    | InverseGaussian[Span]
    | GeneralisedPareto[Span]
    | Gev[Span]
    | Wakeby[Span]
    | Empirical[Span]
)
TimeDistribution = Annotated[
    Annotated[_OfTimes, Field(discriminator="dist")],
    BeforeValidator(_distribution),
    AlsoText(Span.pattern(), "18s"),
]
SizeDistribution = Annotated[
    Annotated[
        Constant[Size]
        | Uniform[Size]
        | Normal[Size]
        | Exponential[Size]
        | Weibull[Size]
        | Pareto[Size]
        | Lognormal[Size]
        | Gamma[Size]
        | LogLogistic[Size]
        | InverseGaussian[Size]
        | GeneralisedPareto[Size]
        | Gev[Size]
        | Wakeby[Size]
        | Empirical[Size],
        Field(discriminator="dist"),
    ],
    BeforeValidator(_distribution),
    AlsoText(Size.pattern(), "10MB"),
]


START_OF_RUN: Constant[Span] = Constant(dist="constant", value=Span(0))


class After(Strict):
    """When another program has ended."""

    dist: Literal["after"]
    program: Name


def _traffic_start(value: Any) -> Any:
    if isinstance(value, str) and value.split()[:1] == ["after"]:
        raise problem("only programs can start after another", "write a time, for example start: 2s")
    return value


TrafficStart = Annotated[TimeDistribution, BeforeValidator(_traffic_start)]
"""A :data:`TimeDistribution`."""


def _start(value: Any) -> Any:
    words = value.split() if isinstance(value, str) else []
    if words[:1] != ["after"]:
        return _distribution(value)
    if len(words) != 2:
        raise problem("does not name one program", "write for example start: after fetch")
    return {"dist": "after", "program": words[1]}


ProgramStart = Annotated[
    Annotated[After | _OfTimes, Field(discriminator="dist")],
    BeforeValidator(_start),
    AlsoText(Span.pattern(), "18s"),
    AlsoText("^after [^ ]+$", "after fetch"),
]
"""A :data:`TimeDistribution`, or another program's end."""


def earliest_ns(start: Any) -> int:
    """The least time that a start is known not to go below, in ns."""
    match start:
        case Constant():
            return int(start.value.ns)
        case Uniform():
            return int(start.low.ns)
        case Empirical() if start.values:
            return int(min(each.ns for each in start.values))
    return 0


def latest_ns(start: Any) -> int | None:
    """The largest time that a :data:`TimeDistribution` may give, in ns; ``None`` if it has no bound."""
    match start:
        case Constant():
            return int(start.value.ns)
        case Uniform():
            return int(start.high.ns)
        case Empirical() if start.values:
            return int(max(each.ns for each in start.values))
    return None


def check_stop(start: Any, stop: Span | None) -> None:
    """Refuse a ``stop`` that may come before the start."""
    if stop is None:
        return
    if isinstance(start, After):
        remedy = "remove the stop, or write a time as start"
        raise problem(
            "has a stop, but its start time is unknown: it starts after another program", remedy, at="stop"
        )
    if stop.ns <= earliest_ns(start):
        raise problem("stops before it starts", "write a stop later than the start")
    latest = latest_ns(start)
    if latest is None:
        remedy = "write for example start: {dist: uniform, low: 0s, high: 1s}, or remove the stop"
        raise problem("may start after it stops: its start has no bound", remedy, at="start")
    if stop.ns <= latest:
        raise problem("may start after it stops", "let its start end before its stop", at="start")


class _AlsoNumber:
    """Adds, to the JSON Schema of a distribution, a bare number."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        short: Mapping[str, Any] = {"type": "number", "minimum": 0}
        return {"anyOf": [short, handler(schema)]}


PacketDistribution = Annotated[
    Annotated[
        Constant[Packets]
        | Uniform[Packets]
        | Normal[Packets]
        | Exponential[Packets]
        | Weibull[Packets]
        | Pareto[Packets]
        | Lognormal[Packets]
        | Gamma[Packets]
        | LogLogistic[Packets]
        | InverseGaussian[Packets]
        | GeneralisedPareto[Packets]
        | Gev[Packets]
        | Wakeby[Packets]
        | Empirical[Packets],
        Field(discriminator="dist"),
    ],
    BeforeValidator(_distribution),
    _AlsoNumber(),
]
