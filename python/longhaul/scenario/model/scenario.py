"""The whole scenario, as written."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import (
    Count,
    HostName,
    HostRange,
    KernelVersion,
    Name,
    Names,
    Number,
    Strict,
    Text,
    problem,
)
from longhaul.scenario.model.deferred import deferred
from longhaul.scenario.model.delay import DelayModel, Reordering
from longhaul.scenario.model.link import Link, Profile
from longhaul.scenario.model.loss import Loss
from longhaul.scenario.model.measure import Monitor
from longhaul.scenario.model.node import Node, Tcp
from longhaul.scenario.model.pacing import NewPacing
from longhaul.scenario.model.program import Program
from longhaul.scenario.model.queue import QueueModel
from longhaul.scenario.model.rate import RateModel
from longhaul.scenario.model.routes import MOST_ROUTES, Effects, Framing
from longhaul.scenario.model.traffic import Traffic
from longhaul.units.quantities import Share, Size, Span

if TYPE_CHECKING:
    from longhaul.scenario.model.relay import Relay
    from longhaul.scenario.model.sweep import Sweep
    from longhaul.scenario.model.topology import TopologyModel
else:
    Relay = deferred("longhaul.scenario.model.relay", "Relay")
    Sweep = deferred("longhaul.scenario.model.sweep", "Sweep")
    TopologyModel = deferred("longhaul.scenario.model.topology", "TopologyModel")


def _scalar(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise problem(Code.PARAMETER_INVALID, "a parameter is one value", 'write for example "cc: cubic"')
    if isinstance(value, str) and value.startswith("$"):
        raise problem(Code.PARAMETER_INVALID, "a parameter cannot stand for another", "write its value")
    return value


Value = Annotated[
    str | int | bool | Decimal,
    BeforeValidator(_scalar),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""What a parameter, or an expectation, may be; its kind follows from where it is used."""


class Changes(Strict):
    """What becomes different in an event."""

    delay: DelayModel | None = None
    rate: RateModel | None = None
    loss: Loss | None = None
    queue: QueueModel | None = None
    reordering: Reordering | None = None
    duplicate: Share | None = None
    corrupt: Share | None = None
    count: Framing | None = None
    coalesce: Span | None = None
    """Of directions that end at a host: segments that are due within this span leave together."""

    instead: ClassVar[Mapping[str, str]] = {
        **Effects.instead,
        **dict.fromkeys(("routes", "mtu"), "it is fixed for a run"),
        "down": "write down: true, or down: 3s, in place of set",
        "up": "write down: true in place of set to take it down, up: true to bring it up",
        "reorder": "write it inside delay: {base: 38ms, reorder: true}",
    }

    @model_validator(mode="after")
    def _something(self) -> "Changes":
        if not self.model_fields_set:
            raise problem(Code.EVENT_INCOMPLETE, "changes nothing", "write for example {delay: 60ms}")
        return self


class Routing(Strict):
    """How routers find paths."""

    multipath: Literal["none", "flow-hash"] = "none"
    """Whether a hash of addresses, protocol and ports divides flows among paths of equal delay and length."""
    costs: Literal["configured", "current"] = "configured"
    """The delays from which routes are computed when the topology changes: at the start, or at that time."""
    convergence: Span = Span(0)
    """How long after a change of the topology routers use new routes."""
    every: Span | None = None
    """Routes are also computed anew at this interval, from the delays of that time; not if left out."""

    @model_validator(mode="after")
    def _not_too_often(self) -> "Routing":
        if self.every is not None and self.every.ns < 10**7:
            raise problem(
                Code.INTERVAL_TOO_SHORT,
                f"{self.every} between routes is too short",
                "write 10ms or more",
                at="every",
            )
        return self


def _down(value: Any) -> Any:
    return value if isinstance(value, bool) else Span.parse(value)


_OutageOf = Annotated[
    Span | bool | None,
    BeforeValidator(_down),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": Span.pattern()}, {"const": True}]}),
]


class Event(Strict):
    """A change of a link, of the topology, or of the pacing of a host, at a time."""

    at: Annotated[Span, Field(examples=["20s"])]
    link: Annotated[Names, Field(examples=["par-nyc"])] = ()
    node: Names = ()
    """Nodes that join or leave the network, with their links."""
    host: Names | None = None
    """Hosts that move to another router, or whose pacing changes."""
    attach: Annotated[HostName, Field(examples=["par"])] | None = None
    """The router that the hosts move to; they keep their addresses."""
    pacing: Annotated[dict[Name, NewPacing], Field(min_length=1)] | None = None
    """New models of their classes."""
    direction: Literal["forward", "reverse", "both"] = "both"
    route: Annotated[int, Count(at_least=1, at_most=MOST_ROUTES)] | None = None
    """One of the link's parallel routes, the first being 1; all of them if left out."""
    change: Annotated[Changes | None, Field(alias="set")] = None
    over: Span | None = None
    """How long the change takes, in steps of 10 ms; at once if left out."""
    down: _OutageOf = None
    """For this long, or ``true`` until an event says ``up: true``."""
    leave: _OutageOf = None
    """The links or nodes leave the network for this long, or ``true`` until an event says ``join: true``."""
    join: Annotated[
        bool | None,
        WithJsonSchema({"anyOf": [{"const": True, "type": "boolean"}, {"type": "null"}]}),
        Field(strict=True),
    ] = None
    """The links or nodes join the network. What joins first of all is absent until then."""
    up: Annotated[
        bool | None,
        WithJsonSchema({"anyOf": [{"const": True, "type": "boolean"}, {"type": "null"}]}),
        Field(strict=True),
    ] = None

    @model_validator(mode="after")
    def _one_thing(self) -> "Event":
        of_host = sum(each is not None for each in (self.pacing, self.attach))
        if (
            of_host != (0 if self.host is None else 1)
            or bool(self.link) + bool(self.node) + bool(self.host) != 1
        ):
            raise problem(
                Code.EVENT_INCOMPLETE,
                "does not say what changes",
                "write link: NAME, node: NAME, or host: NAME with attach or pacing",
            )
        if self.host is not None:
            others = {"direction", "route", "change", "over", "down", "up", "leave", "join"}
            if others & self.model_fields_set:
                raise problem(
                    Code.KEYS_CONFLICT, "changes a host", "write events of links and nodes by themselves"
                )
            return self
        if self.node and {"change", "over", "down", "up"} & self.model_fields_set:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "a node joins or leaves", "write leave: 3s, leave: true or join: true"
            )
        if sum(each is not None for each in (self.change, self.down, self.up, self.leave, self.join)) != 1:
            raise problem(
                Code.EVENT_INCOMPLETE,
                "must do one thing",
                "write set: {...}, down: 3s, down: true, up: true, leave: true or join: true",
            )
        if self.moves and {"direction", "route"} & self.model_fields_set:
            raise problem(
                Code.KEY_OUT_OF_PLACE, "links join and leave as a whole", "remove direction and route"
            )
        for key, other in (("leave", "join"), ("join", "leave")):
            if getattr(self, key) is False:
                raise problem(Code.EVENT_INCOMPLETE, f'"{key}: false" says nothing', f"write {other}: true")
        if self.down is False:
            raise problem(Code.EVENT_INCOMPLETE, '"down: false" says nothing', "write up: true")
        if self.up is False:
            raise problem(Code.EVENT_INCOMPLETE, '"up: false" says nothing', "write down: true")
        if self.over is not None and self.change is None:
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                '"over" needs something to change gradually',
                "write it beside set, or remove it",
            )
        return self

    @property
    def moves(self) -> bool:
        """Whether it changes the topology."""
        return self.leave is not None or self.join is not None or self.attach is not None


class Route(Strict):
    """At a node, packets to another leave by this link, whatever the delays say."""

    at: Annotated[HostName, Field(examples=["par"])]
    to: Annotated[HostRange, Field(examples=["nyc"])]
    """A host, several, or a router: then it holds for the hosts attached to it too."""
    via: Annotated[Name, Field(examples=["par-ams"])]
    """A link, or the neighbour at its other end."""


def useless_snaplen(snaplen_bytes: int) -> tuple[str, str] | None:
    """Why it makes no sense to keep so much of each packet, and what to write instead."""
    if 20 <= snaplen_bytes <= 65_535:
        return None
    return f"{Size(snaplen_bytes)} is not a useful part of a packet", "write 20B to 65535B"


class Packets(Strict):
    """Which packets are recorded one by one."""

    links: Names
    snaplen: Size = Size(96)
    """Bytes of each packet kept in the capture."""
    window: Span = Span(2 * 10**6)
    """How much of each second the record of arrivals and departures covers."""

    @field_validator("window")
    @classmethod
    def _within_a_second(cls, value: Span) -> Span:
        if not 0 < value.ns <= 10**9:
            raise problem(
                Code.OUT_OF_RANGE, f"{value} is not within a second", "write 1s to record all of it"
            )
        return value

    @field_validator("snaplen")
    @classmethod
    def _snaplen(cls, value: Size) -> Size:
        if (wrong := useless_snaplen(value.bytes)) is not None:
            raise problem(Code.OUT_OF_RANGE, *wrong)
        return value


class Measure(Strict):
    """What is recorded."""

    every: Span = Span(10**8)
    packets: Packets | None = None
    monitor: Monitor | None = None
    sockets: bool = True
    """Whether the kernel's view of every TCP connection of real programs is sampled in a live run."""
    journal: bool = False
    """Whether everything that enters and leaves the network is kept, for ``longhaul compare --replay``."""

    @field_validator("every")
    @classmethod
    def _not_too_often(cls, value: Span) -> Span:
        if value.ns < 10**6:
            raise problem(
                Code.INTERVAL_TOO_SHORT, f"{value} between samples is too short", "write 1ms or more"
            )
        return value


class Expectation(Strict):
    """What must have come out."""

    metric: Annotated[Text, Field(examples=["fidelity.lateness.p99"])]
    min: Value | None = None
    max: Value | None = None
    equals: Value | None = None
    otherwise: Annotated[Literal["fail", "untrusted"], Field(alias="else")] = "fail"

    @model_validator(mode="after")
    def _bounded(self) -> "Expectation":
        if self.min is None and self.max is None and self.equals is None:
            raise problem(Code.KEY_MISSING, "expects nothing", "add min, max or equals")
        return self


class Cpu(Strict):
    """The processors of the hosts, on the virtual clock; without it, computing takes no time."""

    speed: Annotated[float, Number(at_least=0.01, at_most=1000, example="1.0")]
    """How fast they are, in those of the machine that runs the hosts."""


def _nodes_or_topology(schema: dict[str, Any]) -> None:
    """A file needs nodes or a topology that makes them."""
    schema["required"] = [each for each in schema["required"] if each != "nodes"]
    schema["anyOf"] = [{"required": ["nodes"]}, {"required": ["topology"]}]


class Document(Strict):
    """The scenario file, version 1."""

    model_config = ConfigDict(json_schema_extra=_nodes_or_topology)

    version: Annotated[Literal[1], Field(examples=["1"])]
    name: Annotated[Name, Field(examples=["three-clusters"])]
    description: Text | None = None
    seed: Annotated[int, Count(at_least=0, at_most=2**64 - 1)] = 1
    duration: Span | None = None
    """When the run ends; when the last program has ended if left out."""
    params: dict[Name, Value] = Field(default_factory=dict)
    profiles: dict[Name, Profile] = Field(default_factory=dict)
    addresses: Literal["ipv4", "ipv6", "dual"] = "dual"
    # Defaults that are models are not validated: that would build a validator for each.
    tcp: Tcp = Tcp.model_construct()
    compensate: bool = False
    """Whether the measured base latency of this machine is subtracted."""
    isolation: Literal["strict", "none"] = "strict"
    """What programs of a live run may do to its machine: what a network needs, or all that their user may."""
    kernel: KernelVersion | None = None
    """The Linux of the hosts on the virtual clock; the newest that is built if left out."""
    cpu: Cpu | None = None
    coalesce: Span = Span(10_000)
    """Segments of one super-packet leave together only if they are due within this span."""
    topology: TopologyModel | None = None
    """Nodes and links from a description; those below are added, or change single ones by name."""
    nodes: Annotated[dict[HostRange, Node], Field(min_length=1, examples=["{par: {kind: router}}"])]
    links: dict[Name, Link] = Field(default_factory=dict)
    routes: Annotated[tuple[Route, ...], Field(strict=False)] = ()
    routing: Routing = Routing.model_construct()
    programs: dict[Name, Program] = Field(default_factory=dict)
    traffic: dict[Name, Traffic] = Field(default_factory=dict)
    events: Annotated[tuple[Event, ...], Field(strict=False)] = ()
    measure: Measure = Measure.model_construct()
    expect: Annotated[tuple[Expectation, ...], Field(strict=False)] = ()
    sweep: Sweep | None = None
    relay: Relay | None = None
    """Gateways of the application level, for ``longhaul relay``."""
