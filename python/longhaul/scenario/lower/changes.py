"""Changes of a link that is up, as ``longhaul set`` writes them: ``delay=60ms loss=0.1%``, or ``down``."""

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from longhaul.diagnostics import Code, Span
from longhaul.plan import WAYS, Way
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import Plain
from longhaul.scenario.lower.link_state import JOINED, LEFT, NOTHING, LinkState
from longhaul.scenario.lower.pacing import class_numbers, plan_pacing_model
from longhaul.scenario.model import Changes
from longhaul.scenario.model.base import Strict
from longhaul.scenario.model.pacing import NewPacing
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import Source, follow, read_tree

MEMBERSHIP = ("join", "leave")
"""Words that let a link or node join or leave the network."""


def resolve_changes(
    changes: Sequence[str],
    link: Mapping[str, Any],
    *,
    to_hosts: Sequence[Way],
    way: Way | None = None,
    route: int | None = None,
) -> list[Plain]:
    """Changes of the plan, each with ``direction``, ``route`` and ``change``; raises :class:`ScenarioError`.

    ``changes`` are ``KEY=VALUE`` with the keys of an event's ``set``, or ``up`` or ``down``; files that they
    name lie in the current directory. ``link`` is that of the plan, as it is configured now; ``to_hosts``
    are its directions that end at a host. What changes is direction ``way`` of it, both if left out, in all
    of its parallel routes, or in ``route``, the first being 1. An event of the scenario at this time would
    make the same changes.
    """
    ways: Sequence[Way] = WAYS if way is None else (way,)
    state = LinkState.of(link["name"], link["mtu"], {each: link[each] for each in WAYS}, to_hosts)
    up, lines = _parts(changes)
    try:
        lanes = state.addressed(ways, route)
    except ScenarioValueError as error:
        source = Source("set", b"", (f"route {route}",))
        raise ScenarioError(
            [source.problem(error.code, Span(1, 1), (), error.message, error.remedy)]
        ) from None
    address = {"direction": way, "route": None if route is None else route - 1}
    asked = [] if up is None else [{**address, "change": {**NOTHING, "up": up}}]
    if up is None and changes and changes[0] in MEMBERSHIP:
        if way is not None or route is not None or len(changes) > 1:
            source = Source("set", b"", (" ".join(changes),))
            message, remedy = "a link joins or leaves as a whole", f"write {changes[0]} alone"
            raise ScenarioError([source.problem(Code.CHANGE_MALFORMED, Span(1, 1), (), message, remedy)])
        return [{**address, "change": {**NOTHING, **(JOINED if changes[0] == "join" else LEFT)}}]
    if not lines:
        return asked
    source, root = read_tree("set", "\n".join(lines).encode())
    model, problems = validate(source, root, Changes)
    if model is None:
        raise ScenarioError(problems)
    try:
        targets = state.targets(model, ways, lanes, Inputs(FilePath(), FilePath()))
    except ScenarioValueError as error:
        _place, node, path = follow(root, error.at)
        raise ScenarioError(
            [source.problem(error.code, node.place, path, error.message, error.remedy)]
        ) from None
    except FileError as error:
        raise ScenarioError([error.problem]) from None
    return [*asked, *({**each, "change": change} for each, change in state.together(route, targets))]


def _parts(changes: Sequence[str]) -> tuple[bool | None, list[str]]:
    """Whether the link comes up or goes down, and the keys and values as lines of YAML."""
    words = [change for change in changes if change in ("up", "down")]
    lines = []
    for change in changes:
        key, equals, value = change.partition("=")
        if change in words or changes[0] in MEMBERSHIP:
            continue
        if not equals or not key:
            source = Source("set", b"", (change,))
            message = f'"{change[:40]}" is neither KEY=VALUE nor up, down, join or leave'
            raise ScenarioError(
                [
                    source.problem(
                        Code.CHANGE_MALFORMED,
                        Span(1, 1, max(1, len(change))),
                        (),
                        message,
                        "write delay=60ms",
                    )
                ]
            )
        lines.append(f"{key}: {value}")
    if len(set(words)) > 1:
        source = Source("set", b"", (" ".join(changes),))
        raise ScenarioError(
            [
                source.problem(
                    Code.CHANGE_MALFORMED,
                    Span(1, 1),
                    (),
                    "a link is up or down, not both",
                    "write one of them",
                )
            ]
        )
    return (words[0] == "up" if words else None), lines


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
            raise ScenarioError(
                [
                    source.problem(
                        Code.CHANGE_MALFORMED, Span(1, 1), (), message, "write for example bulk=250Mbit"
                    )
                ]
            )
        numbers = list(class_numbers(pacing["classes"], name))
        if not numbers:
            near = did_you_mean(name, [each["name"] for each in pacing["classes"]])
            raise ScenarioError(
                [source.problem(Code.CLASS_UNKNOWN, Span(1, 1), (), f'there is no class "{name}"', near)]
            )
        source, root = read_tree("set", f"model: {value}".encode())
        model, problems = validate(source, root, _NewPacing)
        if model is None:
            raise ScenarioError(problems)
        planned += [{"class": number, "model": plan_pacing_model(model.model)} for number in numbers]
    return planned


class _NewPacing(Strict):
    model: NewPacing
