"""Distributions of times, sizes and numbers of packets."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from longhaul.diagnostics import Code
from longhaul.scenario.model.amount import Amount, Packets, SignedAmount, amount_of
from longhaul.scenario.model.base import AlsoText, Column, FileName, Number, Strict, choice, problem
from longhaul.scenario.model.chosen import Chosen, Member
from longhaul.units.quantities import Size, Span

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
                raise problem(Code.ZERO_VALUE, "must be more than zero", "write a positive amount", at=key)
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
            raise problem(Code.BOUNDS_REVERSED, "is less than low", "write low first, high second", at="high")
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
            raise problem(
                Code.KEYS_CONFLICT, "gives its size twice", "write one of mean and scale", at="scale"
            )
        if self.mean is None and self.scale is None:
            raise problem(Code.KEY_MISSING, "has no size", "add mean or scale")
        return self


class Weibull(_Scaled[Amount], Generic[Amount]):
    """Weibull: P(X > x) = exp(-((x - location) / scale)^shape)."""

    dist: Literal["weibull"]
    location: Amount | None = None
    """The least amount; zero if left out."""

    @model_validator(mode="after")
    def _mean_above_the_least(self) -> "Weibull[Amount]":
        if self.mean is not None and amount_of(self.mean) <= amount_of(self.location):
            raise problem(
                Code.DISTRIBUTION_INVALID, "is not above the location", "write a larger mean", at="mean"
            )
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


def _mean_needs_a_shape_above_one(distribution: "_Scaled[Any]", name: str) -> None:
    if distribution.mean is not None and distribution.shape <= 1:
        message = f"a {name} of shape {distribution.shape:g} has no finite mean"
        raise problem(Code.DISTRIBUTION_INVALID, message, "write a shape above 1", at="shape")


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
            raise problem(
                Code.DISTRIBUTION_INVALID,
                "is less than minus gamma",
                "write a larger alpha or gamma",
                at="alpha",
            )
        if alpha and gamma and self.beta + self.delta <= 0:
            raise problem(
                Code.DISTRIBUTION_INVALID,
                "is not more than minus delta",
                "write a larger beta or delta",
                at="beta",
            )
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
            code = Code.KEY_MISSING if self.file is None else Code.KEYS_CONFLICT
            raise problem(code, "needs its values or a file of them", "write one of values and file")
        if self.column and not self.file:
            raise problem(Code.KEY_OUT_OF_PLACE, "belongs to a file", "write file: NAME too", at="column")
        return self


class Table(Drawn):
    """A table as netem's ``.dist`` files have it, around zero."""

    dist: Literal["table"]
    file: FileName
    sd: Span


DISTRIBUTIONS: Mapping[str, type[Drawn]] = {
    "constant": Constant,
    "uniform": Uniform,
    "normal": Normal,
    "exponential": Exponential,
    "weibull": Weibull,
    "pareto": Pareto,
    "lognormal": Lognormal,
    "gamma": Gamma,
    "log-logistic": LogLogistic,
    "inverse-gaussian": InverseGaussian,
    "generalised-pareto": GeneralisedPareto,
    "gev": Gev,
    "wakeby": Wakeby,
    "empirical": Empirical,
}


def members(amount: type, kinds: Iterable[str] = tuple(DISTRIBUTIONS)) -> dict[str, Member]:
    """Distributions of an amount, by ``dist``, each made on first use."""
    return {kind: partial(_of, DISTRIBUTIONS[kind], amount) for kind in kinds}


def _of(distribution: type[Drawn], amount: type) -> type[Drawn]:
    made: type[Drawn] = distribution.__class_getitem__(amount)  # type: ignore[assignment]
    return made


def normalised(value: Any) -> Any:
    """A single value is a constant distribution; refuses one of an unknown kind."""
    if not isinstance(value, dict):
        return {"dist": "constant", "value": value}
    choice(value, "dist", tuple(DISTRIBUTIONS), (), "distribution")
    return value


if TYPE_CHECKING:
    _Any = (
        Constant[Amount]
        | Uniform[Amount]
        | Normal[Amount]
        | Exponential[Amount]
        | Weibull[Amount]
        | Pareto[Amount]
        | Lognormal[Amount]
        | Gamma[Amount]
        | LogLogistic[Amount]
        | InverseGaussian[Amount]
        | GeneralisedPareto[Amount]
        | Gev[Amount]
        | Wakeby[Amount]
        | Empirical[Amount]
    )
    AnyTimes = _Any[Span]
    AnySizes = _Any[Size]
    AnyPackets = _Any[Packets]
else:
    # Members are made when a value needs them.
    AnyTimes = AnySizes = AnyPackets = Any


class _AlsoNumber:
    """Adds, to the JSON Schema of a distribution, a bare number."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        short: Mapping[str, Any] = {"type": "number", "minimum": 0}
        return {"anyOf": [short, handler(schema)]}


TimeDistribution = Annotated[
    AnyTimes, Chosen("dist", members(Span)), BeforeValidator(normalised), AlsoText(Span.pattern(), "18s")
]
SizeDistribution = Annotated[
    AnySizes, Chosen("dist", members(Size)), BeforeValidator(normalised), AlsoText(Size.pattern(), "10MB")
]
PacketDistribution = Annotated[
    AnyPackets, Chosen("dist", members(Packets)), BeforeValidator(normalised), _AlsoNumber()
]
AnyDistribution = AnyTimes | AnySizes | AnyPackets | Table
