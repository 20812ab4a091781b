"""A scenario's tree with its topology expanded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from longhaul.diagnostics import Diagnostic
from longhaul.scenario.syntax.yaml_tree import Branch, Path

if TYPE_CHECKING:
    from longhaul.scenario.expand.topologies.shapes.positions import Spot

PROFILE = "topology-"
"""Begins the names of profiles that a topology makes."""
TRACE = "topology:delays"
"""What a link says to follow the delays that its topology has over time."""


@dataclass(frozen=True)
class Laid:
    """A tree in which a topology has become nodes and links."""

    tree: Branch
    links: frozenset[str] = frozenset()
    """Names of the links that it made."""
    spots: Mapping[str, "Spot"] = field(default_factory=dict)
    """Where its nodes stand in a drawing."""
    problems: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    delays: Mapping[tuple[str, str], list[list[int]]] = field(default_factory=dict)
    """Delays over time of links that follow :data:`TRACE`, by their ends: time and delay in ns."""
    read: Mapping[FilePath, bytes] = field(default_factory=dict)
    """The files that were read."""


def written_at(path: Path) -> Path:
    """Where the file speaks of what the tree has at ``path``."""
    name = path[1] if path[:1] == ("profiles",) and len(path) > 1 else ""
    if isinstance(name, str) and name.startswith(PROFILE):
        return ("topology", name.removeprefix(PROFILE), *path[2:])
    return path
