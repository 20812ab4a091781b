"""Expansion of the section ``topology`` to nodes, links and profiles."""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longhaul.diagnostics import Code, Diagnostic, Span
from longhaul.scenario.expand.topologies.laid import PROFILE, TRACE, Laid
from longhaul.scenario.expand.topologies.shapes.elements import Change, Detour, Element, Host, Joint, Router
from longhaul.scenario.expand.topologies.shapes.kinds import default_settings, elements
from longhaul.scenario.expand.topologies.shapes.positions import spots
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.model.topology import (
    Constellation,
    Grid5000,
    Section,
    Sites,
    TeraGridNetwork,
    Topology,
    Waxman,
)
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.ranges import RangeError, expand
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import Branch, Items, Leaf, Node, Path, Source, follow, resolve_scalar
from longhaul.units.quantities import Span as QuantitySpan
from longhaul.units.quantities import UnitError

if TYPE_CHECKING:
    from longhaul.scenario.expand.topologies.constellation import Orbits

MOST = 20_000
"""Nodes, and links, that a topology makes at most."""
_PROFILES = ("access", "wan", "ground", "space")
"""Keys of the section that have the models of links."""
_BY_DISTANCE: Mapping[type, tuple[str, ...]] = {
    **dict.fromkeys((Sites, Grid5000, Waxman), ("wan",)),
    Constellation: ("ground", "space"),
}
"""Of which of them the topology has the delays."""
_FIRST = {"links": "endpoints", "nodes": "kind"}
"""A key that every link, and every node, has."""


def expand_topology(source: Source, tree: Branch, inputs: Inputs) -> Laid:
    """``tree`` with what its topology describes; as it was if that cannot be read.

    What the file itself says of a node or link by name goes over what the topology says.
    """
    tree = _spelt_out(tree)
    place, node = tree.entries["topology"]
    section, _problems = validate(source, Branch(tree.place, {"topology": (place, node)}), Section)
    others = (tree.entries[key][1] for key in ("nodes", "links", "profiles") if key in tree.entries)
    if (
        section is None
        or not isinstance(node, Branch)
        or not all(isinstance(each, Branch) for each in others)
    ):
        # The document as a whole is validated next, and says what is wrong.
        return Laid(tree)
    spec = section.topology
    task = _Task(source, tree, node, node.entries["kind"][1].place)
    orbits: Orbits | None = None
    if isinstance(spec, Constellation):
        orbits, made = task.orbits(spec, inputs)
    else:
        made = task.gather(elements(spec))
    if _hashes_flows(tree):
        # Detours would take the place of equal paths.
        made = [each for each in made if not isinstance(each, Detour)]
    profiles = task.profiles(spec, {each.profile for each in made if isinstance(each, Host | Joint)})
    if task.problems:
        return Laid(tree, problems=tuple(task.problems))
    links, hung = task.links(made)
    entries = {
        **tree.entries,
        "profiles": (place, _over(_branch_of(tree, "profiles", place), profiles)),
        "nodes": (place, task.nodes(made, hung)),
        "links": (place, links),
    }
    if not links.entries:
        del entries["links"]
    given = tree.entries.get("routes", (place, Items(place)))[1]
    if isinstance(given, Items) and (routes := task.routes(made)):
        entries["routes"] = (place, Items(given.place, [*given.items, *routes]))
    if "addresses" in node.entries and "addresses" not in tree.entries:
        entries["addresses"] = node.entries["addresses"]
    if changes := [each for each in made if isinstance(each, Change)]:
        entries["events"] = (place, task.events(changes))
    names = frozenset(element.name for element in made if isinstance(element, Joint))
    laid = Laid(replace(tree, entries=entries), names, spots(spec, made))
    if orbits is None or not isinstance(spec, Constellation):
        return laid
    entries["routing"] = (place, task.routing(spec))
    return replace(
        laid,
        warnings=tuple(task.said(Code.SATELLITES_LEFT_OUT, "tle", each) for each in orbits.warnings()),
        delays=orbits.points(),
        read=inputs.captures,
    )


def with_places(root: Branch, laid: Branch, axes: Iterable[str]) -> Branch:
    """``root`` with entries for the links and nodes of ``laid`` that ``axes`` speak of.

    They say nothing new, but a sweep can put its values there, and so over what a topology makes.
    """
    if "topology" not in root.entries:
        return root
    root = _spelt_out(root)
    place = root.entries["topology"][0]
    for axis in axes:
        section, _dot, rest = axis.partition(".")
        if section not in _FIRST:
            continue
        known, mine = _branch_of(laid, section, place).entries, _branch_of(root, section, place)
        name = max((each for each in known if rest.startswith(f"{each}.")), key=len, default=None)
        if name is None or any(name in _expanded(key) for key in mine.entries):
            continue
        made = known[name][1]
        entry = Branch(
            place, {_FIRST[section]: made.entries[_FIRST[section]]} if isinstance(made, Branch) else {}
        )
        mine = replace(mine, entries={**mine.entries, name: (place, entry)})
        root = replace(root, entries={**root.entries, section: (place, mine)})
    return root


def _spelt_out(tree: Branch) -> Branch:
    """``topology: ring`` as ``topology: {kind: ring}``."""
    place, node = tree.entries["topology"]
    if not isinstance(node, Leaf) or not isinstance(node.value, str):
        return tree
    whole = Branch(node.place, {"kind": (node.place, node)})
    return replace(tree, entries={**tree.entries, "topology": (place, whole)})


@dataclass(frozen=True)
class _Task:
    source: Source
    tree: Branch
    node: Branch
    """The section."""
    place: Span
    """Of what is said about everything that the section makes."""
    problems: list[Diagnostic] = field(default_factory=list)

    def wrong(self, code: Code, key: str | None, message: str, remedy: str) -> None:
        self.problems.append(self.said(code, key, message, remedy))

    def said(self, code: Code, key: str | None, message: str, remedy: str | None = None) -> Diagnostic:
        """A problem of key ``key``, or of the section, where the file has it."""
        path: Path = ("topology",) if key is None else ("topology", *key.split("."))
        place, found, _walked = follow(self.tree, path)
        place = self.place if key is None else found.place if isinstance(found, Leaf) else place
        return self.source.problem(code, place, path, message, remedy)

    def gather(self, made: Iterable[Element]) -> list[Element]:
        """All elements, unless there are too many or two of one name."""
        found: list[Element] = []
        counts: Counter[str] = Counter()
        names: set[str] = set()
        for element in made:
            if isinstance(element, Detour | Change):
                found.append(element)
                continue
            what = "links" if isinstance(element, Joint) else "nodes"
            counts[what] += 1
            if counts[what] > MOST:
                self.wrong(
                    Code.NETWORK_TOO_LARGE,
                    None,
                    f"makes more than {MOST} {what}",
                    "describe a smaller network",
                )
                return []
            name = f"link {element.name}" if isinstance(element, Joint) else element.name
            if name in names:
                self.wrong(Code.NAME_DUPLICATE, None, f'makes two of the name "{name}"', "rename one of them")
                return []
            names.add(name)
            found.append(element)
        return found

    def profiles(self, spec: Topology, used: Set[str]) -> dict[str, Branch]:
        """The profiles of the section, by the name in the tree; of the defaults those that are ``used``."""
        found = {}
        for kind, settings in default_settings(spec).items():
            given = self.given(kind)
            if given is None and kind not in used:
                continue
            if isinstance(given, Leaf):
                self._named(kind, str(given.value))
                continue
            if isinstance(given, Branch):
                laid = given
                if kind in _BY_DISTANCE.get(type(spec), ()) and "delay" in given.entries:
                    message = "these delays follow from distances"
                    self.wrong(Code.KEY_OUT_OF_PLACE, f"{kind}.delay", message, "remove it")
            else:
                laid = Branch(
                    self.place, {key: (self.place, self.leaf(text)) for key, text in settings.items()}
                )
            entries = dict(laid.entries)
            if "mtu" in self.node.entries and "mtu" not in entries:
                entries["mtu"] = self.node.entries["mtu"]
            if isinstance(spec, TeraGridNetwork):
                entries["queue"] = self.node.entries.get("queue", (self.place, self.leaf("1000p")))
            found[PROFILE + kind] = replace(laid, entries=entries)
        return found

    def given(self, kind: str) -> Node | None:
        """What the section says of links of this kind; other keys of it may have the same name."""
        entries = self.node.entries
        return entries[kind][1] if kind in _PROFILES and kind in entries else None

    def _named(self, kind: str, name: str) -> None:
        """A profile that the file has."""
        known = _branch_of(self.tree, "profiles", self.place).entries
        if name not in known:
            self.wrong(Code.PROFILE_UNKNOWN, kind, f'there is no profile "{name}"', did_you_mean(name, known))
        elif "mtu" in self.node.entries:
            self.wrong(
                Code.KEYS_CONFLICT, "mtu", f'profile "{name}" says the MTU of these links', "write mtu there"
            )

    def profile(self, kind: str) -> Leaf:
        """What a node or link says to have the settings of ``kind``."""
        given = self.given(kind)
        if isinstance(given, Leaf):
            return replace(given, place=self.place)
        return self.leaf(PROFILE + kind)

    def leaf(self, text: str) -> Leaf:
        return Leaf(resolve_scalar(text), text, self.place)

    def entry(self, **values: "str | Node | None") -> Branch:
        entries: dict[str, tuple[Span, Node]] = {}
        for key, value in values.items():
            if value is not None:
                node = Leaf(value, value, self.place) if isinstance(value, str) else value
                entries[key] = (self.place, node)
        return Branch(self.place, entries)

    def nodes(self, made: Iterable[Element], hung: frozenset[str]) -> Branch:
        """The nodes of the topology, with what the file says over them; ``hung`` have links of their own."""
        made = list(made)
        functions = _functions(made)
        laid: dict[str, Branch] = {}
        for element in made:
            if isinstance(element, Router):
                at = element.at and Items(self.place, [self.leaf(f"{each:.10g}") for each in element.at])
                function = functions[element.name]
                laid[element.name] = self.entry(kind="router", function=function, at=at or None)
            elif isinstance(element, Host):
                free = element.name in hung
                laid[element.name] = self.entry(
                    kind="host",
                    function=element.function,
                    attach=None if free else element.on,
                    profile=None if free else self.profile(element.profile),
                )
        return _over(_branch_of(self.tree, "nodes", self.place), laid)

    def links(self, made: Iterable[Element]) -> tuple[Branch, frozenset[str]]:
        """Links between routers, with what the file says over them, and hosts whose attachment it changes."""
        mine = _branch_of(self.tree, "links", self.place)
        laid: dict[str, Branch] = {}
        hung = set()
        for element in made:
            if isinstance(element, Joint):
                loss = element.loss and self.entry(loss=self.entry(preset=element.loss))
                laid[element.name] = self.entry(
                    endpoints=self._ends(element.ends),
                    profile=self.profile(element.profile),
                    delay=self._delay(element),
                    forward=loss or None,
                )
            elif isinstance(element, Host) and f"{element.name}-{element.on}" in mine.entries:
                hung.add(element.name)
                laid[f"{element.name}-{element.on}"] = self.entry(
                    endpoints=self._ends((element.name, element.on)), profile=self.profile(element.profile)
                )
        return _over(mine, laid), frozenset(hung)

    def routes(self, made: Iterable[Element]) -> list[Node]:
        """Routes of the topology, but for those that the file itself has another for."""
        given = self.tree.entries.get("routes", (self.place, None))[1]
        mine = set()
        for item in given.items if isinstance(given, Items) else []:
            keys = item.entries if isinstance(item, Branch) else {}
            at, to = (keys[key][1] if key in keys else None for key in ("at", "to"))
            if isinstance(at, Leaf) and isinstance(to, Leaf):
                mine |= {(at.text, name) for name in _expanded(to.text)}
        return [
            self.entry(at=each.at, to=each.to, via=each.via)
            for each in made
            if isinstance(each, Detour) and (each.at, each.to) not in mine
        ]

    def _delay(self, joint: Joint) -> "str | Node | None":
        if joint.is_traced:
            one, other = joint.ends
            return self.entry(trace=TRACE, **{"from": one, "to": other}, interpolate="linear")
        return None if joint.delay is None else str(joint.delay)

    def events(self, changes: Iterable[Change]) -> Items:
        """The events of the file, and those of the topology after them."""
        place, given = self.tree.entries.get("events", (self.place, Items(self.place)))
        if not isinstance(given, Items):
            # The document as a whole is validated next, and says what is wrong.
            return Items(place)
        true = Leaf(True, "true", self.place)
        made = [
            self.entry(
                at=str(each.at),
                link=Items(self.place, [Leaf(name, name, self.place) for name in each.links]),
                **{"join" if each.joins else "leave": true},
            )
            for each in changes
        ]
        return Items(given.place, [*given.items, *made])

    def routing(self, spec: Constellation) -> Branch:
        """Routes from current delays at each step, where the file does not say otherwise."""
        made = self.entry(costs="current", every=str(spec.step))
        mine = _branch_of(self.tree, "routing", self.place)
        return Branch(mine.place, {**made.entries, **mine.entries})

    def orbits(self, spec: Constellation, inputs: Inputs) -> "tuple[Orbits | None, list[Element]]":
        """Satellites and links over time, and the elements that they are; problems are noted."""
        # Geometry needs packages that take longer to import than most scenarios to check.
        from longhaul.scenario.expand.topologies.satellites import ConstellationError
        from longhaul.scenario.expand.topologies.shapes.orbits import orbits, satellites

        try:
            found = orbits(spec, duration=self._duration(), inputs=inputs)
            return found, self.gather(satellites(spec, found))
        except ConstellationError as error:
            self.wrong(error.code, error.key, error.message, error.remedy or "")
        except ScenarioValueError as error:
            self.wrong(error.code, str(error.at[0]), error.message, error.remedy)
        return None, []

    def _duration(self) -> QuantitySpan | None:
        """The duration of the scenario, if it is one; the document says what is wrong with it."""
        leaf = self.tree.entries.get("duration", (self.place, None))[1]
        try:
            return QuantitySpan.parse(leaf.value) if isinstance(leaf, Leaf) else None
        except UnitError:
            return None

    def _ends(self, ends: tuple[str, str]) -> Items:
        return Items(self.place, [Leaf(each, each, self.place) for each in ends])


def _hashes_flows(tree: Branch) -> bool:
    """Whether routers divide flows among equal paths."""
    routing = tree.entries.get("routing", (tree.place, None))[1]
    chosen = routing.entries.get("multipath", (tree.place, None))[1] if isinstance(routing, Branch) else None
    return isinstance(chosen, Leaf) and chosen.value == "flow-hash"


def _functions(made: Iterable[Element]) -> dict[str, str]:
    """What routers are for: those with hosts and one link give access, those without hosts are the core."""
    hosted: set[str] = set()
    joints: Counter[str] = Counter()
    routers = []
    for element in made:
        if isinstance(element, Router):
            routers.append(element.name)
        elif isinstance(element, Host):
            hosted.add(element.on)
        elif isinstance(element, Joint):
            joints.update(element.ends)
    return {
        name: "core" if name not in hosted else "access-link" if joints[name] <= 1 else "router"
        for name in routers
    }


def _over(mine: Branch, laid: Mapping[str, Branch]) -> Branch:
    """``laid`` with the entries of ``mine`` over it, key by key; what only ``mine`` has comes last."""
    entries: dict[str, tuple[Span, Node]] = {name: (each.place, each) for name, each in laid.items()}
    for key, (place, node) in mine.entries.items():
        names = _expanded(key)
        if not isinstance(node, Branch) or not any(name in laid for name in names):
            entries[key] = (place, node)
            continue
        for name in names:
            below = entries[name][1] if name in entries else None
            known = below.entries if isinstance(below, Branch) else {}
            entries[name] = (place, Branch(node.place, {**known, **node.entries}))
    return Branch(mine.place, entries)


def _expanded(key: str) -> tuple[str, ...]:
    try:
        return expand(key)
    except RangeError:
        return (key,)


def _branch_of(tree: Branch, section: str, place: Span) -> Branch:
    node = tree.entries[section][1] if section in tree.entries else None
    return node if isinstance(node, Branch) else Branch(place)
