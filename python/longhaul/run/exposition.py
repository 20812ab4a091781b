"""Metrics in the text format of Prometheus, version 0.0.4."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """All samples of one metric."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: list[tuple[str, Labels, float]] = field(default_factory=list)
    """What follows the name, labels, value."""

    def add(self, value: float, *, suffix: str = "", **labels: str) -> None:
        """Add a sample."""
        self.samples.append((suffix, labels, value))


def render(families: Iterable[Family]) -> str:
    """The families as text; those without samples are left out."""
    lines = []
    for family in families:
        if not family.samples:
            continue
        lines.append(f"# HELP {family.name} {_escaped(family.about)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        for suffix, labels, value in family.samples:
            inside = ",".join(f'{name}="{_quoted(label)}"' for name, label in labels.items())
            braces = f"{{{inside}}}" if inside else ""
            lines.append(f"{family.name}{suffix}{braces} {_number(value)}")
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
