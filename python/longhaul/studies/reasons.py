"""Reasons for differences: a TOML file says which names a reason explains."""

import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any


def read_reasons(path: Path) -> list[dict[str, Any]]:
    """The ``[[reason]]`` tables of a file."""
    return list(tomllib.loads(path.read_text(encoding="utf-8"))["reason"])


def fitting_reasons(
    reasons: Iterable[Mapping[str, Any]], name: str, *, key: str = "differences"
) -> list[Mapping[str, Any]]:
    """The reasons with a pattern under ``key`` that matches ``name``, as file names match; in their order."""
    return [each for each in reasons if any(fnmatchcase(name, pattern) for pattern in each[key])]
