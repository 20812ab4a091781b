"""Parallel routes of one link."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import Count, Strict, problem
from longhaul.scenario.model.delay import DelayModel, Reordering
from longhaul.scenario.model.loss import Loss
from longhaul.scenario.model.queue import QueueModel
from longhaul.scenario.model.rate import RateModel
from longhaul.units.quantities import Share, Size, Span

ONE_WAY = "write delay, the time of one way: half of the round trip"
MOST_ROUTES = 64
Framing = Literal["ip", "ethernet", "vlan", "atm"]


class Effects(Strict):
    """What a direction, or one route of it, does to packets; all may be left out."""

    instead: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("rtt", "round_trip", "ping"), ONE_WAY),
        **dict.fromkeys(("latency", "lat", "netdelay", "net_delay"), 'did you mean "delay" (one way)?'),
        **dict.fromkeys(
            ("bandwidth", "bw", "capacity", "speed", "throughput", "shaper"), 'did you mean "rate"?'
        ),
        **dict.fromkeys(("drop", "drop_rate", "plr"), 'did you mean "loss"?'),
        **dict.fromkeys(("limit", "buffer", "max_queue_size"), 'did you mean "queue"?'),
        **dict.fromkeys(
            ("jitter", "variation"), 'write "delay: {base: 5ms, jitter: {dist: normal, sd: 1ms}}"'
        ),
        **dict.fromkeys(
            ("reorder", "out_of_order", "ooo_rate"), 'did you mean "reordering", or "reorder" inside delay?'
        ),
        "ip": 'did you mean "count: ip"?',
        "position": "write it inside loss: {model: independent, mean: 1%, position: egress}",
    }

    up: bool | None = None
    delay: DelayModel | None = None
    rate: RateModel | None = None
    loss: Loss | None = None
    queue: QueueModel | None = None
    reordering: Reordering | None = None
    duplicate: Share | None = None
    corrupt: Share | None = None
    """The share of packets in which one bit arrives wrong."""


class RouteModel(Effects):
    """What one of several routes does."""

    count: Framing | None = None


class Resequence(Strict):
    """The far end puts packets back into order."""

    wait: Span
    """How long a packet waits for those that were sent before it."""
    limit: Size = Size(1 << 20)
    """How much may wait."""


class Routes(Effects):
    """Two to 64 routes; what a route leaves out comes from here, and then from the link."""

    policy: Literal["flow-hash", "round-robin", "vlan-block", "weighted", "least-queued", "flowlet"]
    count: Annotated[int, Count(at_least=2, at_most=MOST_ROUTES)] | None = None
    """How many routes; may be left out beside ``delays`` or ``each``."""
    delays: Annotated[tuple[DelayModel, ...], Field(strict=False)] | None = None
    """The delay of each route."""
    each: Annotated[tuple[RouteModel, ...], Field(strict=False)] | None = None
    """The models of each route."""
    key: Literal["flow", "hosts"] = "flow"
    """Of flow-hash: what makes a flow."""
    weights: (
        Annotated[tuple[Annotated[int, Count(at_least=0, at_most=10**6)], ...], Field(strict=False)] | None
    ) = None
    """Of weighted: one for each route."""
    gap: Span = Span(500_000)
    """Of flowlet: a flow that was silent for so long may go another way."""
    resequence: Resequence | None = None

    @property
    def number(self) -> int:
        """How many routes there are."""
        return self.count or len(self.delays or self.each or ())

    @model_validator(mode="after")
    def _consistent(self) -> "Routes":
        lengths = {
            key: len(value)
            for key in ("delays", "each", "weights")
            if (value := getattr(self, key)) is not None
        }
        if self.count is None and not lengths.keys() & {"delays", "each"}:
            raise problem(
                Code.KEY_MISSING, "does not say how many routes there are", "add for example count: 4"
            )
        if not 2 <= self.number <= MOST_ROUTES:
            key = "delays" if self.delays is not None else "each"
            message = f"makes {self.number} route{'s' if self.number != 1 else ''}"
            raise problem(Code.PARALLEL_ROUTES_INVALID, message, f"write 2 to {MOST_ROUTES}", at=key)
        for key, length in lengths.items():
            if length != self.number:
                message = f"has {length} entr{'y' if length == 1 else 'ies'} for {self.number} routes"
                raise problem(Code.WRONG_LENGTH, message, "write one for each route", at=key)
        if self.delays is not None and any(route.delay is not None for route in self.each or ()):
            raise problem(
                Code.KEYS_CONFLICT, "repeats the delays", "write the delays here or in each", at="delays"
            )
        for key, policy in (("key", "flow-hash"), ("weights", "weighted"), ("gap", "flowlet")):
            if key in self.model_fields_set and self.policy != policy:
                raise problem(
                    Code.KEY_OUT_OF_PLACE,
                    f'belongs to policy "{policy}"',
                    "remove it, or change the policy",
                    at=key,
                )
        if self.policy == "weighted" and not any(self.weights or ()):
            where = "weights" if self.weights is not None else "policy"
            raise problem(
                Code.PARALLEL_ROUTES_INVALID,
                "needs weights that are not all 0",
                "write for example weights: [3, 1]",
                at=where,
            )
        if self.policy == "vlan-block" and self.number not in (2, 4, 8):
            message = f"8 VLAN tags cannot be shared by {self.number} routes"
            raise problem(Code.PARALLEL_ROUTES_INVALID, message, "write 2, 4 or 8 routes", at="policy")
        return self
