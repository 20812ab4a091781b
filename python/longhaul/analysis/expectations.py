"""Expectations of a scenario, evaluated against the measurements of a run."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from longhaul.units.text import quantity_text


def evaluate(expectations: Iterable[Mapping[str, Any]], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each expectation with its value, whether it passed, and why not."""
    return [_evaluate(each, found) for each in expectations]


def _evaluate(expectation: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    metric = expectation["metric"]
    value = found.get(metric)
    why = None
    if metric not in found:
        near = get_close_matches(metric, list(found), n=1)
        why = f'nothing measured "{metric}"' + (f'; did you mean "{near[0]}"?' if near else "")
    elif value is None:
        why = "not measured"
    else:
        why = _beyond(expectation, value)
    otherwise = expectation.get("else") or "fail"
    return {**expectation, "else": otherwise, "value": value, "met": why is None, "why": why}


def _beyond(expectation: Mapping[str, Any], value: Any) -> str | None:
    """Which bound a measured value misses, with units; None if it misses none."""
    words = (("equals", "expected"), ("min", "expected at least"), ("max", "expected at most"))
    misses = {
        "equals": lambda bound: value != bound,
        "min": lambda bound: value < bound,
        "max": lambda bound: value > bound,
    }
    for key, word in words:
        bound = expectation.get(key)
        if bound is not None and misses[key](bound):
            texts = [quantity_text(each, expectation.get("unit")) for each in (value, bound)]
            if texts[0] == texts[1]:
                # Three digits do not tell them apart.
                texts = [f"{each:.9g}" if isinstance(each, float) else str(each) for each in (value, bound)]
            return f"{texts[0]}, {word} {texts[1]}"
    return None
