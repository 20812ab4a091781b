"""Changes of links during the run, as further commands of tc."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longhaul.diagnostics import Code
from longhaul.oracle.layout import places
from longhaul.oracle.stages import Stage, chain
from longhaul.plan import WAYS, Direction, Event, Plan, Way
from longhaul.scenario.syntax.value_errors import ScenarioValueError


@dataclass(frozen=True)
class Commands:
    """What tc does in a namespace at an instant of the run."""

    at_ns: int
    namespace: str
    lines: tuple[str, ...]


def changing(plan: Plan) -> frozenset[int]:
    """The links that change."""
    return frozenset(event["link"] for event in plan["events"])


def changes(plan: Plan) -> Iterator[Commands]:
    """The changes of a plan in order of time. Raises ScenarioValueError for what tc cannot change."""
    now: dict[tuple[int, Way], Direction] = {
        (number, way): link[way] for number, link in enumerate(plan["links"]) for way in WAYS
    }
    for event in plan["events"]:
        link = event["link"]
        for way in WAYS:
            if event.get("direction") not in (None, way):
                continue
            before = now[link, way]
            after = now[link, way] = _changed(before, event)
            mtu = plan["links"][link]["mtu"]
            old, new = (chain(each, mtu=mtu, changes=True) for each in (before, after))
            if new.refused:
                raise new.refused[0]
            if [_shape(each) for each in old.stages] != [_shape(each) for each in new.stages]:
                message = "tc cannot add or remove a rate or a queueing discipline during the run"
                raise ScenarioValueError(
                    Code.EXPORT_IMPOSSIBLE, ("events",), message, "write a rate and a queue from the start"
                )
            where = places(plan, link, way, new.stages)
            for stage, earlier, (namespace, device) in zip(new.stages, old.stages, where, strict=True):
                if stage != earlier:
                    lines = [f"qdisc change dev {device} {_whole(each)}" for each in stage.commands]
                    yield Commands(event["at_ns"], namespace, tuple(lines))


def states(plan: Plan) -> dict[tuple[int, Way], list[Direction]]:
    """What each direction of a link is during the run. For plans that :func:`changes` accepts."""
    found = {(number, way): [link[way]] for number, link in enumerate(plan["links"]) for way in WAYS}
    for event in plan["events"]:
        for way in WAYS:
            if event.get("direction") in (None, way):
                known = found[event["link"], way]
                known.append(_changed(known[-1], event))
    return found


def _changed(direction: Direction, event: Event) -> Direction:
    if event.get("route") is not None or event["change"].get("pacing"):
        raise ScenarioValueError(
            Code.EXPORT_IMPOSSIBLE,
            ("events",),
            "tc has no parallel routes and no pacing",
            "leave the event out",
        )
    changed = {key: value for key, value in event["change"].items() if value is not None and key in direction}
    return {**direction, **changed}  # type: ignore[typeddict-item]


def _shape(stage: Stage) -> tuple[str, Sequence[str]]:
    """What of a stage cannot change: the kinds of its disciplines, and how they hang together."""
    kinds = ("netem", "tbf", "pfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "red")
    return stage.role, [next(word for word in each.split() if word in kinds) for each in stage.commands]


def _whole(command: str) -> str:
    """``command`` with what netem would otherwise keep from before."""
    words = command.split()
    return command if "netem" not in words or "corrupt" in words else f"{command} corrupt 0%"
