"""The scenario of each variant: the same tree with other values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from longhaul.diagnostics import Code, Diagnostic, Span, printable
from longhaul.scenario.check.load import check_tree
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.expand.axes import Axis, text_of
from longhaul.scenario.expand.places import (
    find_axis,
    half_of,
    read_value,
    readdressed,
    round_trip_of,
    unknown_axis,
)
from longhaul.scenario.expand.topologies.expansion import with_places
from longhaul.scenario.lower.resolve import Resolved, resolve
from longhaul.scenario.syntax.problems import ScenarioError
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Node, Path, Source, follow, plain


@dataclass(frozen=True)
class Base:
    """What all variants have in common; made once, by :func:`base_of`."""

    source: Source
    root: Branch
    settings: Mapping[str, str]
    paths: tuple[Path, ...]
    """Where the axes' values go."""
    places: tuple[Mapping[str, Span], ...]
    """Where in the file each value of each axis stands; under "", the axis itself."""
    contents: Mapping[str, bytes] | None = None
    """The files that variants name, by the names that they use; on disk if left out."""
    halved: frozenset[Path] = frozenset()
    """Where half of a value goes: the delay of a link whose round-trip time is an axis."""
    parsed: dict[tuple[Path, str], Node] = field(default_factory=dict, compare=False)

    def scenario(self, values: Sequence[str]) -> Scenario:
        """The scenario with ``values`` on the axes. Raises ScenarioError."""
        root = self.root
        for path, places, text in zip(self.paths, self.places, values, strict=True):
            value = self._value(path, places, text)
            root = _put(root, path, half_of(value) if path in self.halved else value)
        return check_tree(self.source, root, settings=self.settings, contents=self.contents)

    def resolve(self, values: Sequence[str], *, seed: int | None = None) -> Resolved:
        """The plan with ``values`` on the axes, and another seed if one is given. Raises ScenarioError."""
        return resolve(self.scenario(values), seed=seed)

    def _value(self, path: Path, places: Mapping[str, Span], text: str) -> Node:
        if text not in places:
            return read_value(text, places[""])
        if (path, text) not in self.parsed:
            self.parsed[path, text] = read_value(text, places[text])
        return self.parsed[path, text]


def base_of(
    source: Source,
    root: Branch,
    axes: Sequence[str],
    *,
    settings: Mapping[str, str],
    contents: Mapping[str, bytes] | None = None,
) -> Base:
    """Find the places of ``axes`` in the tree ``root``. Raises ScenarioError for axes that lead nowhere."""
    if "topology" in root.entries:
        laid = check_tree(source, root, settings=settings, contents=contents)
        root = with_places(root, laid.tree, [round_trip_of(root, axis) or axis for axis in axes])
    places = tuple(_places(root, axis) for axis in axes)
    paths, problems, halved = [], [], set()
    for axis, place in zip(axes, places, strict=True):
        path = find_axis(root, axis)
        paths.append(path or ())
        if path is not None and round_trip_of(root, axis):
            halved.add(path)
            problems += _of_one_way(source, root, axis, path, place[""])
        if path is None:
            message, remedy = unknown_axis(root, axis)
            problems.append(
                source.problem(Code.AXIS_UNKNOWN, place[""], ("sweep", "axes", axis), message, remedy)
            )
        elif axis in settings:
            message = f"--set gives {printable(axis)} one value"
            remedy = "leave one of them out"
            problems.append(
                source.problem(Code.AXIS_INVALID, place[""], ("sweep", "axes", axis), message, remedy)
            )
    if problems:
        raise ScenarioError(problems)
    # A sweep has no say in what its variants are.
    entries = {key: entry for key, entry in root.entries.items() if key != "sweep"}
    return Base(
        source, replace(root, entries=entries), settings, tuple(paths), places, contents, frozenset(halved)
    )


def _of_one_way(source: Source, root: Branch, axis: str, path: Path, place: Span) -> list[Diagnostic]:
    """A problem if directions of the link have delays of their own, which an RTT does not set."""
    _place, link, _walked = follow(root, path[:-1])
    ways = link.entries if isinstance(link, Branch) else {}
    own = [
        way
        for way in ("forward", "reverse")
        if isinstance(each := ways.get(way, (None, None))[1], Branch) and "delay" in each.entries
    ]
    if not own:
        return []
    message = f"{printable(axis)} cannot vary: the link has a delay of its own {own[0]}"
    remedy = (
        f"sweep {printable(axis.removesuffix('rtt'))}{own[0]}.delay"
        if axis != "rtt"
        else f"sweep {'.'.join(map(str, path[:-1]))}.{own[0]}.delay"
    )
    return [source.problem(Code.AXIS_INVALID, place, ("sweep", "axes", axis), message, remedy)]


def _places(root: Branch, axis: str) -> dict[str, Span]:
    place, node, _walked = follow(root, ("sweep", "axes", axis))
    listed = node.items if isinstance(node, Items) else []
    return {"": place, **{text_of(plain(item)): item.place for item in listed}}


def _put(node: Node, path: Path, value: Node) -> Branch:
    """A copy of ``node`` with ``value`` at ``path``; what is not on the way is shared."""
    changed = _changed(node, path, value)
    assert isinstance(changed, Branch)
    return changed


def _changed(node: Node, path: Path, value: Node) -> Node:
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(node, Items) and isinstance(part, int):
        items = list(node.items)
        items[part] = _changed(items[part], rest, value)
        return replace(node, items=items)
    assert isinstance(node, Branch)
    assert isinstance(part, str)
    if not rest:
        return replace(node, entries={**node.entries, part: (value.place, value)})
    place, old = node.entries[part]
    return replace(node, entries={**node.entries, part: (place, _changed(old, rest, value))})


def check_values(
    base: Base, axes: Sequence[Axis], *, check: Callable[[Resolved], object]
) -> dict[str, bytes]:
    """Try every value of every axis once, with the first values of the others; ``check`` may raise, too.

    Returns the files that the variants name. Raises ScenarioError: a wrong value is wrong in all variants.
    """
    first = tuple(axis.at(0.0) for axis in axes)
    trials = {first: None}
    for position, axis in enumerate(axes):
        for value in axis.values or (axis.at(0.0), axis.at(1.0)):
            trials[*first[:position], value, *first[position + 1 :]] = None
    files: dict[str, bytes] = {}
    problems: list[Diagnostic] = []
    for values in trials:
        try:
            resolved = base.resolve(values)
            check(resolved)
        except ScenarioError as error:
            problems += error.diagnostics
            continue
        files |= _files(base, resolved)
    if problems:
        raise readdressed(ScenarioError(problems))
    return files


def _files(base: Base, resolved: Resolved) -> dict[str, bytes]:
    if base.contents is not None:
        return dict(base.contents)
    folder = FilePath(base.source.name).parent
    return {
        str(path.relative_to(folder) if path.is_relative_to(folder) else path): path.read_bytes()
        for path in resolved.inputs
    }
