"""The changes of a run as events of a scenario that repeats them at the same instants."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from longhaul.analysis.configuration import Applied, Configuration, lanes
from longhaul.plan import WAYS, Plan
from longhaul.scenario.edit.splicing import flow
from longhaul.scenario.lower.events import FIRST_STEP_KEYS, ramp_step, ramp_steps
from longhaul.scenario.lower.link_state import NOTHING
from longhaul.scenario.show.model_syntax import written_change, written_pacing_model
from longhaul.scenario.syntax.value_errors import ScenarioValueError
from longhaul.units.quantities import Span

Json = Mapping[str, Any]
Words = Callable[[Applied, str], Any]
"""What a user wrote for a key of a change, where the plan alone cannot be written; ``None`` if unknown."""


class ExportError(ValueError):
    """A change that cannot be written in the scenario language."""


def events_text(plan: Plan, applied: Sequence[Applied], words: Words) -> str:
    """An ``events:`` block of YAML, which makes these changes where the plan began.

    Raises :class:`ExportError`.
    """
    rows = sorted(_events(plan, applied, words), key=lambda row: row[0])
    if not rows:
        return "events: []\n"
    return "events:\n" + "".join(f"  - {flow(event)}\n" for _at_ns, event in rows)


def _events(plan: Plan, applied: Sequence[Applied], words: Words) -> Iterator[tuple[int, Json]]:
    configuration = Configuration(plan)
    applied = sorted(applied, key=lambda each: each.at_ns)
    steps = _steps(applied)
    skipped: set[int] = set()
    for place, each in enumerate(applied):
        if place not in skipped:
            ramp = _ramp(configuration, applied, steps.get(place, ()))
            if ramp is None:
                yield from ((each.at_ns, event) for event in _at_once(plan, each, words))
            else:
                begins_ns, last, over_ns = ramp
                skipped.update(steps[place])
                at_once = {key: value for key, value in each.change.items() if key in FIRST_STEP_KEYS}
                whole = Applied(begins_ns, each.link, each.ways, each.route, {**last, **at_once}, each.cause)
                for event in _at_once(plan, whole, words):
                    yield begins_ns, {**event, "over": str(Span(over_ns))}
        configuration.apply(each)


def _steps(applied: Sequence[Applied]) -> dict[int, list[int]]:
    """The steps of each gradual event, as places in ``applied``, by its first one."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, each in enumerate(applied):
        if each.cause.get("over_ns"):
            cause = json.dumps(each.cause, sort_keys=True)
            found.setdefault((each.link, each.ways, each.route, cause), []).append(place)
    return {places[0]: places for places in found.values()}


def _ramp(
    configuration: Configuration, applied: Sequence[Applied], places: Sequence[int]
) -> tuple[int, Json, int] | None:
    """Beginning, last change and length of the gradual event whose steps are at ``places``.

    ``None`` if it is none, or did not go from what was there to its end undisturbed: then its steps are
    events of their own.
    """
    if not places:
        return None
    steps = [applied[place] for place in places]
    first = steps[0]
    over_ns, begins_ns = first.cause["over_ns"], first.cause.get("begins_ns", 0)
    wanted = list(ramp_steps(over_ns))
    if [each.at_ns for each in steps] != [begins_ns + offset for offset, _done in wanted]:
        return None
    since = bisect_left(applied, begins_ns, key=lambda each: each.at_ns)
    until = bisect_right(applied, begins_ns + over_ns, key=lambda each: each.at_ns)
    disturbed = any(
        each.link == first.link and each.cause != first.cause and set(each.ways) & set(first.ways)
        for each in applied[since:until]
    )
    if disturbed:
        return None
    target = {**NOTHING, **steps[-1].change, **{key: first.change.get(key) for key in FIRST_STEP_KEYS}}
    for way in first.ways:
        model = configuration.model(first.link, way)
        for number, lane in lanes(model):
            if number is not None and first.route not in (None, number):
                continue
            for step, (offset, done) in zip(steps, wanted, strict=True):
                try:
                    part = ramp_step(lane, target, done, first=offset == wanted[0][0])
                except ScenarioValueError:
                    return None
                if {key: value for key, value in part.items() if value is not None} != step.change:
                    return None
    return begins_ns, steps[-1].change, over_ns


def _at_once(plan: Plan, applied: Applied, words: Words) -> Iterator[dict[str, Any]]:
    """The events that make one change."""
    link = plan["links"][applied.link]
    head: dict[str, Any] = {"at": str(Span(applied.at_ns)), "link": link["name"]}
    if applied.ways != WAYS:
        head["direction"] = applied.ways[0]
    if applied.route is not None:
        head["route"] = applied.route + 1
    if "up" in applied.change:
        yield {**head, **({"up": True} if applied.change["up"] else {"down": True})}
    models, without_syntax = written_change(applied.change)
    for key in without_syntax:
        value = words(applied, key)
        if value is None:
            at = f"{applied.at_ns / 1e9:.6f} s"
            raise ExportError(
                f"the {key} set on {link['name']} at {at} cannot be written in the scenario language"
            )
        models[key] = value
    if models:
        yield {**head, "set": models}
    for way in applied.ways if applied.change.get("pacing") else ():
        host = plan["nodes"][link["endpoints"][0 if way == "forward" else 1]]["name"]
        pacing = link[way].get("pacing")
        classes = pacing["classes"] if pacing else ()
        models = {
            classes[each["class"]]["name"].partition(".")[0]: written_pacing_model(each["model"])
            for each in applied.change["pacing"]
        }
        yield {"at": str(Span(applied.at_ns)), "host": host, "pacing": models}
