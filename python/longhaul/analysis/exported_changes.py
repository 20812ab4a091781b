"""The changes of a run as events of a scenario, which reproduce them at the same instants."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from longhaul.analysis.configuration import WAYS, Applied, Configuration, lanes
from longhaul.scenario.events import AT_ONCE, ramp_step, ramp_steps
from longhaul.scenario.inputs import LawError
from longhaul.scenario.link_state import NOTHING
from longhaul.scenario.model_syntax import written_change, written_class_law
from longhaul.scenario.splicing import flow
from longhaul.scenario.units import Span

Json = Mapping[str, Any]
Words = Callable[[Applied, str], Any]
"""What was written for a key of a change that the plan's own words cannot say; ``None`` if nobody knows."""


class ExportError(ValueError):
    """A change that the scenario language has no words for."""


def events_text(plan: Json, applied: Sequence[Applied], words: Words) -> str:
    """An ``events:`` block of YAML, which makes these changes where the plan began.

    Raises :class:`ExportError`.
    """
    rows = sorted(_events(plan, applied, words), key=lambda row: row[0])
    if not rows:
        return "events: []\n"
    return "events:\n" + "".join(f"  - {flow(event)}\n" for _at_ns, event in rows)


def _events(plan: Json, applied: Sequence[Applied], words: Words) -> Iterator[tuple[int, Json]]:
    configuration = Configuration(plan)
    skipped: set[int] = set()
    for place, each in enumerate(applied):
        if place not in skipped:
            ramp = _ramp(configuration, applied, place)
            if ramp is None:
                yield from ((each.at_ns, event) for event in _at_once(plan, each, words))
            else:
                begins_ns, last, over_ns = ramp
                skipped.update(
                    other for other in range(place, len(applied)) if _same_ramp(applied[other], each)
                )
                at_once = {key: value for key, value in each.change.items() if key in AT_ONCE}
                whole = Applied(begins_ns, each.link, each.ways, each.route, {**last, **at_once}, each.cause)
                for event in _at_once(plan, whole, words):
                    yield begins_ns, {**event, "over": str(Span(over_ns))}
        configuration.apply(each)


def _same_ramp(one: Applied, other: Applied) -> bool:
    address = (other.link, other.ways, other.route)
    return one.cause == other.cause and (one.link, one.ways, one.route) == address


def _ramp(
    configuration: Configuration, applied: Sequence[Applied], place: int
) -> tuple[int, Json, int] | None:
    """Beginning, last change and length of the gradual event whose first step this is.

    ``None`` if it is none, or did not go from what was there to its end undisturbed: then its steps are
    events of their own.
    """
    first = applied[place]
    over_ns = first.cause.get("over_ns", 0)
    steps = [each for each in applied[place:] if over_ns and _same_ramp(each, first)]
    wanted = list(ramp_steps(over_ns)) if over_ns else []
    begins_ns = first.cause.get("begins_ns", 0)
    if [each.at_ns for each in steps] != [begins_ns + offset for offset, _done in wanted] or not steps:
        return None
    disturbed = any(
        each.link == first.link
        and begins_ns <= each.at_ns <= begins_ns + over_ns
        and each.cause != first.cause
        and set(each.ways) & set(first.ways)
        for each in applied
    )
    if disturbed:
        return None
    target = {**NOTHING, **steps[-1].change, **{key: first.change.get(key) for key in AT_ONCE}}
    for way in first.ways:
        model = configuration.model(first.link, way)
        for number, lane in lanes(model):
            if number is not None and first.route not in (None, number):
                continue
            for step, (offset, done) in zip(steps, wanted, strict=True):
                try:
                    part = ramp_step(lane, target, done, first=offset == wanted[0][0])
                except LawError:
                    return None
                if {key: value for key, value in part.items() if value is not None} != step.change:
                    return None
    return begins_ns, steps[-1].change, over_ns


def _at_once(plan: Json, applied: Applied, words: Words) -> Iterator[dict[str, Any]]:
    """The events that make one change."""
    link = plan["links"][applied.link]
    head: dict[str, Any] = {"at": str(Span(applied.at_ns)), "link": link["name"]}
    if applied.ways != WAYS:
        head["direction"] = applied.ways[0]
    if applied.route is not None:
        head["route"] = applied.route + 1
    if "up" in applied.change:
        yield {**head, **({"up": True} if applied.change["up"] else {"down": True})}
    models, wordless = written_change(applied.change)
    for key in wordless:
        value = words(applied, key)
        if value is None:
            raise ExportError(
                f"the {key} that {link['name']} was given at {applied.at_ns / 1e9:.6f} s has no words"
            )
        models[key] = value
    if models:
        yield {**head, "set": models}
    for way in applied.ways if applied.change.get("pacing") else ():
        host = plan["nodes"][link["endpoints"][0 if way == "forward" else 1]]["name"]
        classes = link[way]["pacing"]["classes"]
        laws = {
            classes[each["class"]]["name"].partition(".")[0]: written_class_law(each["law"])
            for each in applied.change["pacing"]
        }
        yield {"at": str(Span(applied.at_ns)), "host": host, "pacing": laws}
