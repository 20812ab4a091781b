"""Link models of a plan in words, short enough for a cell of a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.units.configured import size
from longhaul.units.text import quantity_text

_UNITS = {"_ns": "ns", "_bits_per_s": "bit/s", "_bytes": "bytes", "_packets": "packets"}
_NAMES = ("model", "algorithm", "dist", "kind")
_SHARES = ("probability", "mean", "loss_good", "loss_bad", "good_to_bad", "bad_to_good")
_MOST_VALUES = 4
"""Of a list; a longer one is counted."""


def model_text(model: Any) -> str:
    """``none``, ``38 ms``, ``gilbert-elliott (mean 1 %, burst 3)``; a dash for nothing."""
    if model is None:
        return "-"
    if not isinstance(model, Mapping):
        return value_text("", model)
    name = next((str(model[key]) for key in _NAMES if key in model), "")
    rest = {key: each for key, each in model.items() if key not in _NAMES and each is not None}
    if name in ("constant", "independent") and len(rest) == 1:
        return value_text(*next(iter(rest.items())))
    parts = ", ".join(_named_text(key, each) for key, each in rest.items())
    return f"{name} ({parts})" if name and parts else name or parts or "-"


def value_text(key: str, value: Any) -> str:
    """A value with the unit that its key ends in; shares in percent, long lists counted."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, Mapping):
        return model_text(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        shown = ", ".join(value_text(key, each) for each in value)
        return shown if len(value) <= _MOST_VALUES else f"{len(value)} values"
    if isinstance(value, str):
        return value
    unit = _UNITS.get(_ending(key))
    if unit == "packets":
        return f"{value:g} packets"
    if unit == "bytes":
        return size(value)
    if unit is None and key in _SHARES and 0 <= value <= 1:
        unit = "share"
    return quantity_text(value, unit)


def _named_text(key: str, value: Any) -> str:
    name = f"_{key}".removesuffix(_ending(key)).strip("_").replace("_", " ")
    text = value_text(key, value)
    return text if name in ("", "limit", "discipline") else f"{name} {text}"


def _ending(key: str) -> str:
    return next((ending for ending in _UNITS if f"_{key}".endswith(ending)), "")
