"""Which link model each direction of a run had, and when: the plan, and the changes that the run applied.

This is the only place that works it out. Whoever compares a measurement with what was configured asks here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from longhaul.plan import WAYS, Plan, Way
from longhaul.scenario.lower.link_models import mean_loss, mean_of, plan_bits_per_s, plan_mean_ns

Json = Mapping[str, Any]
Model = dict[str, Any]
"""One direction of a link, in the plan's words."""


Steps = list[tuple[int, int | None]]
"""From which ns on there was which value; the first begins at 0."""


@dataclass(frozen=True)
class Applied:
    """A change of a link that a run made, as ``raw/changes.jsonl`` has it."""

    at_ns: int
    link: int
    ways: tuple[Way, ...]
    route: int | None
    """Which of the link's parallel routes, from 0; ``None``: the link, or all of them."""
    change: Json
    """What became different, and nothing else."""
    cause: Json
    """``by`` is event, cli, page or python."""
    before: Mapping[str, Json] = field(default_factory=dict)
    """What each direction had counted until then; empty where that was not recorded."""

    @property
    def is_of_a_link(self) -> bool:
        """Whether a link changed; routes that were computed anew are none's."""
        return bool(self.change)

    @classmethod
    def read(cls, row: Json) -> "Applied":
        """From an object of the record, or from an event of the plan."""
        way = row.get("direction")
        change = {
            key: value
            for key, value in row["change"].items()
            if value is not None and value != [] and key != "reroute"
        }
        return cls(
            at_ns=int(row["at_ns"]),
            link=int(row["link"]),
            ways=WAYS if way is None else (way,),
            route=row.get("route"),
            change=change,
            cause=row.get("cause") or {"by": "event"},
            before=row.get("before") or {},
        )


def planned(plan: Plan) -> list[Applied]:
    """The events of the plan as if all of them had been applied."""
    return [each for each in map(Applied.read, plan.get("events", ())) if each.is_of_a_link]


@dataclass(frozen=True)
class Configured:
    """A link model in numbers; of parallel routes rates and queues together, loss and delay on average."""

    delay_ns: int
    """Mean of one way."""
    bits_per_s: int | None
    """``None``: unlimited."""
    loss: float | None
    """Share of packets; ``None`` where time decides."""
    queue_bytes: int | None
    queue_packets: int | None
    routes: int
    up: bool

    @classmethod
    def of(cls, model: Json) -> "Configured":
        """The numbers of a direction of the plan."""
        routes = _routes(model)
        losses = [mean_loss(route["loss"]) for route in routes]
        known = [loss for loss in losses if loss is not None]
        return cls(
            delay_ns=plan_mean_ns(model["delay"]),
            bits_per_s=plan_bits_per_s(model),
            loss=sum(known) / len(known) if len(known) == len(losses) else None,
            queue_bytes=_sum([route["queue"]["limit_bytes"] for route in routes]),
            queue_packets=_sum([route["queue"]["limit_packets"] for route in routes]),
            routes=len(routes),
            up=bool(model["up"]) and any(route["up"] for route in routes),
        )


@dataclass(frozen=True)
class Phase:
    """A time during which a direction had one link model."""

    from_ns: int
    model: Json
    cause: Json | None = None
    """Of the change that began it; ``None``: the run's beginning."""
    before: Json = field(default_factory=dict)
    """What the direction had counted until then, if that is known."""

    @cached_property
    def configured(self) -> Configured:
        """The model in numbers."""
        return Configured.of(self.model)

    @cached_property
    def bits_per_s(self) -> int | None:
        """The rate, that of parallel routes together; ``None``: unlimited."""
        return plan_bits_per_s(self.model)

    @cached_property
    def delay_ns(self) -> int:
        """The mean delay of one way."""
        return plan_mean_ns(self.model["delay"])


class Configuration:
    """The link models of a run over its time; changes come in order of time."""

    def __init__(self, plan: Plan, changes: Iterable[Applied] = ()) -> None:
        """Of a run of ``plan`` that has made ``changes``."""
        self._links = plan["links"]
        self._coalesce_ns = plan.get("coalesce_ns", 0)
        self._phases: dict[tuple[int, str], list[Phase]] = {}
        self.changes: list[Applied] = []
        """All that were applied."""
        for each in changes:
            self.apply(each)

    def apply(self, applied: Applied) -> None:
        """Take in a change that the run has just made."""
        self.changes.append(applied)
        for way in applied.ways:
            phases = self._of(applied.link, way)
            model = changed(phases[-1].model, applied.change, route=applied.route)
            phase = Phase(applied.at_ns, model, applied.cause, applied.before.get(way, {}))
            if phases[-1].from_ns == applied.at_ns and len(phases) > 1:
                # Of several changes at one instant the first knows what was counted before.
                phase = Phase(applied.at_ns, model, applied.cause, phases[-1].before or phase.before)
                phases[-1] = phase
            else:
                phases.append(phase)

    def phases(self, link: int, way: Way) -> Sequence[Phase]:
        """The link models of a direction, in order of time; the first begins at 0."""
        return self._of(link, way)

    def model(self, link: int, way: Way, at_ns: int | None = None) -> Json:
        """The link model that a direction has at an instant; the latest if left out."""
        return self.at(link, way, at_ns).model

    def at(self, link: int, way: Way, at_ns: int | None = None) -> Phase:
        """The phase of a direction at an instant; the latest if left out."""
        phases = self._of(link, way)
        if at_ns is None:
            return phases[-1]
        return next((each for each in reversed(phases) if each.from_ns <= at_ns), phases[0])

    def rates(self, link: int, way: Way) -> Steps:
        """From which ns on the direction had which bit/s (``None``: unlimited), those of its routes together.

        A rate that a trace moves counts with its mean. That the link is down does not change its rate.
        """
        steps: Steps = []
        for phase in self._of(link, way):
            rate = phase.bits_per_s
            if not steps or steps[-1][1] != rate:
                steps.append((phase.from_ns, rate))
        return steps

    def delays(self, path: Iterable[tuple[int, Way]]) -> list[tuple[int, int]]:
        """From which ns on the mean delays along a path, links with their ways, added up to which ns."""
        parts = [[(phase.from_ns, phase.delay_ns) for phase in self._of(*step)] for step in path]
        times = sorted({0, *(at_ns for part in parts for at_ns, _delay in part)})
        steps: list[tuple[int, int]] = []
        places = [0] * len(parts)
        for at_ns in times:
            for index, part in enumerate(parts):
                while places[index] + 1 < len(part) and part[places[index] + 1][0] <= at_ns:
                    places[index] += 1
            total = sum(part[place][1] for part, place in zip(parts, places, strict=True))
            if not steps or steps[-1][1] != total:
                steps.append((at_ns, total))
        return steps

    def _of(self, link: int, way: Way) -> list[Phase]:
        phases = self._phases.get((link, way))
        if phases is None:
            first = {**self._links[link][way], "coalesce_ns": self._coalesce_ns}
            phases = self._phases[link, way] = [Phase(0, first)]
        return phases


def changed(model: Json, change: Json, *, route: int | None) -> Model:
    """The link model after a change of the plan; ``model`` stays as it is."""
    after = dict(model)
    own = {key: value for key, value in change.items() if key not in ("pacing", "present")}
    if own.get("reordering") == {"model": "none"}:
        own["reordering"] = None
    bundle = after.get("bundle")
    if bundle is None:
        after |= own
    else:
        if route is None and "up" in own:
            # That a link with parallel routes is down closes all of them; each keeps its own state.
            after["up"] = own.pop("up")
        routes = [
            {**each, **own} if route in (None, number) else each
            for number, each in enumerate(bundle["routes"])
        ]
        after["bundle"] = {**bundle, "routes": routes}
        if "delay" in own:
            after["delay"] = {"model": "constant", "delay_ns": mean_of([each["delay"] for each in routes])}
    if change.get("pacing") and after.get("pacing"):
        pacing = deepcopy(after["pacing"])
        for each in change["pacing"]:
            pacing["classes"][each["class"]]["model"] = each["model"]
        after["pacing"] = pacing
    return after


def lanes(model: Json) -> Iterator[tuple[int | None, Json]]:
    """The parallel routes of a direction, numbered from 0; the direction itself where it has none."""
    bundle = model.get("bundle")
    if bundle is None:
        yield None, model
    else:
        yield from enumerate(bundle["routes"])


def _routes(model: Json) -> Sequence[Json]:
    bundle = model.get("bundle")
    return [model] if bundle is None else bundle["routes"]


def _sum(limits: Sequence[int | None]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return sum(known) if len(known) == len(limits) else None
