"""What a host has of its own in a live run, beside its network."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.base import Text, problem

MOST_NAME = 64
"""Characters of a host name (``uname(2)``)."""
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_MACHINES = ("/proc", "/sys", "/dev")
"""Directories that are the kernel's."""


def _hostname(value: Any) -> Any:
    if not isinstance(value, str) or len(value) > MOST_NAME or not _HOSTNAME.fullmatch(value):
        message = f'"{printable(str(value))}" is not a host name'
        remedy = f"write letters, digits, hyphens and dots, {MOST_NAME} characters at most"
        raise problem(Code.NAME_INVALID, message, remedy)
    return value


HostnameText = Annotated[str, BeforeValidator(_hostname), Field(examples=["db.example.org"])]
"""A host name of RFC 1123."""


def _target(value: Any) -> Any:
    shown = f'"{printable(str(value))}"'
    steps = value.split("/")[1:] if isinstance(value, str) else []
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value:
        raise problem(
            Code.HOST_SETTINGS_INVALID, f"{shown} is not an absolute path", "write for example /etc/x.conf"
        )
    if any(step in ("", ".", "..") for step in steps):
        shortest = "/" + "/".join(step for step in steps if step not in ("", "."))
        remedy = "write it without .." if ".." in steps or shortest == "/" else f"write {shortest}"
        raise problem(Code.HOST_SETTINGS_INVALID, "is not a path in its shortest form", remedy)
    if any(value == top or value.startswith(f"{top}/") for top in _MACHINES):
        raise problem(Code.HOST_SETTINGS_INVALID, "belongs to the kernel", "name a file elsewhere")
    return value


FilePlace = Annotated[str, BeforeValidator(_target), WithJsonSchema({"type": "string"})]
"""Where a host has a file: an absolute path."""
HostFiles = dict[FilePlace, Text]
"""Files of a host, by the place that they have there; the names are relative to the scenario."""
