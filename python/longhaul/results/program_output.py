"""Metrics that programs print: numbers from lines of their standard output."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]

_LONGEST_LINE = 1 << 20
"""Bytes of a line that are read; the rest of a longer one is skipped."""
_TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "last": lambda values: values[-1],
    "first": lambda values: values[0],
    "min": min,
    "max": max,
    "mean": lambda values: math.fsum(values) / len(values),
    "sum": math.fsum,
    "p50": lambda values: _quantile(values, 0.5),
    "p99": lambda values: _quantile(values, 0.99),
}


def _quantile(values: Sequence[float], share: float) -> float:
    """The least value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def measure(log: Path, wanted: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
    """The value, unit and number of values of each metric in a program's output.

    ``wanted`` has for each metric its ``pattern`` or ``json`` key, its ``unit`` and which value to ``take``.
    The value is ``None`` if no line has one, or if there is no such file.
    """
    readers = {name: _reader(name, each) for name, each in wanted.items()}
    found: dict[str, list[float]] = {name: [] for name in wanted}
    for line in _lines(log):
        for name, read in readers.items():
            found[name] += read(line)
    return {
        name: {
            "value": _TAKE[wanted[name]["take"]](values) if values else None,
            "unit": wanted[name]["unit"],
            "values": len(values),
        }
        for name, values in found.items()
    }


def group_of(pattern: "re.Pattern[str]", metric: str) -> str | int | None:
    """The group of a pattern that has the value: ``value``, the metric's name, or the only one."""
    for name in ("value", metric):
        if name in pattern.groupindex:
            return name
    return 1 if pattern.groups == 1 else None


def _reader(name: str, wanted: Json) -> Callable[[str], list[float]]:
    if wanted.get("json") is not None:
        path = wanted["json"].split(".")
        return lambda line: _numbers([_in_json(line, path)])
    pattern = re.compile(wanted["pattern"])
    group = group_of(pattern, name) or 0
    return lambda line: _numbers(match[group] for match in pattern.finditer(line))


def _in_json(line: str, path: Sequence[str]) -> object:
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(line)
    except ValueError:
        return None
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _numbers(values: Any) -> list[float]:
    """The values that are finite numbers."""
    found = []
    for value in values:
        if value is None or isinstance(value, bool):
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            found.append(number)
    return found


def _lines(log: Path) -> Iterator[str]:
    try:
        with log.open("rb") as file:
            is_rest = False
            while line := file.readline(_LONGEST_LINE):
                if not is_rest:
                    yield line.decode(errors="replace").rstrip("\r\n")
                is_rest = not line.endswith(b"\n")
    except OSError:
        return
