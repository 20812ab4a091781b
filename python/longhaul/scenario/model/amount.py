"""Amounts from distributions: times, sizes and numbers of packets."""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import problem
from longhaul.units.quantities import PARAMETER_PATTERN, Size, Span, UnitError


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
            raise problem(
                Code.WRONG_TYPE, "must be a number of packets", "write for example 100, without unit"
            )
        if not 0 <= value <= 10**12:
            raise problem(
                Code.OUT_OF_RANGE, f"{str(value)[:40]} is not a number of packets", "write 0 to 10^12"
            )
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


@dataclass(frozen=True, slots=True)
class Signed(Generic[Amount]):
    """An amount, or the same below zero: ``-3ms``."""

    magnitude: Amount
    negative: bool = False


class _Written:
    """How amounts with a sign are written."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (kind,) = get_args(source)

        def validate(value: object, _unsigned: Any) -> Signed[Any]:
            return value if isinstance(value, Signed) else _signed(kind, value)

        return core_schema.no_info_wrap_validator_function(validate, handler.generate_schema(kind))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        unsigned = handler(schema)
        if "pattern" in unsigned:
            return {**unsigned, "pattern": "^-?" + unsigned["pattern"].removeprefix("^")}
        short = {"type": "string", "pattern": f"^{PARAMETER_PATTERN}$"}
        return {"anyOf": [{"type": "number"}, short]}


SignedAmount = Annotated[Signed[Amount], _Written()]


def _signed(kind: Any, value: object) -> Signed[Any]:
    if isinstance(value, str) and value.startswith("-"):
        unsigned: object = value[1:]
    elif isinstance(value, int | Decimal) and not isinstance(value, bool) and value < 0:
        unsigned = -value
    else:
        return Signed(kind.parse(value))
    try:
        return Signed(kind.parse(unsigned), negative=True)
    except UnitError as error:
        message, remedy = (re.sub('"(?=[0-9.])', '"-', text) for text in (error.message, error.remedy))
        raise UnitError(error.code, message, remedy) from None


def amount_of(value: Span | Size | Packets | Signed[Any] | None) -> float:
    """``value`` in ns, bytes or packets; 0 if there is none."""
    match value:
        case None:
            return 0.0
        case Signed():
            return -amount_of(value.magnitude) if value.negative else amount_of(value.magnitude)
        case Span():
            return float(value.ns)
        case Size():
            return float(value.bytes)
    return value.packets
