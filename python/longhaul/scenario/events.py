"""Events of the scenario as changes of the plan: ramps in steps, outages with their end."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longhaul.scenario.laws import (
    Plain,
    default_queue,
    plan_delay,
    plan_loss,
    plan_mean_ns,
    plan_queue,
    plan_rate,
)
from longhaul.scenario.load import Scenario
from longhaul.scenario.model import Changes, Event
from longhaul.scenario.network import Network, Wire
from longhaul.scenario.problems import Problem
from longhaul.scenario.yaml_tree import Path

STEP_NS = 10 * 10**6
"""Of a gradual change."""
MOST_CHANGES = 100_000

WAYS = ("forward", "reverse")
_NOTHING: Plain = dict.fromkeys(("up", "loss", "queue", "rate", "delay", "duplicate"))


@dataclass(frozen=True)
class _Started:
    """An event that has begun, with its place in the file."""

    event: Event
    path: Path
    at_ns: int


class ChangeError(ValueError):
    """A change that makes no sense where it is asked for."""

    def __init__(self, key: str, message: str, remedy: str) -> None:
        """Say what is wrong with ``key``."""
        super().__init__(f"{key}: {message}; {remedy}")
        self.key = key
        self.message = message
        self.remedy = remedy


def plan_events(scenario: Scenario, network: Network) -> tuple[list[Plain], list[Problem]]:
    """The events of the plan, in order of time, and what is wrong with the scenario's."""
    problems: list[Problem] = []
    found: list[tuple[int, int, Plain]] = []
    state = [{way: dict(getattr(link, way)) for way in WAYS} for link in network.links]
    ramps: dict[tuple[int, str, str], tuple[int, int]] = {}
    order = sorted(enumerate(scenario.document.events), key=lambda item: item[1].at.ns)
    for position, event in order:
        started = _Started(event, ("events", position), event.at.ns)
        for name in event.link:
            index = network.link_index[name]
            ways = WAYS if event.direction == "both" else (event.direction,)
            try:
                _check_overlap(started, index, ways, ramps, position)
                for at_ns, way, change in _changes(started, network.links[index], state[index], ways):
                    planned = {"at_ns": at_ns, "link": index, "direction": way, "change": change}
                    found.append((at_ns, position, planned))
            except ChangeError as error:
                path = (*started.path, *(("set", error.key) if error.key in _NOTHING else (error.key,)))
                problems.append(scenario.problem(path, error.message, error.remedy))
        if len(found) > MOST_CHANGES:
            path = (*started.path, "over")
            problems.append(
                scenario.problem(path, f"makes more than {MOST_CHANGES} changes", "shorten the ramp")
            )
            break
    found.sort(key=lambda item: item[:2])
    return [event for _at, _position, event in found], problems


def change_of(changes: Changes, direction: Mapping[str, Any], *, round_trip_ns: int, mtu: int) -> Plain:
    """A change of the plan for a direction that is as ``direction`` says at that time.

    ``round_trip_ns`` is the link's after the change.
    """
    change = dict(_NOTHING)
    rate = direction["rate"].get("bits_per_s")
    if changes.delay is not None:
        change["delay"] = plan_delay(changes.delay)
        if "reorder" in changes.delay.model_fields_set and changes.delay.reorder != direction["reorder"]:
            raise ChangeError("delay", '"reorder" is fixed for a run', "write it at the link")
        late = direction["out_of_order"]
        if late and late["delay_ns"] <= plan_mean_ns(change["delay"]):
            raise ChangeError("delay", "exceeds the delay of out_of_order", "write a shorter delay")
    if changes.rate is not None:
        change["rate"] = plan_rate(changes.rate)
        if rate is None and changes.queue is None and set(direction["queue"].values()) == {None}:
            change["queue"] = default_queue(
                bits_per_s=changes.rate.bits_per_s, round_trip_ns=round_trip_ns, mtu=mtu
            )
        rate = changes.rate.bits_per_s
    if changes.queue is not None:
        change["queue"] = plan_queue(changes.queue.limit, bits_per_s=rate, round_trip_ns=round_trip_ns)
        if change["queue"] is None:
            raise ChangeError(
                "queue", "a limit in time or BDPs needs a rate", "set rate, or write 100p or 1MiB"
            )
    if changes.loss is not None:
        change["loss"] = plan_loss(changes.loss)
    if changes.duplicate is not None:
        change["duplicate"] = float(changes.duplicate)
    return change


def _changes(
    started: _Started, link: Wire, state: dict[str, Plain], ways: tuple[str, ...]
) -> Iterator[tuple[int, str | None, Plain]]:
    """The changes of one event on one link; ``state`` becomes what it leaves."""
    event, at_ns = started.event, started.at_ns
    whole = None if len(ways) == 2 else ways[0]
    if event.change is None:
        up = event.up is True
        yield at_ns, whole, {**_NOTHING, "up": up}
        if not up and not isinstance(event.down, bool) and event.down is not None:
            yield at_ns + event.down.ns, whole, {**_NOTHING, "up": True}
        return
    both_ns = sum(plan_mean_ns(state[way]["delay"]) for way in WAYS)
    if event.change.delay is not None and len(ways) == 2:
        both_ns = 2 * event.change.delay.base.ns
    targets = {}
    for way in ways:
        round_trip_ns = both_ns
        if event.change.delay is not None and len(ways) == 1:
            round_trip_ns += event.change.delay.base.ns - plan_mean_ns(state[way]["delay"])
        targets[way] = change_of(event.change, state[way], round_trip_ns=round_trip_ns, mtu=link.mtu)
    steps = 1 if event.over is None else max(1, -(-event.over.ns // STEP_NS))
    over_ns = event.over.ns if event.over else 0
    before = {way: dict(state[way]) for way in ways}
    for way in ways:
        state[way] |= {key: value for key, value in targets[way].items() if value is not None}
    if event.over is None:
        yield from _together(at_ns, whole, targets)
        return
    if steps > MOST_CHANGES:
        raise ChangeError("over", f"makes more than {MOST_CHANGES} changes", "shorten the ramp")
    for step in range(1, steps + 1):
        offset = min(step * STEP_NS, over_ns)
        parts = {way: _part(before[way], targets[way], offset, over_ns, first=step == 1) for way in ways}
        yield from _together(at_ns + offset, whole, parts)


def _together(
    at_ns: int, whole: str | None, parts: Mapping[str, Plain]
) -> Iterator[tuple[int, str | None, Plain]]:
    """One change of both directions where they are alike, two otherwise."""
    changes = list(parts.items())
    if len(changes) == 1 or changes[0][1] == changes[1][1]:
        yield at_ns, whole, changes[0][1]
    else:
        yield from ((at_ns, way, change) for way, change in changes)


def _part(before: Mapping[str, Any], target: Plain, done_ns: int, over_ns: int, *, first: bool) -> Plain:
    """The change ``done_ns`` into a ramp; a queue's limit changes at once."""

    def between(a: int, b: int) -> int:
        return a + (b - a) * done_ns // over_ns if done_ns < over_ns else b

    def share(a: float, b: float) -> float:
        return a + (b - a) * done_ns / over_ns if done_ns < over_ns else b

    part = dict(_NOTHING)
    if target["queue"] is not None and first:
        part["queue"] = target["queue"]
    if target["duplicate"] is not None:
        part["duplicate"] = share(before["duplicate"], target["duplicate"])
    if target["rate"] is not None:
        if before["rate"]["law"] != "constant":
            raise ChangeError(
                "rate", "a rate cannot come gradually from unlimited", "give the link a rate, or drop over"
            )
        part["rate"] = {
            "law": "constant",
            "bits_per_s": between(before["rate"]["bits_per_s"], target["rate"]["bits_per_s"]),
        }
    if target["loss"] is not None:
        means = [_mean(law) for law in (before["loss"], target["loss"])]
        mean = share(*means)
        part["loss"] = {"law": "independent", "probability": mean} if mean else {"law": "none"}
    if target["delay"] is not None:
        part["delay"] = _delay_between(before["delay"], target["delay"], between)
    return part


def _mean(loss: Mapping[str, Any]) -> float:
    if loss["law"] == "none":
        return 0.0
    if loss["law"] != "independent":
        raise ChangeError("loss", "only independent loss changes gradually", "write a share, or drop over")
    return float(loss["probability"])


_WIDTH = {"uniform": "half_width_ns", "normal": "sd_ns"}


def _delay_between(before: Mapping[str, Any], target: Mapping[str, Any], between: Any) -> Plain:
    mean = between(plan_mean_ns(before), plan_mean_ns(target))
    laws = {law["law"] for law in (before, target)} - {"constant"}
    if len(laws) == 2:
        raise ChangeError("delay", "cannot go gradually from one distribution to another", "drop over")
    if not laws:
        return {"law": "constant", "delay_ns": mean}
    law = laws.pop()
    key = _WIDTH[law]
    width = between(before.get(key, 0), target.get(key, 0))
    if law == "uniform":
        width = min(width, mean)
    return {"law": law, "mean_ns": mean, key: width} if width else {"law": "constant", "delay_ns": mean}


def _check_overlap(
    started: _Started,
    link: int,
    ways: tuple[str, ...],
    ramps: dict[tuple[int, str, str], tuple[int, int]],
    position: int,
) -> None:
    """Refuse a change of what another event is still changing."""
    change = started.event.change
    if change is None:
        return
    end_ns = started.at_ns + (started.event.over.ns if started.event.over else 0)
    for way in ways:
        for key in change.model_fields_set:
            until, other = ramps.get((link, way, key), (0, -1))
            if started.at_ns < until:
                raise ChangeError("at", f"events[{other}] still changes {key}", "begin when it has ended")
            ramps[link, way, key] = (end_ns, position)
