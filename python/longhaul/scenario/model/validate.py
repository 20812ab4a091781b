"""Validation: from the tree to the models, and from pydantic's errors to diagnostics."""

import re
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from longhaul.diagnostics import Code, Diagnostic, Span, printable
from longhaul.scenario.model.base import Findings
from longhaul.scenario.syntax.problems import ENOUGH_PROBLEMS, did_you_mean, path_text
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf, Node, Path, Source, follow, plain
from longhaul.units.quantities import UnitError

Model = TypeVar("Model", bound=BaseModel)

_CODES = {
    "missing": Code.KEY_MISSING,
    "string_pattern_mismatch": Code.NAME_INVALID,
    "literal_error": Code.CHOICE_UNKNOWN,
    "string_type": Code.WRONG_TYPE,
    "bool_type": Code.WRONG_TYPE,
    "dict_type": Code.WRONG_TYPE,
    "model_type": Code.WRONG_TYPE,
    "model_attributes_type": Code.WRONG_TYPE,
    "tuple_type": Code.WRONG_TYPE,
    "list_type": Code.WRONG_TYPE,
    "float_type": Code.WRONG_TYPE,
    "too_short": Code.WRONG_LENGTH,
    "string_too_long": Code.OUT_OF_RANGE,
    "greater_than_equal": Code.OUT_OF_RANGE,
    "less_than_equal": Code.OUT_OF_RANGE,
    "finite_number": Code.OUT_OF_RANGE,
}
"""The codes of pydantic's own types of errors; any other is of a value that is not of the type wanted."""

_WANTED = {
    "string_type": ("must be text", "quote it"),
    "bool_type": ("must be true or false", "write true or false, without quotes"),
    "dict_type": (
        "must be a mapping of keys to values",
        'write for example "key: value" in lines of their own',
    ),
    "model_type": ("must be a mapping of keys to values", 'write for example "{key: value}"'),
    "model_attributes_type": ("must be a mapping of keys to values", 'write for example "{key: value}"'),
    "tuple_type": ("must be a list", 'write for example "[a, b]"'),
    "list_type": ("must be a list", 'write for example "[a, b]"'),
    "float_type": ("must be a number", "write it without unit"),
    "too_short": ("is empty", "write at least one"),
    "string_too_long": ("is too long", "shorten it"),
    "greater_than_equal": ("is too small", "write {ge} or more"),
    "less_than_equal": ("is too large", "write {le} or less"),
    "finite_number": ("is not a finite number", "write a number"),
}


_OF_AN_EMPTY_MAPPING = ("changes nothing", "must do one thing", "expects nothing", "listens nowhere")


def validate(source: Source, root: Branch, kind: type[Model]) -> tuple[Model | None, list[Diagnostic]]:
    """``root`` as a ``kind``, or every problem that keeps it from being one."""
    findings = Findings()
    problems: list[Diagnostic] = []
    model = None
    try:
        model = kind.model_validate(plain(root), context=findings)
    except ValidationError as error:
        for each in error.errors(include_url=False)[:ENOUGH_PROBLEMS]:
            problems.append(_problem(source, root, each))
    hidden: dict[str, set[str]] = {}
    for key in findings.keys:
        # A misspelt key explains the missing one, and an empty one what is said about its mapping.
        explained = hidden.setdefault(path_text(key.mapping.path), set(_OF_AN_EMPTY_MAPPING))
        explained.update(f'has no "{word}"' for word in re.findall(r'"([^"]*)"', key.remedy))
    problems = [each for each in problems if each.message not in hidden.get(each.path, ())]
    for key in findings.keys:
        place = key.mapping.node.entries[key.key][0]
        problems.append(
            source.problem(key.code, place, (*key.mapping.path, key.key), key.message, key.remedy)
        )
    return (None if problems else model), problems


def _problem(source: Source, root: Branch, error: ErrorDetails) -> Diagnostic:
    key_place, node, path = follow(root, tuple(error["loc"]))
    kind = error["type"]
    context: dict[str, Any] = dict(error.get("ctx") or {})
    place = node.place if isinstance(node, Leaf) else key_place
    note = _parameter_note(node)
    code = _CODES.get(kind, Code.WRONG_TYPE)
    if kind == "missing":
        missing = str(error["loc"][-1])
        if len(error["loc"]) > 1 and path[-1:] == (missing,):
            missing = str(error["loc"][-2])
        return source.problem(
            code,
            _beginning(key_place, node, path),
            path,
            f'has no "{missing}"',
            _bound_example(missing, node) or _example(missing, path),
        )
    if kind == "scenario":
        inner = context["at"]
        if inner and isinstance(node, Branch) and inner in node.entries:
            place, path = node.entries[inner][1].place, (*path, inner)
        return source.problem(
            context["code"], place, path, note + str(context["message"]), str(context["remedy"])
        )
    cause = context.get("error")
    if isinstance(cause, UnitError):
        return source.problem(cause.code, place, path, note + cause.message, cause.remedy)
    if kind == "string_pattern_mismatch":
        if error["loc"][-1] == "[key]":
            place = key_place
        message = f'"{printable(str(error["input"]))}" is not a name'
        return source.problem(code, place, path, note + message, _name_advice(str(context["pattern"])))
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context["expected"]))
        remedy = (
            did_you_mean(str(error["input"]), words) if words else f"write {str(context['expected']).lower()}"
        )
        return source.problem(code, place, path, f"{note}{_shown(error['input'])} is not known here", remedy)
    if kind in _WANTED:
        message, remedy = _WANTED[kind]
        if kind.endswith("_type"):
            message = f"{message}, not {_shown(error['input'])}"
        return source.problem(code, place, path, note + message, _filled(remedy, context))
    message = error["msg"]
    return source.problem(code, place, path, note + message[:1].lower() + message[1:], None)


def _filled(remedy: str, context: dict[str, Any]) -> str:
    for bound in ("ge", "le"):
        remedy = remedy.replace(f"{{{bound}}}", str(context.get(bound, "")))
    return remedy


def _parameter_note(node: Node) -> str:
    if isinstance(node, Leaf) and node.parameter:
        return f"${node.parameter}: "
    return ""


def _beginning(place: Span, node: Node, path: Path) -> Span:
    return place if path else node.place


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{printable(str(value))}"'


def _name_advice(pattern: str) -> str:
    if "[a-z0-9]" in pattern and "A-Z" not in pattern:
        return "use lower-case letters, digits and hyphens, at most 63"
    return "use letters, digits, hyphens and underscores, at most 63"


_EXAMPLES = {
    "version": "version: 1",
    "name": "name: three-clusters",
    "nodes": "nodes: {par: {kind: router}, par1..4: {kind: host, attach: par}}",
    "endpoints": "endpoints: [par, nyc]",
    "sites": "sites: {par: [48.85, 2.35], nyc: [40.71, -74.01]}",
    "run": "run: ping -c 3 nyc1",
    "from": "from: par1",
    "to": "to: nyc1",
    "at": "at: 20s",
    "link": "link: par-nyc",
    "via": "via: par-ams",
    "metric": "metric: fidelity.lateness.p99",
    "rate": "rate: 50Mbit",
    "base": "base: 38ms",
    "mean": "mean: 0.1%",
    "burst": "burst: 3",
    "packets": "packets: 100",
    "good_to_bad": "good_to_bad: 1%",
    "bad_to_good": "bad_to_good: 30%",
    "p13": "p13: 1%",
    "p31": "p31: 30%",
    "correlation": "correlation: 0.3",
    "gap": "gap: 18s",
    "file": "file: losses.txt",
    "form": "form: indices",
    "shape": "shape: 0.8",
    "line_rate": "line_rate: 1Gbit",
    "policy": "policy: round-robin",
    "wait": "wait: 1ms",
    "min": "min: 30p",
    "max": "max: 90p",
    "bands": "bands: [[ef, cs6], default]",
    "hz": "hz: 8192",
    "rounding": "rounding: nearest",
    "early": "early: 25%",
    "low": "low: 1ms",
    "high": "high: 2ms",
    "value": "value: 1ms",
    "half_width": "half_width: 1ms",
    "sd": "sd: 1ms",
    "every": "every: 100",
    "delay": "delay: 60ms",
    "limit": "limit: 1bdp",
    "links": "links: [par-nyc]",
    "tcp": "tcp: 8080",
    "axes": "axes: {cc: [cubic, bbr]}",
}


_WHOLE = frozenset({"", "B", "ns", "p"})
"""Units of which there are only whole numbers."""


def _bound_example(missing: str, node: Node) -> str | None:
    """For a bound that is missing beside the other one, a value on the right side of that."""
    other = {"low": "high", "high": "low"}.get(missing)
    leaf = node.entries[other][1] if other and isinstance(node, Branch) and other in node.entries else None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", leaf.text) if isinstance(leaf, Leaf) else None
    if found is None:
        return None
    value, unit = Decimal(found[1]), found[2]
    half = value // 2 if unit in _WHOLE else value / 2
    bound = half if missing == "low" else 2 * value or Decimal(1)
    return f"add for example {missing}: {bound.normalize():f}{unit}"


def _example(missing: str, path: Path) -> str:
    if missing == "kind":
        return "add kind: router or kind: host"
    if missing == "burst" and path[-1:] == ("rate",):
        return "add for example burst: 15400B"
    if missing == "file" and path[:1] == ("traffic",):
        return "add for example file: flows.csv"
    if missing == "at" and path[:1] == ("routes",):
        return "add for example at: par"
    return f"add for example {_EXAMPLES.get(missing, missing + ': ...')}"
