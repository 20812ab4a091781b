"""Sweeps: axes and repetitions."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import AlsoText, Count, OneOrList, Strict, Text, problem
from longhaul.scenario.model.metrics import DEFAULT_METRICS
from longhaul.units.quantities import Share

AXIS_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}"
MOST_REPEATS = 10**6

_UNTIL = re.compile(r"(?P<metric>\S+)\s*(±|\+/?-)\s*(?P<within>\S+?)(,?\s+at most (?P<most>[0-9]{1,9}))?")


def _axis_value(value: Any) -> Any:
    if value is None or isinstance(value, list):
        raise problem(
            Code.AXIS_INVALID,
            "an axis has single values, or models",
            "write for example [cubic, {algorithm: multcp}]",
        )
    return value


def _axis(value: Any) -> Any:
    return {"values": value} if isinstance(value, list) else value


class _AlsoList:
    """Adds the plain list of values to the JSON Schema."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        value = {"type": ["string", "number", "boolean", "object"]}
        values = {"type": "array", "minItems": 1, "items": value}
        return {"anyOf": [values, handler(schema)]}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(source)


Bound = Annotated[str | int | Decimal, Field(union_mode="left_to_right")]


class Axis(Strict):
    """The values of one axis: a list, or a range."""

    values: (
        Annotated[tuple[Annotated[Any, BeforeValidator(_axis_value)], ...], Field(strict=False, min_length=1)]
        | None
    ) = None
    """Single values or, where the key takes them, models."""
    low: Annotated[Bound | None, Field(alias="from")] = None
    to: Bound | None = None
    steps: Annotated[int, Count(at_least=2, at_most=10**6)] | None = None
    """How many values the range has in a grid, both ends among them."""
    scale: Literal["linear", "log"] = "linear"
    """Whether equal steps are equal differences or equal ratios."""

    instead: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("min", "start"), "write from: 10ms"),
        **dict.fromkeys(("max", "stop"), "write to: 100ms"),
    }

    @model_validator(mode="after")
    def _list_or_range(self) -> "Axis":
        if (self.values is None) == (self.low is None and self.to is None):
            raise problem(
                Code.AXIS_INVALID,
                "is neither a list nor a range",
                "write [10ms, 20ms] or {from: 10ms, to: 20ms, steps: 3}",
            )
        if self.values is None and (self.low is None or self.to is None):
            raise problem(
                Code.AXIS_INVALID,
                "a range has two ends",
                "write for example {from: 10ms, to: 20ms, steps: 3}",
            )
        return self


def _until(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _UNTIL.fullmatch(value.strip())
    if not match:
        raise problem(
            Code.SWEEP_DESIGN,
            f'"{value[:60]}" is not a rule to stop by',
            'write for example "flows.bulk.goodput ±2%"',
        )
    most = {"at_most": int(match["most"])} if match["most"] else {}
    return {"metric": match["metric"], "within": match["within"], **most}


class Until(Strict):
    """Seeds are added until half of the 95 % confidence interval is within a share of the mean."""

    metric: Annotated[Text, Field(examples=["flows.bulk.goodput"])]
    """By its name, or the end of its name: then every metric that ends so must be narrow."""
    within: Annotated[Share, Field(examples=["2%"])]
    at_most: Annotated[int, Count(at_least=2, at_most=MOST_REPEATS)] = 100
    """Seeds of a variant, however wide its interval stays."""

    @model_validator(mode="after")
    def _reachable(self) -> "Until":
        if self.within.share == 0:
            raise problem(Code.SWEEP_DESIGN, "must be above zero", "write for example 2%", at="within")
        return self


class Sweep(Strict):
    """Axes for ``longhaul sweep``: parameters, or keys of the scenario by their path."""

    axes: Annotated[
        dict[
            Annotated[str, StringConstraints(pattern=f"^{AXIS_PATTERN}$")],
            Annotated[Axis, BeforeValidator(_axis), _AlsoList()],
        ],
        Field(min_length=1),
    ]
    design: Literal["grid", "random", "latin-hypercube"] = "grid"
    """Every combination of the axes' values; or so many ``points`` drawn from them."""
    points: Annotated[int, Count(at_least=1, at_most=10**7)] | None = None
    repeat: Annotated[int, Count(at_least=1, at_most=MOST_REPEATS)] | None = None
    """Seeds of each variant; with ``until``, at first. One if left out, or five with ``until``."""
    seeds: Literal["paired", "independent"] = "paired"
    """Whether a repetition has the same seed in every variant."""
    metrics: Annotated[tuple[Text, ...], OneOrList(), Field(strict=False, min_length=1)] = DEFAULT_METRICS
    """Patterns of the metrics in the summary."""
    until: (
        Annotated[Until, BeforeValidator(_until), AlsoText(".+(±|\\+/?-).+", "flows.bulk.goodput ±2%")] | None
    ) = None

    @model_validator(mode="after")
    def _consistent(self) -> "Sweep":
        drawn = self.design != "grid"
        if drawn and self.points is None:
            raise problem(Code.SWEEP_DESIGN, 'has no "points"', "write how many to draw: points: 100")
        if not drawn and self.points is not None:
            remedy = "remove it, or write design: latin-hypercube"
            raise problem(
                Code.SWEEP_DESIGN, "a grid has as many points as its axes make", remedy, at="points"
            )
        if self.until and self.repeats > self.until.at_most:
            remedy = f"write until: {{..., at_most: {self.repeats}}} or more"
            raise problem(Code.SWEEP_DESIGN, "is greater than at_most of until", remedy, at="repeat")
        return self

    @property
    def repeats(self) -> int:
        """Seeds of each variant at first."""
        return self.repeat or (5 if self.until else 1)
