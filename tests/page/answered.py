"""Holds what the server says against its schema, wherever a test hears it."""

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from longhaul.page.schema import json_schema

heard: set[str] = set()
"""The addresses and kinds of events that this process has compared with the schema."""


def read(text: bytes | str) -> Any:
    """JSON as browsers read it: they know no NaN."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


def check_answer(method: str, path: str, status: int, told: Any) -> None:
    """What was told at ``path``, with its query, is what the schema says, and nothing else."""
    if status >= 400:
        _check(_schema()["refused"], told, f"{method} {path}: {status}")
        return
    place = path.partition("?")[0].removeprefix("/api")
    (address,) = [each for each in _schema()["answers"] if _fits(each, f"{method} {place}")]
    _check(_schema()["answers"][address], told, address)
    heard.add(address)


def check_event(kind: str, data: Any) -> None:
    """The same for what a stream tells."""
    schema = kinds().get(kind)
    assert schema is not None, f"the schema knows no event {kind}"
    _check(schema, {"event": kind, **data}, kind)
    heard.add(kind)


def addresses() -> set[str]:
    """All that the schema knows, as method and path."""
    return set(_schema()["answers"])


@cache
def kinds() -> dict[str, Any]:
    """The schema of each kind of event."""
    types = [_schema()["$defs"][each["$ref"].rpartition("/")[2]] for each in _schema()["event"]["anyOf"]]
    return {each["properties"]["event"]["const"]: each for each in types}


@cache
def _schema() -> dict[str, Any]:
    return json_schema()


def _fits(address: str, asked: str) -> bool:
    """Whether it was asked for at this address; parts in braces are anything."""
    return re.fullmatch(re.sub(r"{\w+}", "[^/]+", address), asked) is not None


def _check(schema: dict[str, Any], told: Any, what: str) -> None:
    found = Draft202012Validator({**schema, "$defs": _schema()["$defs"]}).iter_errors(told)
    wrong = [f"{each.json_path}: {each.message[:300]}" for each in found]
    assert not wrong, f"{what}: {wrong}"
