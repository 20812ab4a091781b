"""Events of the scenario as changes of the plan: ramps in steps, outages with their end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import longhaul.plan as planned
from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import WAYS, Way
from longhaul.scenario.check.scenario import Scenario
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import Plain, part_way
from longhaul.scenario.lower.link_state import NOTHING, Address, Lane, LinkState
from longhaul.scenario.lower.network import Network, Wire, far_end
from longhaul.scenario.model import Changes, Event
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.scenario.syntax.yaml_tree import Path, follow

STEP_NS = 10 * 10**6
"""Of a gradual change."""
MOST_CHANGES = 100_000
FIRST_STEP_KEYS = ("queue", "reorder", "loss_position", "reordering", "framing", "coalesce_ns")
"""What a gradual change changes with its first step."""

Ramps = dict[tuple[str, int, str], tuple[int, int]]
"""Until when which event changes a model of a way's route."""


@dataclass(frozen=True)
class _Started:
    """An event that has begun, with its place in the file."""

    event: Event
    path: Path
    at_ns: int
    position: int


def plan_events(
    scenario: Scenario, network: Network, inputs: Inputs
) -> tuple[list[planned.Event], list[Diagnostic]]:
    """The events of the plan, in order of time, and what is wrong with the scenario's."""
    problems: list[Diagnostic] = []
    found: list[tuple[int, int, planned.Event]] = []
    states: dict[int, LinkState] = {}
    ramps: list[Ramps] = [{} for _link in network.links]
    order = sorted(enumerate(scenario.document.events), key=lambda item: item[1].at.ns)
    for position, event in order:
        started = _Started(event, ("events", position), event.at.ns, position)
        cause = cause_of(position, event)
        for name in () if event.moves else event.link:
            index = network.link_index[name]
            if index not in states:
                states[index] = _state(network.links[index], network)
            try:
                for at_ns, address, change in _changes(started, states[index], ramps[index], inputs):
                    what = {"at_ns": at_ns, "link": index, **address, "change": change, "cause": cause}
                    found.append((at_ns, position, cast("planned.Event", what)))
            except ScenarioValueError as error:
                inner = (
                    ("set", *error.at) if error.at[:1] and error.at[0] in Changes.model_fields else error.at
                )
                whole = follow(scenario.tree, (*started.path, *inner))[2]
                problems.append(scenario.problem(error.code, whole, error.message, error.remedy))
            except FileError as error:
                problems.append(error.problem)
        if len(found) > MOST_CHANGES:
            path = (*started.path, "over")
            problems.append(
                scenario.problem(
                    Code.TOO_MANY_CHANGES, path, f"makes more than {MOST_CHANGES} changes", "shorten the ramp"
                )
            )
            break
    found.sort(key=lambda item: item[:2])
    return [event for _at, _position, event in found], problems


def _state(link: Wire, network: Network) -> LinkState:
    to_hosts = [way for way in WAYS if network.nodes[far_end(link.ends, way)].spec.kind == "host"]
    return LinkState.of(link.name, link.mtu, {way: getattr(link, way) for way in WAYS}, to_hosts)


def cause_of(position: int, event: Event) -> planned.EventCause:
    """What the changes of an event say of where they come from."""
    over_ns = event.over.ns if event.over is not None else 0
    return {"by": "event", "position": position, "begins_ns": event.at.ns, "over_ns": over_ns}


def _changes(
    started: _Started, state: LinkState, ramps: Ramps, inputs: Inputs
) -> Iterator[tuple[int, Address, Plain]]:
    """Time, address and change, for one event on one link; ``state`` becomes what it leaves."""
    event, at_ns = started.event, started.at_ns
    ways: tuple[Way, ...] = WAYS if event.direction == "both" else (event.direction,)
    lanes = state.addressed(ways, event.route)
    _check_overlap(started, ramps, lanes)
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
    targets = state.targets(event.change, ways, lanes, inputs)
    before = {(way, number): dict(state.lanes[way][number]) for way, number in lanes}
    state.put(targets)
    if event.over is None:
        for address, change in state.together(event.route, targets):
            yield at_ns, address, change
        return
    over_ns = event.over.ns
    if -(-over_ns // STEP_NS) * len(lanes) > MOST_CHANGES:
        raise ScenarioValueError(
            Code.TOO_MANY_CHANGES, ("over",), f"makes more than {MOST_CHANGES} changes", "shorten the ramp"
        )
    for offset, done in ramp_steps(over_ns):
        parts = {
            lane: ramp_step(before[lane], targets[lane], done, first=offset <= STEP_NS) for lane in lanes
        }
        for address, change in state.together(event.route, parts):
            yield at_ns + offset, address, change


def ramp_steps(over_ns: int) -> Iterator[tuple[int, Fraction]]:
    """When, after its beginning, a gradual change makes its steps, and how much of it is then done."""
    for step in range(1, max(1, -(-over_ns // STEP_NS)) + 1):
        offset = min(step * STEP_NS, over_ns)
        yield offset, Fraction(offset, over_ns) if over_ns else Fraction(1)


def ramp_step(before: Mapping[str, Any], target: Mapping[str, Any], done: Fraction, *, first: bool) -> Plain:
    """The change of one step; what has no number to move changes with the first."""
    at_once = {key: target[key] for key in (FIRST_STEP_KEYS if first else ())}
    return {**NOTHING, **at_once, **part_way(before, target, done)}


def _check_overlap(started: _Started, ramps: Ramps, lanes: Sequence[Lane]) -> None:
    """Refuse a change of what another event is still changing."""
    change = started.event.change
    if change is None:
        return
    end_ns = started.at_ns + (started.event.over.ns if started.event.over else 0)
    for way, number in lanes:
        for key in change.model_fields_set:
            until, other = ramps.get((way, number, key), (0, -1))
            if started.at_ns < until:
                message = f"events[{other}] still changes {key}"
                raise ScenarioValueError(Code.EVENTS_OVERLAP, ("at",), message, "begin when it has ended")
            ramps[way, number, key] = (end_ns, started.position)
