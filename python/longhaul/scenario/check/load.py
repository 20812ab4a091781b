"""Loading: from the bytes of a file to a checked scenario."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath

from longhaul.diagnostics import Code
from longhaul.scenario.check.references import check_references
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.expand.parameters import parameters, substitute
from longhaul.scenario.expand.topologies.on_demand import lay_out
from longhaul.scenario.inputs import inputs_of
from longhaul.scenario.model import Document
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Source, read_file, read_tree


def load_scenario(path: FilePath | str, *, settings: Mapping[str, str] | None = None) -> Scenario:
    """The scenario in file ``path``, with parameters from ``settings``.

    Raises :class:`ScenarioError` with every problem that was found.
    """
    content = read_file(FilePath(path))
    return parse_scenario(content, name=str(path), settings=settings)


def parse_scenario(
    content: bytes,
    *,
    name: str,
    settings: Mapping[str, str] | None = None,
    folder: FilePath | None = None,
    contents: Mapping[str, bytes] | None = None,
) -> Scenario:
    """The scenario in ``content``, which errors call ``name``; raises :class:`ScenarioError`.

    Files that it names come from ``contents`` if that is given, by path; else from ``folder``, or from that
    of ``name``.
    """
    source, root = read_tree(name, content)
    return check_tree(source, root, settings=settings or {}, folder=folder, contents=contents)


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
    laid = lay_out(source, tree, inputs_of(source.name, folder=folder, contents=contents))
    tree = laid.tree
    document, wrong = validate(source, tree, Document)
    if "topology" in tree.entries:
        wrong = [each for each in wrong if each.message != 'has no "nodes"']
    unexplained = {each.span for each in wrong} - {each.span for each in unknown}
    problems = [*problems, *unknown, *laid.problems, *(each for each in wrong if each.span in unexplained)]
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
        delays=laid.delays,
        read=laid.read,
    )
    problems, warnings = check_references(scenario)
    if problems:
        raise ScenarioError(problems)
    warnings += laid.warnings
    unused = [each for each in known if each not in used]
    warnings += [
        scenario.warning(Code.UNUSED, ("params", each), "is not used", f"write ${each} where it is meant")
        for each in unused
    ]
    return replace(scenario, warnings=tuple(warnings))
