"""Events of the scenario as changes of the plan: ramps in steps, outages with their end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from longhaul.scenario.inputs import FileError, Inputs, LawError, within
from longhaul.scenario.laws import (
    PLACES,
    Plain,
    Surroundings,
    default_queue,
    mean_of,
    part_way,
    plan_delay,
    plan_loss,
    plan_mean_ns,
    plan_queue,
    plan_rate,
    rate_of_law,
)
from longhaul.scenario.load import Scenario
from longhaul.scenario.model import Changes, Event
from longhaul.scenario.network import WAYS, Network, Wire
from longhaul.scenario.problems import Problem
from longhaul.scenario.yaml_tree import Path, follow

STEP_NS = 10 * 10**6
"""Of a gradual change."""
MOST_CHANGES = 100_000

NOTHING: Plain = dict.fromkeys(("up", "loss", "queue", "rate", "delay", "reorder", "duplicate", "corrupt"))

Lane = tuple[str, int]
"""A way, and one of its routes; 0 where there are none."""


@dataclass(frozen=True)
class _Started:
    """An event that has begun, with its place in the file."""

    event: Event
    path: Path
    at_ns: int
    position: int


@dataclass(frozen=True)
class _State:
    """A link as the events so far have left it: the laws of each way's routes."""

    wire: Wire
    lanes: dict[str, list[Plain]]
    ramps: dict[tuple[str, int, str], tuple[int, int]] = field(default_factory=dict)

    def mean_ns(self, way: str) -> int:
        """The mean delay of a way."""
        return mean_of([lane["delay"] for lane in self.lanes[way]])


def lanes_of(direction: Mapping[str, Any]) -> list[Plain]:
    """The routes of a direction of the plan; the direction itself where it has none."""
    bundle = direction.get("bundle")
    return [dict(lane) for lane in (bundle["routes"] if bundle else [direction])]


def plan_events(scenario: Scenario, network: Network, inputs: Inputs) -> tuple[list[Plain], list[Problem]]:
    """The events of the plan, in order of time, and what is wrong with the scenario's."""
    problems: list[Problem] = []
    found: list[tuple[int, int, Plain]] = []
    states = [_State(link, {way: lanes_of(getattr(link, way)) for way in WAYS}) for link in network.links]
    order = sorted(enumerate(scenario.document.events), key=lambda item: item[1].at.ns)
    for position, event in order:
        started = _Started(event, ("events", position), event.at.ns, position)
        for name in event.link:
            index = network.link_index[name]
            try:
                for at_ns, address, change in _changes(started, states[index], inputs):
                    found.append(
                        (at_ns, position, {"at_ns": at_ns, "link": index, **address, "change": change})
                    )
            except LawError as error:
                inner = ("set", *error.at) if error.at[:1] and error.at[0] in NOTHING else error.at
                whole = follow(scenario.tree, (*started.path, *inner))[2]
                problems.append(scenario.problem(whole, error.message, error.remedy))
            except FileError as error:
                problems.append(error.problem)
        if len(found) > MOST_CHANGES:
            path = (*started.path, "over")
            problems.append(
                scenario.problem(path, f"makes more than {MOST_CHANGES} changes", "shorten the ramp")
            )
            break
    found.sort(key=lambda item: item[:2])
    return [event for _at, _position, event in found], problems


def change_of(
    changes: Changes,
    lane: Mapping[str, Any],
    inputs: Inputs,
    *,
    delay: Plain | None,
    round_trip_ns: int,
    mtu: int,
) -> Plain:
    """A change of the plan for a direction or route that is as ``lane`` says at that time.

    ``delay`` is the new one, planned; ``round_trip_ns`` is the link's after the change. Raises
    :class:`LawError` and :class:`FileError`.
    """
    change = dict(NOTHING)
    bits_per_s = rate_of_law(lane["rate"])
    unlimited = bits_per_s is None
    if changes.delay is not None and delay is not None:
        change["delay"] = delay
        if "reorder" in changes.delay.model_fields_set:
            change["reorder"] = changes.delay.reorder
        late = lane["out_of_order"]
        if late and late.get("delay_ns", plan_mean_ns(delay) + 1) <= plan_mean_ns(delay):
            raise LawError(("delay",), "exceeds the delay of out_of_order", "write a shorter delay")
    if changes.rate is not None:
        with within("rate"):
            change["rate"] = plan_rate(changes.rate, inputs)
        bits_per_s = rate_of_law(change["rate"])
    here = Surroundings(bits_per_s, round_trip_ns, mtu)
    if changes.queue is not None:
        with within("queue"):
            change["queue"] = plan_queue(changes.queue, here)
    elif changes.rate is not None and unlimited:
        queue = lane["queue"]
        if queue["limit_packets"] is None and queue["limit_bytes"] is None:
            change["queue"] = {**default_queue(here), "discipline": queue["discipline"]}
    if changes.loss is not None:
        if changes.loss.place is not None and PLACES[changes.loss.place] != lane["loss_place"]:
            raise LawError(
                ("loss", "place"), "the place of losses is fixed for a run", "write it at the link"
            )
        with within("loss"):
            change["loss"] = plan_loss(changes.loss, inputs)
    for share in ("duplicate", "corrupt"):
        value = getattr(changes, share)
        change[share] = None if value is None else float(value)
    return change


def _changes(started: _Started, state: _State, inputs: Inputs) -> Iterator[tuple[int, Plain, Plain]]:
    """Time, address and change, for one event on one link; ``state`` becomes what it leaves."""
    event, at_ns = started.event, started.at_ns
    ways: tuple[str, ...] = WAYS if event.direction == "both" else (event.direction,)
    lanes = _lanes(event, state, ways)
    _check_overlap(started, state, lanes)
    if event.change is None:
        up = event.up is True
        address = {
            "direction": None if len(ways) == 2 else ways[0],
            "route": None if event.route is None else event.route - 1,
        }
        yield at_ns, address, {**NOTHING, "up": up}
        if not up and not isinstance(event.down, bool) and event.down is not None:
            yield at_ns + event.down.ns, address, {**NOTHING, "up": True}
        return
    targets = _targets(event.change, state, ways, lanes, inputs)
    before = {(way, number): dict(state.lanes[way][number]) for way, number in lanes}
    for way, number in lanes:
        kept = {key: value for key, value in targets[way, number].items() if value is not None}
        state.lanes[way][number] |= kept
    if event.over is None:
        yield from _together(at_ns, state, event.route, targets)
        return
    over_ns = event.over.ns
    steps = max(1, -(-over_ns // STEP_NS))
    if steps * len(lanes) > MOST_CHANGES:
        raise LawError(("over",), f"makes more than {MOST_CHANGES} changes", "shorten the ramp")
    for step in range(1, steps + 1):
        offset = min(step * STEP_NS, over_ns)
        done = Fraction(offset, over_ns) if over_ns else Fraction(1)
        parts = {}
        for lane in lanes:
            # A queue's limit and whether packets may overtake change at once.
            words = ("queue", "reorder") if step == 1 else ()
            at_once = {key: targets[lane][key] for key in words}
            parts[lane] = {**NOTHING, **at_once, **part_way(before[lane], targets[lane], done)}
        yield from _together(at_ns + offset, state, event.route, parts)


def _lanes(event: Event, state: _State, ways: Sequence[str]) -> list[Lane]:
    """What an event changes: one route, or all of them."""
    if event.route is None:
        return [(way, number) for way in ways for number in range(len(state.lanes[way]))]
    for way in ways:
        routes = len(state.lanes[way]) if getattr(state.wire, way)["bundle"] else 0
        if event.route > routes:
            what = f"has {routes} routes" if routes else "has no parallel routes"
            message = f'there is no route {event.route}: "{state.wire.name}" {what}'
            raise LawError(("route",), message, f"write 1 to {routes}" if routes else "remove it")
    return [(way, event.route - 1) for way in ways]


def _targets(
    changes: Changes, state: _State, ways: Sequence[str], lanes: Sequence[Lane], inputs: Inputs
) -> dict[Lane, Plain]:
    """What each lane is to become."""
    delay = None
    if changes.delay is not None:
        with within("delay"):
            delay = plan_delay(changes.delay, inputs)
    after = {way: state.mean_ns(way) for way in WAYS}
    if delay is not None:
        for way in ways:
            numbers = {number for each, number in lanes if each == way}
            delays = [
                delay if number in numbers else lane["delay"] for number, lane in enumerate(state.lanes[way])
            ]
            after[way] = mean_of(delays)
    targets = {}
    for way, number in lanes:
        lane = state.lanes[way][number]
        own = plan_mean_ns(delay if delay is not None else lane["delay"])
        targets[way, number] = change_of(
            changes,
            lane,
            inputs,
            delay=delay,
            round_trip_ns=sum(after.values()) - after[way] + own,
            mtu=state.wire.mtu,
        )
    return targets


def _together(
    at_ns: int, state: _State, route: int | None, parts: Mapping[Lane, Plain]
) -> Iterator[tuple[int, Plain, Plain]]:
    """As few changes as say the same: of all routes where they are alike, of both ways where these are."""
    by_way: dict[str, list[tuple[int | None, Plain]]] = {}
    for (way, number), part in parts.items():
        by_way.setdefault(way, []).append((number, part))
    for way, changes in by_way.items():
        is_bundle = bool(getattr(state.wire, way)["bundle"])
        if route is None and (not is_bundle or all(change == changes[0][1] for _number, change in changes)):
            by_way[way] = [(None, changes[0][1])]
    ways = list(by_way)
    if len(ways) == 2 and by_way[ways[0]] == by_way[ways[1]]:
        by_way = {"both": by_way[ways[0]]}
    for way, changes in by_way.items():
        for each, change in changes:
            yield at_ns, {"direction": None if way == "both" else way, "route": each}, change


def _check_overlap(started: _Started, state: _State, lanes: Sequence[Lane]) -> None:
    """Refuse a change of what another event is still changing."""
    change = started.event.change
    if change is None:
        return
    end_ns = started.at_ns + (started.event.over.ns if started.event.over else 0)
    for way, number in lanes:
        for key in change.model_fields_set:
            until, other = state.ramps.get((way, number, key), (0, -1))
            if started.at_ns < until:
                message = f"events[{other}] still changes {key}"
                raise LawError(("at",), message, "begin when it has ended")
            state.ramps[way, number, key] = (end_ns, started.position)
