"""Changes of a link that is up, as ``longhaul set`` writes them: ``delay=60ms loss=0.1%``, or ``down``."""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from longhaul.scenario.events import NOTHING, change_of, lanes_of
from longhaul.scenario.inputs import FileError, Inputs, LawError, within
from longhaul.scenario.laws import Plain, mean_of, plan_delay, plan_mean_ns
from longhaul.scenario.model import Changes
from longhaul.scenario.model.base import Strict
from longhaul.scenario.model.pacing import NewLaw
from longhaul.scenario.pacing import class_numbers, plan_law
from longhaul.scenario.problems import Place, ScenarioError, did_you_mean
from longhaul.scenario.validate import validate
from longhaul.scenario.yaml_tree import Source, follow, read_tree


def resolve_change(
    changes: Sequence[str], link: Mapping[str, Any], *, way: str, route: int | None = None
) -> Plain:
    """A change of the plan for direction ``way`` of ``link`` (of the plan); raises :class:`ScenarioError`.

    ``changes`` are ``KEY=VALUE`` with the keys of an event's ``set``, or ``up`` or ``down``; files that they
    name lie in the current directory. A link with parallel routes changes in all of them, or in ``route``,
    the first being 1.
    """
    lanes = lanes_of(link[way])
    if route is not None:
        if not link[way].get("bundle") or not 1 <= route <= len(lanes):
            has = f"has routes 1 to {len(lanes)}" if link[way].get("bundle") else "has no parallel routes"
            source = Source("set", b"", (f"route {route}",))
            raise ScenarioError(
                [source.problem(Place(1, 1), (), f"the link {has}", "name one that is there")]
            )
        lanes = [lanes[route - 1]]
    words = [change for change in changes if change in ("up", "down")]
    lines = []
    for change in changes:
        key, equals, value = change.partition("=")
        if change in words:
            continue
        if not equals or not key:
            source = Source("set", b"", (change,))
            message = f'"{change[:40]}" is neither KEY=VALUE nor up nor down'
            raise ScenarioError(
                [source.problem(Place(1, 1, max(1, len(change))), (), message, "write delay=60ms")]
            )
        lines.append(f"{key}: {value}")
    if len(set(words)) > 1:
        source = Source("set", b"", (" ".join(changes),))
        raise ScenarioError(
            [source.problem(Place(1, 1), (), "a link is up or down, not both", "write one of them")]
        )
    up = None if not words else words[0] == "up"
    if not lines:
        return {**NOTHING, "up": up}
    source, root = read_tree("set", "\n".join(lines).encode())
    model, problems = validate(source, root, Changes)
    if model is None:
        raise ScenarioError(problems)
    inputs = Inputs(FilePath(), FilePath())
    other = "reverse" if way == "forward" else "forward"
    try:
        delay = None
        if model.delay is not None:
            with within("delay"):
                delay = plan_delay(model.delay, inputs)
        own_ns = mean_of([lane["delay"] for lane in lanes]) if delay is None else plan_mean_ns(delay)
        round_trip_ns = own_ns + plan_mean_ns(link[other]["delay"])
        planned = [
            change_of(model, lane, inputs, delay=delay, round_trip_ns=round_trip_ns, mtu=link["mtu"])
            for lane in lanes
        ]
        if any(each != planned[0] for each in planned):
            raise LawError(("queue",), "differs from route to route", "write 100p or 1MiB")
    except LawError as error:
        _place, node, path = follow(root, error.at)
        raise ScenarioError([source.problem(node.place, path, error.message, error.remedy)]) from None
    except FileError as error:
        raise ScenarioError([error.problem]) from None
    return {**planned[0], "up": up}


def resolve_pacing(changes: Sequence[str], pacing: Mapping[str, Any]) -> list[Plain]:
    """Changes of classes of a host's ``pacing`` (of the plan); raises :class:`ScenarioError`.

    They are written ``CLASS=RATE``, ``CLASS=unpaced`` or ``CLASS={bucket: RATE, burst: SIZE}``.
    """
    planned: list[Plain] = []
    for change in changes:
        name, equals, value = change.partition("=")
        source = Source("set", b"", (change,))
        if not equals or not name:
            message = f'"{change[:40]}" is not CLASS=RATE'
            raise ScenarioError([source.problem(Place(1, 1), (), message, "write for example bulk=250Mbit")])
        numbers = list(class_numbers(pacing["classes"], name))
        if not numbers:
            near = did_you_mean(name, [each["name"] for each in pacing["classes"]])
            raise ScenarioError([source.problem(Place(1, 1), (), f'there is no class "{name}"', near)])
        source, root = read_tree("set", f"law: {value}".encode())
        model, problems = validate(source, root, _NewLaw)
        if model is None:
            raise ScenarioError(problems)
        planned += [{"class": number, "law": plan_law(model.law)} for number in numbers]
    return planned


class _NewLaw(Strict):
    law: NewLaw
