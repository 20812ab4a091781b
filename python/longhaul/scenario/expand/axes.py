"""Axes of a sweep as text: each value as in the scenario, on one line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from longhaul.diagnostics import Code, printable
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import resolve_scalar
from longhaul.units.quantities import Quantity, Rate, Share, Size, Span, UnitError

if TYPE_CHECKING:
    from longhaul.scenario.model.sweep import Axis as AxisModel

DIGITS = 6
"""Significant digits of the values that a range makes."""
_PLAIN = re.compile(r"[A-Za-z0-9_./$][A-Za-z0-9_./$%+-]*")
_KINDS: tuple[type[Quantity], ...] = (Span, Rate, Size, Share)
_COLUMNS: Mapping[type[Quantity], tuple[str, str]] = {
    Span: ("ns", "ns"),
    Rate: ("bits_per_s", "bits_per_s"),
    Size: ("bytes", "bytes"),
    Share: ("share", "share"),
}
"""Attribute of each kind, and how names of columns end that hold it."""


@dataclass(frozen=True)
class Range:
    """What lies between two values of one kind."""

    kind: type[Quantity] | None
    """``None`` for bare numbers."""
    low: Fraction
    high: Fraction
    logarithmic: bool
    whole: bool
    """Whether values are whole numbers, as both ends are."""

    def at(self, position: float) -> str:
        """The value at ``position`` from 0 (the lower end) to 1, with :data:`DIGITS` digits."""
        if position in (0, 1):
            amount = self.high if position else self.low
        elif self.logarithmic:
            low, high = float(self.low), float(self.high)
            amount = _rounded(low * math.exp(position * math.log(high / low)))
        else:
            amount = _rounded(float(self.low) + position * float(self.high - self.low))
        if self.kind is Share:
            return str(Share(amount))
        if self.kind is None and not self.whole:
            return f"{Decimal(amount.numerator) / Decimal(amount.denominator):f}"
        return str(self.kind(round(amount))) if self.kind else str(round(amount))  # type: ignore[call-arg]


@dataclass(frozen=True)
class Axis:
    """One axis."""

    name: str
    values: tuple[str, ...]
    """In the order of the file; empty for a range without steps."""
    range: Range | None = None

    def at(self, position: float) -> str:
        """The value at ``position`` from 0 to 1 (without 1 itself, if the axis is a list)."""
        if self.range is not None:
            return self.range.at(position)
        return self.values[min(int(position * len(self.values)), len(self.values) - 1)]


def axes_of(models: Mapping[str, AxisModel], *, grid: bool) -> tuple[Axis, ...]:
    """The axes; raises :class:`ScenarioValueError`, whose path begins with the axis' name."""
    return tuple(_axis(name, model, grid=grid) for name, model in models.items())


def _axis(name: str, model: AxisModel, *, grid: bool) -> Axis:
    if model.values is not None:
        texts = tuple(text_of(value) for value in model.values)
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise ScenarioValueError(
                Code.AXIS_INVALID, (name,), f"has {printable(twice)} twice", "remove one of them"
            )
        return Axis(name, texts)
    span = _range(name, model)
    if not grid:
        return Axis(name, (), span)
    if model.steps is None:
        message = "a range in a grid has steps"
        raise ScenarioValueError(Code.AXIS_INVALID, (name,), message, "add steps: 5, or design: random")
    positions = [step / (model.steps - 1) for step in range(model.steps)]
    return Axis(name, tuple(dict.fromkeys(span.at(position) for position in positions)), span)


def _range(name: str, model: AxisModel) -> Range:
    ends = (model.low, model.to)
    kind = None
    if any(isinstance(end, str) for end in ends):
        kind = next((each for each in _KINDS if all(_parses(each, end) for end in ends)), None)
        if kind is None:
            message = f"{printable(str(model.low))} and {printable(str(model.to))} are of different kinds"
            raise ScenarioValueError(
                Code.AXIS_INVALID, (name,), message, "write {from: 1ms, to: 9ms, steps: 3}"
            )
    low, high = (_amount(kind, end) for end in ends)
    if low >= high:
        steps = "" if model.steps is None else f", steps: {model.steps}"
        raise ScenarioValueError(
            Code.AXIS_INVALID,
            (name,),
            "does not go up",
            f"write {{from: {model.to}, to: {model.low}{steps}}}",
        )
    logarithmic = model.scale == "log"
    if logarithmic and low <= 0:
        raise ScenarioValueError(
            Code.AXIS_INVALID, (name, "from"), "a logarithmic range cannot begin there", "begin above 0"
        )
    whole = kind is None and all(isinstance(end, int) for end in ends)
    return Range(kind, low, high, logarithmic, whole)


def _parses(kind: type[Quantity], end: object) -> bool:
    try:
        kind.parse(end)
    except UnitError:
        return False
    return True


def _amount(kind: type[Quantity] | None, end: Any) -> Fraction:
    return Fraction(getattr(kind.parse(end), _COLUMNS[kind][0])) if kind else Fraction(end)


def _rounded(value: float) -> Fraction:
    return Fraction(f"{value:.{DIGITS}g}")


def text_of(value: Any) -> str:
    """A value on one line, as YAML would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text_of(key)}: {text_of(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(text_of(each) for each in value) + "]"
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and isinstance(resolve_scalar(value), str)
        return value if is_plain else json.dumps(value, ensure_ascii=False)
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def numbers_of(axis: str, texts: Sequence[str]) -> tuple[str, list[int | float]] | None:
    """The name of a column with its unit, and ``texts`` in it; ``None`` unless all are of one kind."""
    plain = [resolve_scalar(text) for text in texts]
    column = column_of(axis)
    if all(isinstance(each, int | Decimal) and not isinstance(each, bool) for each in plain):
        whole = all(isinstance(each, int) for each in plain)
        return column, [int(str(each)) if whole else float(str(each)) for each in plain]
    for kind in _KINDS:
        if all(_parses(kind, each) for each in plain):
            attribute, ending = _COLUMNS[kind]
            amounts = [getattr(kind.parse(each), attribute) for each in plain]
            return f"{column}_{ending}", [float(a) if kind is Share else int(a) for a in amounts]
    return None


def value_of(axis: str, text: str, *, is_number: bool) -> int | float | str:
    """``text`` as it is in the column of an axis, which has numbers or words."""
    numbers = numbers_of(axis, [text]) if is_number else None
    # Text that could be read as something else is quoted, as in YAML.
    return numbers[1][0] if numbers else str(json.loads(text)) if text.startswith('"') else text


def column_of(axis: str) -> str:
    """How the column of an axis is called: ``axis_links_wan_loss``."""
    return "axis_" + re.sub(r"[^A-Za-z0-9]", "_", axis)
