"""A scenario's text from a topology's options and other sections."""

from collections.abc import Mapping
from typing import Any

from longhaul.scenario.expand.axes import text_of

_WIDTH = 110
_ORDER = ("description", "seed", "duration", "params", "profiles", "tcp")
"""Sections that stand before the topology."""


def outline(name: str, topology: Mapping[str, Any], sections: Mapping[str, Any]) -> str:
    """The file of scenario ``name``; short mappings and lists on one line."""
    before = {key: sections[key] for key in _ORDER if key in sections}
    after = {key: value for key, value in sections.items() if key not in _ORDER}
    lines = ["version: 1", f"name: {text_of(name)}"]
    for key, value in (*before.items(), ("topology", topology), *after.items()):
        lines += _entry(f"{text_of(key)}: ", value, "")
    return "\n".join(lines) + "\n"


def _entry(start: str, value: Any, indent: str) -> list[str]:
    """A key or dash with its value, over several lines where one is too short."""
    line = f"{indent}{start}{text_of(value)}"
    deeper = f"{indent}  "
    if len(line) <= _WIDTH and (indent or not isinstance(value, list | tuple)):
        return [line]
    if isinstance(value, Mapping) and value and not start.startswith("- "):
        inner = [text for key, each in value.items() for text in _entry(f"{text_of(key)}: ", each, deeper)]
        return [f"{indent}{start.rstrip()}", *inner]
    if isinstance(value, list | tuple) and value:
        return [
            f"{indent}{start.rstrip()}",
            *(text for each in value for text in _entry("- ", each, deeper)),
        ]
    return [line]
