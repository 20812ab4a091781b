"""Quantities with mandatory units, as ``8MiB`` or ``8 MiB``: exact integers inside, one spelling outside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from longhaul.diagnostics import Code, printable

PARAMETER_PATTERN = r"\$[A-Za-z_][A-Za-z0-9_]*"
_AMOUNT = re.compile(r"(?P<number>[0-9]{1,18}(\.[0-9]{1,18})?|\.[0-9]{1,18}) ?(?P<unit>(?![0-9,.])\S*)")


class UnitError(ValueError):
    """Text that is not a quantity of the kind wanted."""

    def __init__(self, code: Code, message: str, remedy: str) -> None:
        """Say ``message`` and what to write instead."""
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.message = message
        self.remedy = remedy


class Quantity:
    """What the kinds have in common: parsing, printing, and their place in a model."""

    __slots__ = ()
    what: ClassVar[str]
    units: ClassVar[Mapping[str, int]]
    """Factor of each unit, from the smallest to the largest."""
    misspelt: ClassVar[Mapping[str, str]]
    limit: ClassVar[int]
    example: ClassVar[str]
    usual: ClassVar[tuple[str, ...]]
    """Units that are proposed for a number without one."""

    @classmethod
    def parse(cls, value: object) -> Self:
        """The quantity that ``value`` spells; raises :class:`UnitError`."""
        return cls(_amount(cls, value))  # type: ignore[call-arg]  # each kind is a dataclass of one integer

    @classmethod
    def pattern(cls) -> str:
        """A regular expression for editors; parsing is stricter."""
        units = "|".join(sorted(map(re.escape, cls.units), key=len, reverse=True))
        return rf"^({PARAMETER_PATTERN}|[0-9]*\.?[0-9]+ ?({units}))$"

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        def validate(value: object) -> Quantity:
            return value if isinstance(value, cls) else cls.parse(value)

        return core_schema.no_info_plain_validator_function(
            validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            "type": "string",
            "pattern": cls.pattern(),
            "examples": [cls.example],
            "description": cls.what,
        }


@dataclass(frozen=True, order=True, slots=True)
class Span(Quantity):
    """A length of time, in whole nanoseconds."""

    ns: int

    what: ClassVar[str] = "a time"
    units: ClassVar[Mapping[str, int]] = {
        "ns": 1,
        "us": 10**3,
        "ms": 10**6,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3600 * 10**9,
    }
    misspelt: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("nsec", "nanosecond", "nanoseconds"), "ns"),
        **dict.fromkeys(("usec", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), "us"),
        **dict.fromkeys(("msec", "msecs", "millisecond", "milliseconds"), "ms"),
        **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
        **dict.fromkeys(("m", "mins", "minute", "minutes"), "min"),
        **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    }
    limit: ClassVar[int] = 200 * 86_400 * 10**9
    example: ClassVar[str] = "38ms"
    usual: ClassVar[tuple[str, ...]] = ("ms", "s")

    def __str__(self) -> str:
        """The exact value in the largest unit that keeps it above one: ``250us``, ``1.5s``."""
        return _decimal(self.ns, {unit: self.units[unit] for unit in ("ns", "us", "ms", "s")}, zero="0s")


@dataclass(frozen=True, order=True, slots=True)
class Rate(Quantity):
    """Bits per second; at least 1."""

    bits_per_s: int

    what: ClassVar[str] = "a rate"
    units: ClassVar[Mapping[str, int]] = {
        "bit": 1,
        "kbit": 10**3,
        "Mbit": 10**6,
        "Gbit": 10**9,
        "Tbit": 10**12,
        "B/s": 8,
        "kB/s": 8 * 10**3,
        "MB/s": 8 * 10**6,
        "GB/s": 8 * 10**9,
        "KiB/s": 8 << 10,
        "MiB/s": 8 << 20,
        "GiB/s": 8 << 30,
    }
    misspelt: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("bps", "b/s", "b", "bit/s", "bits", "baud"), "bit"),
        **dict.fromkeys(("k", "kb", "kbps", "kb/s", "kbit/s", "kbits", "kibit"), "kbit"),
        **dict.fromkeys(("m", "mb", "mbps", "mb/s", "mbit/s", "mbits", "mbit"), "Mbit"),
        **dict.fromkeys(("g", "gb", "gbps", "gb/s", "gbit/s", "gbits", "gbit"), "Gbit"),
        **dict.fromkeys(("t", "tb", "tbps", "tb/s", "tbit/s", "tbits", "tbit"), "Tbit"),
        "MB": "MB/s",
        "GB": "GB/s",
        "kB": "kB/s",
        "KB": "kB/s",
        "KB/s": "kB/s",
        "MBps": "MB/s",
        "GBps": "GB/s",
        "B": "B/s",
        "Bps": "B/s",
    }
    limit: ClassVar[int] = 10**14
    example: ClassVar[str] = "10Gbit"
    usual: ClassVar[tuple[str, ...]] = ("Mbit", "Gbit")

    def __str__(self) -> str:
        """The exact value in the largest unit that keeps it above one: ``1.5Mbit``."""
        return _decimal(self.bits_per_s, {unit: self.units[unit] for unit in ("bit", "kbit", "Mbit", "Gbit")})


@dataclass(frozen=True, order=True, slots=True)
class Size(Quantity):
    """Whole bytes."""

    bytes: int

    what: ClassVar[str] = "a size"
    units: ClassVar[Mapping[str, int]] = {
        "B": 1,
        "kB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "TB": 10**12,
        "KiB": 1 << 10,
        "MiB": 1 << 20,
        "GiB": 1 << 30,
        "TiB": 1 << 40,
    }
    misspelt: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("b", "byte", "bytes"), "B"),
        **dict.fromkeys(("k", "kb"), "kB"),
        **dict.fromkeys(("m", "mb"), "MB"),
        **dict.fromkeys(("g", "gb"), "GB"),
        **dict.fromkeys(("t", "tb"), "TB"),
        "kib": "KiB",
        "mib": "MiB",
        "gib": "GiB",
    }
    limit: ClassVar[int] = 10**16
    example: ClassVar[str] = "64MiB"
    usual: ClassVar[tuple[str, ...]] = ("B", "MiB")

    def __str__(self) -> str:
        """The exact value: binary units where they fit exactly, decimal ones otherwise."""
        for unit in ("TiB", "GiB", "MiB", "KiB"):
            if self.bytes and self.bytes % self.units[unit] == 0:
                return f"{self.bytes // self.units[unit]}{unit}"
        if self.bytes < 10_000:
            return f"{self.bytes}B"
        return _decimal(self.bytes, {unit: self.units[unit] for unit in ("B", "kB", "MB", "GB", "TB")})


@dataclass(frozen=True, order=True, slots=True)
class Distance(Quantity):
    """Whole metres."""

    m: int

    what: ClassVar[str] = "a distance"
    units: ClassVar[Mapping[str, int]] = {"m": 1, "km": 1000}
    misspelt: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("metre", "metres", "meter", "meters"), "m"),
        **dict.fromkeys(("k", "kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    }
    limit: ClassVar[int] = 10**9
    example: ClassVar[str] = "550km"
    usual: ClassVar[tuple[str, ...]] = ("km",)

    def __str__(self) -> str:
        """The exact value: ``550km``, ``800m``."""
        return _decimal(self.m, self.units)


@dataclass(frozen=True, order=True, slots=True)
class Share(Quantity):
    """A share of one, exact."""

    share: Fraction

    what: ClassVar[str] = "a share"
    example: ClassVar[str] = "0.02%"

    @classmethod
    def parse(cls, value: object) -> Self:
        """``0.02%`` or a decimal fraction below one; raises :class:`UnitError`."""
        shown = printable(str(value))
        if isinstance(value, Decimal):
            number, percent = value, False
        else:
            match = _AMOUNT.fullmatch(str(value).strip()) if not isinstance(value, bool) else None
            if not match or match["unit"] not in ("", "%"):
                remedy = 'write for example "0.1%" or "0.001"'
                if match and match["unit"] and not re.search("[0-9]", match["unit"]):
                    remedy = f'write "{match["number"]}%"'
                raise UnitError(Code.QUANTITY_MALFORMED, f'"{shown}" is not a share', remedy)
            number, percent = Decimal(match["number"]), match["unit"] == "%"
        if not number.is_finite() or number < 0:
            raise UnitError(Code.NEGATIVE_VALUE, f'"{shown}" is negative', "a share lies between 0% and 100%")
        exponent = number.as_tuple().exponent
        if not percent and (exponent == 0 or number >= 1):
            hint = f'write "{number:f}%"' if number.adjusted() < 6 else "a share lies between 0% and 100%"
            if 0 < number < 100:
                hint += f' or "{number / 100:f}"'
            raise UnitError(Code.UNIT_MISSING, f'"{shown}" has no unit', hint)
        if number and number.adjusted() < -18:
            raise UnitError(Code.QUANTITY_TOO_FINE, f'"{shown}" is smaller than one in 10^18', "write 0%")
        share = Fraction(number) / (100 if percent else 1)
        if share > 1:
            raise UnitError(
                Code.OUT_OF_RANGE, f'"{shown}" is more than 100%', "a share lies between 0% and 100%"
            )
        return cls(share)

    @classmethod
    def pattern(cls) -> str:
        """A regular expression for editors; parsing is stricter."""
        return rf"^({PARAMETER_PATTERN}|[0-9]*\.?[0-9]+ ?%|0?\.[0-9]+)$"

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = {"type": "string", "pattern": cls.pattern()}
        number = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
        return {"anyOf": [text, number], "examples": [cls.example], "description": cls.what}

    def __float__(self) -> float:
        """The nearest floating-point number."""
        return float(self.share)

    def __str__(self) -> str:
        """The exact value in per cent."""
        percent = self.share * 100
        text = f"{Decimal(percent.numerator) / Decimal(percent.denominator):f}"
        return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def _amount(kind: type[Quantity], value: object) -> int:
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        raise UnitError(Code.WRONG_TYPE, f"must be {kind.what}", f'write for example "{kind.example}"')
    text = str(value)
    shown = printable(text)
    if text.startswith("-"):
        raise UnitError(
            Code.NEGATIVE_VALUE,
            f'"{shown}" is negative',
            f'write {kind.what} of zero or more, like "{kind.example}"',
        )
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        comma = re.fullmatch(r"([0-9]+),([0-9]+) ?([A-Za-z/]*)", text)
        remedy = (
            f'write "{comma[1]}.{comma[2]}{comma[3]}"' if comma else f'write for example "{kind.example}"'
        )
        raise UnitError(Code.QUANTITY_MALFORMED, f'"{shown}" is not {kind.what}', remedy)
    number, unit = match["number"], match["unit"]
    if unit not in kind.units:
        raise UnitError(*_unit_advice(kind, shown, number, unit))
    amount = Fraction(number) * kind.units[unit]
    smallest = next(iter(kind.units))
    if amount.denominator != 1:
        raise UnitError(
            Code.QUANTITY_TOO_FINE,
            f'"{shown}" is not a whole number of {smallest}',
            f"the finest step is 1{smallest}",
        )
    if amount > kind.limit:
        raise UnitError(
            Code.OUT_OF_RANGE,
            f'"{shown}" is more than Longhaul supports',
            f"the most is {kind(kind.limit)}",  # type: ignore[call-arg]
        )
    if kind is Rate and amount == 0:
        raise UnitError(
            Code.ZERO_VALUE,
            f'"{shown}" is not a rate',
            "a link that carries nothing is down: write up: false",
        )
    return int(amount)


def _unit_advice(kind: type[Quantity], shown: str, number: str, unit: str) -> tuple[Code, str, str]:
    if not unit:
        examples = kind.usual
        if Fraction(number) == 0:
            return (
                Code.UNIT_MISSING,
                f'"{shown}" has no unit',
                f'write "0{examples[-1] if kind is Span else examples[0]}"',
            )
        remedy = " or ".join(
            f'{"write " if not position else ""}"{number}{each}"' for position, each in enumerate(examples)
        )
        return Code.UNIT_MISSING, f'"{shown}" has no unit', remedy
    meant = kind.misspelt.get(unit) or kind.misspelt.get(unit.lower())
    if meant is None:
        meant = next((each for each in kind.units if each.lower() == unit.lower()), None)
    if meant:
        return (
            Code.UNIT_UNKNOWN,
            f'"{shown}": there is no unit "{printable(unit)}"',
            f'write "{number}{meant}"',
        )
    return (
        Code.UNIT_UNKNOWN,
        f'"{shown}": there is no unit "{printable(unit)}" of {kind.what[2:]}',
        f"units are {', '.join(kind.units)}",
    )


def _decimal(amount: int, units: Mapping[str, int], *, zero: str | None = None) -> str:
    """``amount`` exactly, in the largest of ``units`` (powers of ten) that keeps it at one or more."""
    if amount == 0 and zero is not None:
        return zero
    unit, factor = next(iter(units.items()))
    for each, size in units.items():
        if amount >= size:
            unit, factor = each, size
    whole, rest = divmod(amount, factor)
    digits = len(str(factor)) - 1
    fraction = f".{rest:0{digits}d}".rstrip("0") if rest else ""
    return f"{whole}{fraction}{unit}"
