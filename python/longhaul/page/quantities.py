"""Quantities with units, checked as one types."""

from typing import Any

from longhaul.page.refusals import RefusedError
from longhaul.scenario.units import Quantity, Rate, Share, Size, Span, UnitError
from longhaul.scenario.yaml_tree import resolve_scalar

KINDS: dict[str, type[Quantity]] = {"delay": Span, "rate": Rate, "loss": Share, "size": Size}


def read_quantity(kind: str, text: str) -> dict[str, Any]:
    """Whether ``text`` is a quantity of ``kind``, and which.

    The value is in ns, bit/s, bytes, or a share of one; ``canonical`` is its exact spelling. A parameter,
    such as ``$loss``, is right, and its value unknown.
    """
    if kind not in KINDS:
        raise RefusedError(400, f'there is no kind of quantity "{kind[:40]}"', remedy=", ".join(KINDS))
    if text.startswith("$") and text[1:].isidentifier():
        return {"ok": True, "value": None, "canonical": text, "message": None, "remedy": None}
    try:
        quantity = KINDS[kind].parse(resolve_scalar(text.strip()) if kind == "loss" else text.strip())
    except UnitError as error:
        return {
            "ok": False,
            "value": None,
            "canonical": None,
            "message": error.message,
            "remedy": error.remedy,
        }
    return {
        "ok": True,
        "value": value_of(quantity),
        "canonical": str(quantity),
        "message": None,
        "remedy": None,
    }


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
