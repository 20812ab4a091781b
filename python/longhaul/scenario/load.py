"""From a file's bytes to a checked scenario."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from longhaul.errors import LonghaulError
from longhaul.regular import read_regular
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.model import Document
from longhaul.scenario.parameters import parameters, substitute
from longhaul.scenario.problems import Problem, ScenarioError
from longhaul.scenario.references import check_references
from longhaul.scenario.topologies.expanding import lay_out, written_at
from longhaul.scenario.validate import validate
from longhaul.scenario.yaml_tree import MAX_BYTES, Branch, Leaf, Path, Source, follow, read_tree


@dataclass(frozen=True)
class Scenario:
    """A scenario whose words and names are right; :func:`longhaul.scenario.resolve` turns it into numbers."""

    document: Document
    source: Source
    tree: Branch
    """The file with parameters replaced and its topology laid out; knows the place of everything."""
    settings: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    folder: FilePath | None = None
    """Where the files lie that the scenario names; beside it if left out."""
    contents: Mapping[str, bytes] | None = None
    """The files that the scenario names, by path, where they do not come from disk."""
    laid: frozenset[str] = frozenset()
    """Names of the links that a topology made."""
    spots: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where the nodes of a topology stand in a drawing: x to the right, y down."""

    def inputs(self) -> Inputs:
        """The files that the scenario names."""
        called = FilePath(self.source.name).parent
        if self.contents is not None:
            return Inputs(FilePath(), called, contents=self.contents)
        return Inputs(self.folder or called, called)

    def problem(self, path: Path, message: str, remedy: str | None = None) -> Problem:
        """A problem at the value of ``path``, or as near as the file has it."""
        place, node, _walked = follow(self.tree, path)
        place = node.place if isinstance(node, Leaf) else place
        return self.source.problem(place, written_at(path), message, remedy)

    def warning(self, path: Path, message: str, remedy: str | None = None) -> str:
        """The same in one line, for what need not be wrong."""
        return self.problem(path, message, remedy).headline


def load_scenario(path: FilePath | str, *, settings: Mapping[str, str] | None = None) -> Scenario:
    """The scenario in file ``path``, with parameters from ``settings``.

    Raises :class:`ScenarioError` with every problem that was found.
    """
    try:
        content = read_regular(FilePath(path), most_bytes=MAX_BYTES + 1)
    except OSError as error:
        raise LonghaulError(f"cannot read {path}: {error.strerror}", exit_code=2) from error
    return parse_scenario(content, name=str(path), settings=settings)


def parse_scenario(
    content: bytes,
    *,
    name: str,
    settings: Mapping[str, str] | None = None,
    folder: FilePath | None = None,
) -> Scenario:
    """The scenario in ``content``, which errors call ``name``; raises :class:`ScenarioError`.

    Files that it names lie in ``folder``, or in that of ``name``.
    """
    source, root = read_tree(name, content)
    return check_tree(source, root, settings=settings or {}, folder=folder)


def check_tree(
    source: Source,
    root: Branch,
    *,
    settings: Mapping[str, str],
    folder: FilePath | None = None,
    contents: Mapping[str, bytes] | None = None,
) -> Scenario:
    """The scenario whose tree is ``root``; raises :class:`ScenarioError`.

    Files that it names come from ``contents`` if that is given, by path; else from ``folder``.
    """
    known, problems = parameters(source, root, settings)
    tree, used, unknown = substitute(source, root, known)
    laid = lay_out(source, tree)
    tree = laid.tree
    document, wrong = validate(source, tree, Document)
    if "topology" in tree.entries:
        wrong = [each for each in wrong if each.message != 'has no "nodes"']
    unexplained = {each.place for each in wrong} - {each.place for each in unknown}
    problems = [*problems, *unknown, *laid.problems, *(each for each in wrong if each.place in unexplained)]
    if document is None or problems:
        raise ScenarioError(problems)
    scenario = Scenario(
        document,
        source,
        tree,
        dict(settings),
        folder=folder,
        contents=contents,
        laid=laid.links,
        spots=laid.spots,
    )
    problems, warnings = check_references(scenario)
    if problems:
        raise ScenarioError(problems)
    unused = [each for each in known if each not in used]
    warnings += [
        scenario.warning(("params", each), "is used nowhere", f"write ${each} where it is meant")
        for each in unused
    ]
    return replace(scenario, warnings=tuple(warnings))
