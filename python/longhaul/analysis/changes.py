"""Changes of links during a run, in words: events of the scenario and interventions.

An *intervention* is a change that the scenario did not ask for: a user made it from the command line, on the
page or from Python.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul.analysis.configuration import Applied, Configuration, changed, lanes, planned
from longhaul.analysis.phases import arrows
from longhaul.analysis.wording import model_text, value_text
from longhaul.plan import Plan, Way
from longhaul.scenario.lower.link_models.rate import framing_name

Json = Mapping[str, Any]

SURFACES = {"cli": "command line", "page": "page", "python": "Python"}
_ORDER = (
    "up",
    "delay",
    "reorder",
    "rate",
    "loss",
    "loss_position",
    "queue",
    "reordering",
    "duplicate",
    "corrupt",
    "framing",
    "coalesce_ns",
)


_NAMES = {"up": "", "coalesce_ns": "coalesce", "loss_position": "loss position", "framing": "count"}
"""Where a model's name in the scenario language is not its key."""


@dataclass(frozen=True)
class Difference:
    """A model that became another one."""

    key: str
    old: str
    new: str

    def __str__(self) -> str:
        """``delay 35 → 80 ms``; for what had this value before, ``delay 35 ms (as before)``."""
        name = _NAMES.get(self.key, self.key)
        name = name.replace("_", " ")
        values = f"{self.new} (as before)" if self.old == self.new else arrows([self.old, self.new])
        return f"{name} {self.new if self.key == 'up' else values}".strip()


@dataclass(frozen=True)
class Change:
    """One thing that was asked for, whatever the number of steps and directions in which it was applied."""

    at_ns: int
    """When it began."""
    until_ns: int
    """When it was complete; the same if it happened at once."""
    link: str
    way: Way | None
    """``None``: both."""
    route: int | None
    """From 1; ``None``: the link, or all of its routes."""
    host: str | None
    """Whose pacing changed, if it was that."""
    by: str
    """event, cli, page or python."""
    user: str | None
    words: tuple[str, ...]
    """What a user wrote."""
    position: int | None
    """Of an event, in the scenario's list."""
    differences: tuple[Difference, ...]

    @property
    def is_intervention(self) -> bool:
        """Whether a user asked for it, and not the scenario."""
        return self.by != "event"

    @property
    def subject(self) -> str:
        """``par-nyc forward, route 2``."""
        if self.host is not None:
            return f"pacing of {self.host}"
        way = f" {self.way}" if self.way else ""
        return f"{self.link}{way}" + (f", route {self.route}" if self.route is not None else "")

    @property
    def text(self) -> str:
        """``par-nyc: delay 35 → 80 ms``."""
        return f"{self.subject}: {', '.join(map(str, self.differences))}"

    @property
    def source(self) -> str:
        """``events[2]``, or ``ann, command line``."""
        if self.is_intervention:
            return f"{self.user}, {SURFACES.get(self.by, self.by)}"
        return "scenario" if self.position is None else f"events[{self.position}]"

    def as_dict(self) -> dict[str, Any]:
        """For ``summary.json``."""
        return {
            "kind": "intervention" if self.is_intervention else "event",
            "at_ns": self.at_ns,
            "until_ns": self.until_ns,
            "link": self.link,
            "way": self.way,
            "route": self.route,
            "host": self.host,
            "by": self.by,
            "user": self.user,
            "words": list(self.words),
            "position": self.position,
            "differences": [{"key": each.key, "old": each.old, "new": each.new} for each in self.differences],
            "text": self.text,
            "source": self.source,
        }


def describe_changes(plan: Plan, applied: Sequence[Applied]) -> list[Change]:
    """The changes of a run that is over, in the order in which they began."""
    return ChangeLog(plan).take(applied)


class ChangeLog:
    """Says of each change what it did, once, when its first part was applied."""

    def __init__(self, plan: Plan) -> None:
        """Of a run of ``plan`` that has not changed anything yet."""
        self._plan = plan
        self._configuration = Configuration(plan)
        self._known: set[tuple[Any, ...]] = set()
        self._scheduled: dict[tuple[Any, ...], list[Applied]] | None = None

    def take(self, applied: Sequence[Applied], *, goes_on: bool = False) -> list[Change]:
        """What began in ``applied``; while the run ``goes_on``, a gradual event has its steps to come."""
        groups = _groups(applied)
        found: list[Change] = []
        for each in applied:
            key = _key(each)
            if key not in self._known:
                self._known.add(key)
                group = groups[key]
                if goes_on and each.cause.get("over_ns"):
                    group = self._steps(key) or group
                found += _described(self._plan, self._configuration, group)
            self._configuration.apply(each)
        return found

    def _steps(self, key: tuple[Any, ...]) -> list[Applied]:
        if self._scheduled is None:
            self._scheduled = _groups(planned(self._plan))
        return self._scheduled.get(key, [])


def interventions(changes: Sequence[Json]) -> int:
    """How many of a summary's ``changes`` are interventions; what one request did counts once."""
    made = [each for each in changes if each["kind"] == "intervention"]
    return len({(each["at_ns"], each["user"], each["by"], *each["words"]) for each in made})


def verdict_text(summary: Json) -> str:
    """``faithful, with 3 interventions``: the verdict on the network of a run, and what it holds of.

    A simulation that is faithful is ``simulated``.
    """
    verdict: str = summary["fidelity"]["verdict"]
    text = "simulated" if verdict == "faithful" and summary.get("simulation") else verdict
    count = interventions(summary.get("changes", ()))
    return f"{text}, with {count} intervention{'' if count == 1 else 's'}" if count else text


def _key(each: Applied) -> tuple[Any, ...]:
    """Equal for changes of one link that belong together: parts of a request, steps of a gradual event."""
    cause = each.cause
    moment = cause["position"] if cause.get("over_ns") else each.at_ns
    return each.link, moment, cause["by"], *cause.get("words", ()), cause.get("user"), cause.get("position")


def _groups(applied: Sequence[Applied]) -> dict[tuple[Any, ...], list[Applied]]:
    found: dict[tuple[Any, ...], list[Applied]] = {}
    for each in applied:
        found.setdefault(_key(each), []).append(each)
    return found


def _described(plan: Plan, configuration: Configuration, group: Sequence[Applied]) -> Iterator[Change]:
    """The changes of a group: one where all directions and routes change alike, else one for each."""
    link = group[0].link
    before = {way: configuration.model(link, way) for each in group for way in each.ways}
    after: dict[Way, Json] = dict(before)
    keys: dict[tuple[Way, int | None], dict[str, None]] = {}
    for each in group:
        for way in each.ways:
            after[way] = changed(after[way], each.change, route=each.route)
            for number in _numbers(before[way], each):
                keys.setdefault((way, number), {}).update(dict.fromkeys(each.change))
    found: dict[tuple[Difference, ...], list[tuple[Way, int | None]]] = {}
    for (way, number), names in keys.items():
        differences = _differences(before[way], after[way], number, names)
        found.setdefault(differences, []).append((way, number))
    for differences, places in found.items():
        for address in _addresses(before, places):
            yield _change(plan, group, differences, *address)


def _addresses(
    before: Mapping[Way, Json], places: Sequence[tuple[Way, int | None]]
) -> Iterator[tuple[Way | None, int | None]]:
    """Each route, or ``None`` for all of them; the way, or ``None`` if both are alike."""
    routes: dict[Way, tuple[int | None, ...]] = {}
    for way, number in places:
        routes[way] = (*routes.get(way, ()), number)
    for way, numbers in routes.items():
        whole = tuple(number for number, _lane in lanes(before[way]))
        routes[way] = (None,) if len(whole) > 1 and set(whole) <= set(numbers) else numbers
    ways = list(routes)
    both = len(ways) == 2 and routes[ways[0]] == routes[ways[1]]
    for each in ways[:1] if both else ways:
        for number in routes[each]:
            yield None if both else each, number


def _change(
    plan: Plan,
    group: Sequence[Applied],
    differences: tuple[Difference, ...],
    way: Way | None,
    number: int | None,
) -> Change:
    cause, link = group[0].cause, plan["links"][group[0].link]
    gradual = bool(cause.get("over_ns"))
    host = None
    if differences and all(each.key.startswith("class ") for each in differences):
        end = link["endpoints"][0 if way == "forward" else 1]
        host = plan["nodes"][end]["name"]
    return Change(
        at_ns=cause["begins_ns"] if gradual else group[0].at_ns,
        until_ns=group[-1].at_ns,
        link=link["name"],
        way=way,
        route=None if number is None else number + 1,
        host=host,
        by=cause["by"],
        user=cause.get("user"),
        words=tuple(cause.get("words", ())),
        position=cause.get("position"),
        differences=differences,
    )


def _numbers(model: Json, applied: Applied) -> list[int | None]:
    """The routes that a change is of: ``None`` is the direction itself."""
    if applied.route is not None:
        return [applied.route]
    if set(applied.change) <= {"up", "present", "pacing"}:
        return [None]
    return [number for number, _lane in lanes(model)]


def _differences(
    before: Json, after: Json, number: int | None, keys: Mapping[str, None]
) -> tuple[Difference, ...]:
    old, new = (model if number is None else model["bundle"]["routes"][number] for model in (before, after))
    found = [Difference(key, *_texts(key, old, new)) for key in _ORDER if key in keys]
    if "present" in keys:
        membership = ("present", "absent") if old["up"] else ("absent", "present")
        found = [Difference("up", *membership), *(each for each in found if each.key != "up")]
    if "pacing" in keys:
        classes = [model["pacing"]["classes"] for model in (before, after)]
        for was, now in zip(*classes, strict=True):
            if was["model"] != now["model"]:
                texts = model_text(was["model"]), model_text(now["model"])
                found.append(Difference(f"class {now['name']}", *texts))
    return tuple(found)


def _texts(key: str, old: Json, new: Json) -> tuple[str, str]:
    return _text(key, old.get(key)), _text(key, new.get(key))


def _text(key: str, value: Any) -> str:
    match key:
        case "up":
            return "up" if value else "down"
        case "duplicate" | "corrupt":
            return value_text("probability", value)
        case "coalesce_ns":
            return value_text(key, value)
        case "loss_position":
            return str(value)
        case "framing":
            return framing_name(value) or model_text(value)
        case "reordering":
            return "none" if value is None else model_text(value)
    return model_text(value)
