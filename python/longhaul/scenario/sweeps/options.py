"""Settings of a sweep from the scenario and the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.check.load import check_tree
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.expand.axes import text_of
from longhaul.scenario.expand.places import COMMAND_LINE, ELSEWHERE, moved, readdressed
from longhaul.scenario.model.sweep import Sweep
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Source, read_file, read_tree


@dataclass(frozen=True)
class Options:
    """What is asked for beside the file; ``None`` and nothing leave it as the file has it."""

    axes: Mapping[str, str] | None = None
    """``{"cc": "cubic,bbr"}``: values as YAML would list them; or ``{from: 10ms, to: 20ms, steps: 5}``."""
    design: str | None = None
    points: int | None = None
    repeat: int | None = None
    seeds: str | None = None
    metrics: Sequence[str] = ()
    until: str | None = None
    """As in ``flows.bulk.goodput ±2%``, or with ``at most 50`` behind it."""


@dataclass(frozen=True)
class Asked:
    """A scenario and the sweep over it, both checked."""

    scenario: Scenario
    source: Source
    root: Branch
    """The tree with the sweep in it, before parameters are replaced."""
    sweep: Sweep


def load_sweep(
    path: FilePath,
    *,
    settings: Mapping[str, str],
    options: Options,
    contents: Mapping[str, bytes] | None = None,
    content: bytes | None = None,
) -> Asked:
    """The sweep over the scenario in file ``path``, which names files on disk, or those in ``contents``.

    With ``content`` that is what the file would say, and it need not exist.
    Raises LonghaulError with every problem found.
    """
    source, root = read_tree(str(path), read_file(path) if content is None else content)
    root = _merged(root, options)
    try:
        scenario = check_tree(source, root, settings=settings, contents=contents)
    except ScenarioError as error:
        raise readdressed(error) from None
    if scenario.document.sweep is None:
        raise LonghaulError(
            Code.NOT_A_SWEEP,
            f"{path} has no sweep",
            remedy="add for example --axis cc=cubic,bbr, or sweep: {axes: {cc: [cubic, bbr]}}",
            exit_code=2,
        )
    return Asked(scenario, source, root, scenario.document.sweep)


def _merged(root: Branch, options: Options) -> Branch:
    lines = []
    if options.axes:
        lines.append("axes:")
        for name, text in options.axes.items():
            lines.append(f"  {text_of(name)}: {text if _is_range(text) else f'[{text}]'}")
    for key in ("design", "points", "repeat", "seeds"):
        if getattr(options, key) is not None:
            lines.append(f"{key}: {getattr(options, key)}")
    if options.metrics:
        lines.append(f"metrics: {text_of(list(options.metrics))}")
    if options.until is not None:
        lines.append(f"until: {text_of(options.until)}")
    if not lines:
        return root
    _source, asked = read_tree(COMMAND_LINE, "\n".join(lines).encode())
    given = moved(asked, ELSEWHERE)
    assert isinstance(given, Branch)
    place, old = root.entries.get("sweep", (ELSEWHERE, Branch(ELSEWHERE)))
    if isinstance(old, Branch):
        entries = {**old.entries, **given.entries}
        before, now = old.entries.get("axes"), given.entries.get("axes")
        if before and now and isinstance(before[1], Branch) and isinstance(now[1], Branch):
            entries["axes"] = (before[0], replace(now[1], entries={**before[1].entries, **now[1].entries}))
        given = replace(old, entries=entries)
    return replace(root, entries={**root.entries, "sweep": (place, given)})


def _is_range(text: str) -> bool:
    """Whether the values of an axis are a range: one mapping with ``from`` that is not a flow."""
    try:
        _source, tree = read_tree(COMMAND_LINE, f"values: [{text}]".encode())
    except ScenarioError:
        return False
    _place, values = tree.entries["values"]
    match values:
        case Items(items=[Branch(entries=entries)]):
            return "from" in entries and "kind" not in entries
        case _:
            return False
