"""Distributions of times, sizes and numbers of packets."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from longhaul.scenario.model.base import AlsoText, Column, FileName, Number, Strict, choice, problem
from longhaul.scenario.units import PARAMETER_PATTERN, Size, Span


@dataclass(frozen=True, order=True, slots=True)
class Packets:
    """A number of packets, or a mean of such numbers: bare, and not negative."""

    packets: float

    @classmethod
    def parse(cls, value: object) -> "Packets":
        """The number that ``value`` is; raises for everything else."""
        if isinstance(value, Packets):
            return value
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise problem("wants a number of packets", "write for example 100, without unit")
        if not 0 <= value <= 10**12:
            raise problem(f"{str(value)[:40]} is no number of packets", "write 0 to 10^12")
        return cls(float(value))

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.parse)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        number = {"type": "number", "minimum": 0}
        return {"anyOf": [number, {"type": "string", "pattern": f"^{PARAMETER_PATTERN}$"}]}


Amount = TypeVar("Amount", Span, Size, Packets)
Shape = Annotated[float, Number(at_least=0.05, at_most=1000, example="0.8")]


def amount_of(value: Span | Size | Packets) -> float:
    """``value`` in ns, bytes or packets."""
    if isinstance(value, Span):
        return float(value.ns)
    return float(value.bytes) if isinstance(value, Size) else value.packets


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
    """Weibull: P(X > x) = exp(-(x / scale)^shape)."""

    dist: Literal["weibull"]


class Pareto(_Scaled[Amount], Generic[Amount]):
    """Pareto, type I: P(X > x) = (scale / x)^shape from the scale on."""

    dist: Literal["pareto"]

    @model_validator(mode="after")
    def _finite(self) -> "Pareto[Amount]":
        if self.shape <= 1:
            message = f"a Pareto distribution of shape {self.shape:g} has no finite mean"
            raise problem(message, "write a shape above 1", at="shape")
        return self


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
    "empirical",
)


def _distribution(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"dist": "constant", "value": value}
    choice(value, "dist", DISTRIBUTIONS, (), "distribution")
    return value


TimeDistribution = Annotated[
    Annotated[
        Constant[Span]
        | Uniform[Span]
        | Normal[Span]
        | Exponential[Span]
        | Weibull[Span]
        | Pareto[Span]
        | Lognormal[Span]
        | Gamma[Span]
        | Empirical[Span],
        Field(discriminator="dist"),
    ],
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
        | Empirical[Size],
        Field(discriminator="dist"),
    ],
    BeforeValidator(_distribution),
    AlsoText(Size.pattern(), "10MB"),
]


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
        | Empirical[Packets],
        Field(discriminator="dist"),
    ],
    BeforeValidator(_distribution),
    _AlsoNumber(),
]
