"""Changes of a link that is up, as ``longhaul set`` writes them: ``delay=60ms loss=0.1%``, or ``down``."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.scenario.events import ChangeError, change_of
from longhaul.scenario.laws import Plain, plan_mean_ns
from longhaul.scenario.model import Changes
from longhaul.scenario.problems import Place, ScenarioError
from longhaul.scenario.validate import validate
from longhaul.scenario.yaml_tree import Source, follow, read_tree


def resolve_change(changes: Sequence[str], link: Mapping[str, Any], *, way: str) -> Plain:
    """A change of the plan for direction ``way`` of ``link`` (of the plan); raises :class:`ScenarioError`.

    ``changes`` are ``KEY=VALUE`` with the keys of an event's ``set``, or ``up`` or ``down``.
    """
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
            [source.problem(Place(1, 1), (), "a link is up or down, not both_ns", "write one of them")]
        )
    direction = link[way]
    up = None if not words else words[0] == "up"
    if not lines:
        return {**dict.fromkeys(("loss", "queue", "rate", "delay", "duplicate")), "up": up}
    source, root = read_tree("set", "\n".join(lines).encode())
    model, problems = validate(source, root, Changes)
    if model is None:
        raise ScenarioError(problems)
    both_ns = sum(plan_mean_ns(link[each]["delay"]) for each in ("forward", "reverse"))
    if model.delay is not None:
        both_ns += model.delay.base.ns - plan_mean_ns(direction["delay"])
    try:
        planned = change_of(model, direction, round_trip_ns=both_ns, mtu=link["mtu"])
    except ChangeError as error:
        _place, node, path = follow(root, (error.key,))
        raise ScenarioError([source.problem(node.place, path, error.message, error.remedy)]) from None
    return {**planned, "up": up}
