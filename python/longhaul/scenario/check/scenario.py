"""A checked scenario: what the file says, and the place of each value."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from longhaul.diagnostics import Code, Diagnostic
from longhaul.scenario.check.names import program_copies
from longhaul.scenario.expand.topologies.laid import written_at
from longhaul.scenario.inputs import Inputs, inputs_of
from longhaul.scenario.model import Document
from longhaul.scenario.syntax.yaml_tree import Branch, Leaf, Path, Source, follow


@dataclass(frozen=True)
class Scenario:
    """A scenario whose words and names are right; :func:`longhaul.scenario.resolve` turns it into numbers."""

    document: Document
    source: Source
    tree: Branch
    """The file with parameters replaced and its topology laid out; knows the place of everything."""
    settings: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
    folder: FilePath | None = None
    """Where the files lie that the scenario names; beside it if left out."""
    contents: Mapping[str, bytes] | None = None
    """The files that the scenario names, by path, where they do not come from disk."""
    laid: frozenset[str] = frozenset()
    """Names of the links that a topology made."""
    spots: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where the nodes of a topology stand in a drawing: x to the right, y down."""
    delays: Mapping[tuple[str, str], list[list[int]]] = field(default_factory=dict)
    """Delays over time of links that a topology made, by their ends: time and delay in ns."""
    read: Mapping[FilePath, bytes] = field(default_factory=dict)
    """The files that a topology is made of."""

    def program_metrics(self) -> dict[str, dict[str, dict[str, str | None]]]:
        """What to measure in the output of each program of the plan: metrics by name."""
        return {
            copy: {metric: each.as_json() for metric, each in program.metrics.items()}
            for name, program in self.document.programs.items()
            if program.metrics
            for copy in program_copies(name, program)
        }

    def inputs(self) -> Inputs:
        """The files that the scenario names."""
        found = inputs_of(self.source.name, folder=self.folder, contents=self.contents)
        return replace(found, captures=dict(self.read), delays=self.delays)

    def problem(self, code: Code, path: Path, message: str, remedy: str | None = None) -> Diagnostic:
        """A problem at the value of ``path``, or as near as the file has it."""
        place, node, _walked = follow(self.tree, path)
        place = node.place if isinstance(node, Leaf) else place
        return self.source.problem(code, place, written_at(path), message, remedy)

    def warning(self, code: Code, path: Path, message: str, remedy: str | None = None) -> Diagnostic:
        """The same with the code of a warning, for what need not be wrong."""
        return self.problem(code, path, message, remedy)
