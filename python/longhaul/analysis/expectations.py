"""Expectations of a scenario, held against what a run measured."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any


def evaluate(expectations: Iterable[Mapping[str, Any]], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each expectation with its value, whether it is met, and why not."""
    return [_evaluate(each, found) for each in expectations]


def _evaluate(expectation: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    metric = expectation["metric"]
    value = found.get(metric)
    why = None
    if metric not in found:
        near = get_close_matches(metric, list(found), n=1)
        why = f'nothing measured "{metric}"' + (f'; did you mean "{near[0]}"?' if near else "")
    elif value is None:
        why = "was not measured"
    elif expectation.get("equals") is not None and value != expectation["equals"]:
        why = f"is {value}, not {expectation['equals']}"
    elif expectation.get("min") is not None and value < expectation["min"]:
        why = f"is {value}, less than {expectation['min']}"
    elif expectation.get("max") is not None and value > expectation["max"]:
        why = f"is {value}, more than {expectation['max']}"
    otherwise = expectation.get("else") or "fail"
    return {**expectation, "else": otherwise, "value": value, "met": why is None, "why": why}
