"""The state of a link after changes, and the change that a scenario's event makes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import longhaul.plan as planned
from longhaul.diagnostics import Code
from longhaul.plan import WAYS, Way
from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import (
    LinkContext,
    Plain,
    default_queue,
    mean_of,
    plan_delay,
    plan_loss,
    plan_mean_ns,
    plan_queue,
    plan_rate,
    rate_of_model,
)
from longhaul.scenario.lower.link_models.delay import plan_reordering
from longhaul.scenario.lower.link_models.rate import FRAMING
from longhaul.scenario.model import Changes
from longhaul.scenario.syntax.value_errors import ScenarioValueError, within

JOINED: Plain = {"up": True, "present": True}
LEFT: Plain = {"up": False, "present": False}
"""The changes by which a link joins or leaves the network."""

NOTHING: Plain = dict.fromkeys(
    (
        *("up", "loss", "loss_position", "queue", "rate", "framing", "delay", "reorder", "reordering"),
        *("duplicate", "corrupt", "coalesce_ns"),
    )
)
"""A change of the plan that changes nothing."""

Lane = tuple[Way, int]
"""A way, and one of its routes; 0 where there are none."""

Address = Plain
"""What a change is of: ``direction`` and ``route``, each ``None`` for all."""


@dataclass(frozen=True)
class LinkState:
    """The models of each way's routes, of a way itself where it has none; :meth:`put` changes them."""

    name: str
    mtu: int
    lanes: dict[Way, list[Plain]]
    bundled: frozenset[Way]
    """The ways with parallel routes."""
    to_hosts: frozenset[Way]
    """The ways that end at a host."""

    @classmethod
    def of(
        cls,
        name: str,
        mtu: int,
        directions: Mapping[Way, Mapping[str, Any]],
        to_hosts: Iterable[Way],
    ) -> "LinkState":
        """From the directions of the plan, by their ways, and those that end at a host."""
        return cls(
            name,
            mtu,
            {way: _lanes_of(directions[way]) for way in WAYS},
            frozenset(way for way in WAYS if directions[way].get("bundle")),
            frozenset(to_hosts),
        )

    def addressed(self, ways: Sequence[Way], route: int | None) -> list[Lane]:
        """One route (from 1) of each of ``ways``, or all of them. Raises :class:`ScenarioValueError`."""
        if route is None:
            return [(way, number) for way in ways for number in range(len(self.lanes[way]))]
        for way in ways:
            routes = len(self.lanes[way]) if way in self.bundled else 0
            if not 1 <= route <= routes:
                what = f"has {routes} routes" if routes else "has no parallel routes"
                message = f'there is no route {route}: "{self.name}" {what}'
                raise ScenarioValueError(
                    Code.ROUTE_UNKNOWN, ("route",), message, f"write 1 to {routes}" if routes else "remove it"
                )
        return [(way, route - 1) for way in ways]

    def targets(
        self, changes: Changes, ways: Sequence[Way], lanes: Sequence[Lane], inputs: Inputs
    ) -> dict[Lane, Plain]:
        """What each lane is to become. Raises :class:`ScenarioValueError` and :class:`FileError`."""
        delay = None
        if changes.delay is not None:
            with within("delay"):
                delay = plan_delay(changes.delay, inputs)
        after = {way: mean_of([lane["delay"] for lane in self.lanes[way]]) for way in WAYS}
        if delay is not None:
            for way in ways:
                numbers = {number for each, number in lanes if each == way}
                delays = [
                    delay if number in numbers else lane["delay"]
                    for number, lane in enumerate(self.lanes[way])
                ]
                after[way] = mean_of(delays)
        joining = self.to_hosts.intersection(ways) - self.bundled
        if changes.coalesce is not None and not joining:
            what = "no direction of this link ends at a host, without routes"
            raise ScenarioValueError(Code.KEY_OUT_OF_PLACE, ("coalesce",), what, "name the link of a host")
        targets = {}
        for way, number in lanes:
            lane = self.lanes[way][number]
            own = plan_mean_ns(delay if delay is not None else lane["delay"])
            targets[way, number] = _target(
                changes,
                lane,
                inputs,
                delay=delay,
                round_trip_ns=sum(after.values()) - after[way] + own,
                mtu=self.mtu,
            )
            if changes.coalesce is not None and way in joining:
                targets[way, number]["coalesce_ns"] = changes.coalesce.ns
        return targets

    def put(self, targets: Mapping[Lane, Plain]) -> None:
        """Let lanes become what they are to become."""
        for (way, number), target in targets.items():
            self.lanes[way][number] |= {key: value for key, value in target.items() if value is not None}

    def together(self, route: int | None, parts: Mapping[Lane, Plain]) -> Iterator[tuple[Address, Plain]]:
        """As few changes as say the same: of all routes if they are alike, of both ways if these are."""
        by_way: dict[Way, list[tuple[int | None, Plain]]] = {}
        for (way, number), part in parts.items():
            by_way.setdefault(way, []).append((number, part))
        for way, changes in by_way.items():
            alike = way not in self.bundled or all(change == changes[0][1] for _number, change in changes)
            if route is None and alike:
                by_way[way] = [(None, changes[0][1])]
        ways = list(by_way)
        both = len(ways) == 2 and by_way[ways[0]] == by_way[ways[1]]
        for way in ways[:1] if both else ways:
            for each, change in by_way[way]:
                if all(value is None for value in change.values()):
                    continue
                yield {"direction": None if both else way, "route": each}, change


def _lanes_of(direction: Mapping[str, Any]) -> list[Plain]:
    bundle = direction.get("bundle")
    return [dict(lane) for lane in (bundle["routes"] if bundle else [direction])]


def _target(
    changes: Changes,
    lane: Mapping[str, Any],
    inputs: Inputs,
    *,
    delay: planned.DelayModel | None,
    round_trip_ns: int,
    mtu: int,
) -> Plain:
    """A change of the plan for a direction or route that is as ``lane`` says.

    ``delay`` is the new one, planned; ``round_trip_ns`` is the link's after the change.
    """
    change = dict(NOTHING)
    bits_per_s = rate_of_model(lane["rate"])
    unlimited = bits_per_s is None
    if changes.delay is not None and delay is not None:
        change["delay"] = delay
        if "reorder" in changes.delay.model_fields_set:
            change["reorder"] = changes.delay.reorder
        late = None if changes.reordering is not None else lane["reordering"]
        if late and late.get("delay_ns", plan_mean_ns(delay) + 1) <= plan_mean_ns(delay):
            raise ScenarioValueError(
                Code.DELAY_IMPOSSIBLE,
                ("delay",),
                "is not below the delay of reordered packets",
                "write a shorter delay",
            )
    if changes.rate is not None:
        with within("rate"):
            change["rate"] = plan_rate(changes.rate, inputs)
        bits_per_s = rate_of_model(change["rate"])
    here = LinkContext(bits_per_s, round_trip_ns, mtu)
    if changes.queue is not None:
        with within("queue"):
            change["queue"] = plan_queue(changes.queue, here)
    elif changes.rate is not None and unlimited:
        queue = lane["queue"]
        if queue["limit_packets"] is None and queue["limit_bytes"] is None:
            change["queue"] = {**default_queue(here), "discipline": queue["discipline"]}
    if changes.loss is not None:
        with within("loss"):
            change["loss"] = plan_loss(changes.loss, inputs)
        if changes.loss.position is not None:
            change["loss_position"] = changes.loss.position
    if changes.reordering is not None:
        mean_ns = plan_mean_ns(delay if delay is not None else lane["delay"])
        with within("reordering"):
            change["reordering"] = plan_reordering(changes.reordering, mean_ns) or {"model": "none"}
    if changes.count is not None:
        change["framing"] = dict(FRAMING[changes.count])
    for share in ("duplicate", "corrupt"):
        value = getattr(changes, share)
        change[share] = None if value is None else float(value)
    return change
