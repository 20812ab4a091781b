"""Quantities with units in requests, some of them checked while the user types."""

from typing import TypeVar

from pydantic_core import PydanticCustomError

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.refusals import RefusedError
from longhaul.page.responses import texts
from longhaul.scenario.model.queue import parse_limit
from longhaul.scenario.syntax.yaml_tree import resolve_scalar
from longhaul.units.quantities import Quantity, Rate, Share, Size, Span, UnitError

Kind = TypeVar("Kind", Rate, Span)

KINDS: dict[str, type[Quantity]] = {"delay": Span, "rate": Rate, "loss": Share, "size": Size}


def read_quantity(kind: str, text: str) -> texts.Quantity:
    """Whether ``text`` is a quantity of ``kind``, and which.

    The value is in ns, bit/s, bytes, or a share of one; ``canonical`` is its exact spelling. A parameter,
    such as ``$loss``, is right, and its value unknown; so is that of a queue's limit.
    """
    if kind not in (*KINDS, "queue"):
        remedy = ", ".join((*KINDS, "queue"))
        raise RefusedError(
            Code.PAGE_REQUEST, 400, f'there is no kind of quantity "{kind[:40]}"', remedy=remedy
        )
    if text.startswith("$") and text[1:].isidentifier():
        return _right(None, text)
    try:
        if kind == "queue":
            parse_limit(text.strip())
            return _right(None, text.strip())
        quantity = KINDS[kind].parse(resolve_scalar(text.strip()) if kind == "loss" else text.strip())
    except UnitError as error:
        return _wrong(error.message, error.remedy)
    except PydanticCustomError as error:
        told = error.context or {}
        return _wrong(str(told.get("message", error)), told.get("remedy"))
    return _right(value_of(quantity), str(quantity))


def parse_quantity(kind: type[Kind], text: str) -> Kind:
    """``text`` as a quantity. Raises LonghaulError if it is none."""
    try:
        return kind.parse(text)
    except UnitError as error:
        raise LonghaulError(error.code, error.message, remedy=error.remedy, exit_code=2) from None


def _right(value: float | None, canonical: str) -> texts.Quantity:
    return {"ok": True, "value": value, "canonical": canonical, "message": None, "remedy": None}


def _wrong(message: str, remedy: str | None) -> texts.Quantity:
    return {"ok": False, "value": None, "canonical": None, "message": message, "remedy": remedy}


def value_of(quantity: Quantity) -> int | float:
    """In ns, bit/s, bytes, or a share of one."""
    match quantity:
        case Span():
            return quantity.ns
        case Rate():
            return quantity.bits_per_s
        case Size():
            return quantity.bytes
        case Share():
            return float(quantity)
    raise AssertionError(quantity)
