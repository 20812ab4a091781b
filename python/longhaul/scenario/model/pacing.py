"""Pacing of hosts."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.base import (
    AlsoText,
    Count,
    HostRanges,
    Name,
    Names,
    OneOrList,
    Strict,
    problem,
)
from longhaul.scenario.model.queue import Limit
from longhaul.units.quantities import Rate, Size, Span

MOST_CLASSES = 4096
PacedFraming = Literal["ip", "ethernet", "vlan", "psp"]
"""What a link may count, but for cells, or ``psp``: frames for classes, and the wire for the line."""
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "dccp": 33, "icmpv6": 58, "sctp": 132, "udplite": 136}


def _ports(value: Any) -> Any:
    first, dots, last = str(value).partition("..")
    ends = (first, last if dots else first)
    if isinstance(value, bool) or not all(end.isdecimal() and len(end) <= 5 for end in ends):
        raise problem(
            Code.WRONG_TYPE, f'"{str(value)[:40]}" is not a port', 'write for example "5001" or "5001..5099"'
        )
    low, high = (int(end) for end in ends)
    if not 0 < low <= high <= 65_535:
        raise problem(
            Code.BOUNDS_REVERSED,
            f'"{str(value)[:40]}" is not a range of ports',
            "write 1 to 65535, the lower one first",
        )
    return (low, high)


Ports = Annotated[
    tuple[int, int],
    BeforeValidator(_ports),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 65_535},
                {"type": "string", "pattern": r"^[0-9]+(\.\.[0-9]+)?$"},
            ]
        }
    ),
]


PortList = Annotated[tuple[Ports, ...], OneOrList(), Field(strict=False, min_length=1)]


class ClassPacing(Strict):
    """When the packets of a class leave: by the byte clock of a rate, by a bucket, or when no other may."""

    rate: Rate | None = None
    bucket: Rate | None = None
    burst: Size | None = None
    peak: Rate | None = None
    """How fast packets leave that have their tokens; at the rate of the line if left out."""

    @model_validator(mode="after")
    def _one_model(self) -> "ClassPacing":
        if self.rate is not None and self.bucket is not None:
            raise problem(
                Code.KEYS_CONFLICT,
                "is spaced by a rate or by a bucket, not both",
                "remove one of them",
                at="bucket",
            )
        for key in ("burst", "peak"):
            if getattr(self, key) is not None and self.bucket is None:
                raise problem(
                    Code.KEY_OUT_OF_PLACE,
                    f'"{key}" needs a bucket',
                    "write bucket, the rate at which it fills",
                    at=key,
                )
        if self.bucket is not None and not (self.burst and self.burst.bytes):
            raise problem(
                Code.ZERO_VALUE, "a bucket holds a burst", "write burst: a packet or more", at="bucket"
            )
        if self.bucket is not None and self.peak is not None and self.peak < self.bucket:
            message = f"{self.peak} is slower than the bucket's {self.bucket}"
            raise problem(Code.RATE_MODEL_INVALID, message, "write a faster one, or remove it", at="peak")
        return self


class PacingClass(ClassPacing):
    """Packets that leave by one clock: those for which all holds that is said, and no class before takes."""

    to: HostRanges | None = None
    """Hosts or routers that they go to."""
    port: PortList | None = None
    """Ports or ranges of ports, of either end, of real programs."""
    protocol: Literal["icmp", "tcp", "udp", "dccp", "icmpv6", "sctp", "udplite"] | None = None
    dscp: Annotated[int, Count(at_least=0, at_most=63)] | None = None
    traffic: Names | None = None
    """Traffic of this file, real or simulated, there and back."""
    program: Names | None = None
    """Simulated programs of this file."""
    flows: Annotated[int, Count(at_least=1, at_most=MOST_CLASSES)] | None = None
    """Every flow has the rate for itself, up to so many at a time."""
    queue: Limit | None = None
    """How much may wait: packets, bytes, or time at the rate; 1000 packets if left out."""
    latency: Span | None = None
    """Of a bucket: how long packets may wait once the bucket is empty, as tbf has it."""

    @model_validator(mode="after")
    def _consistent(self) -> "PacingClass":
        if self.latency is not None and self.bucket is None:
            raise problem(Code.KEY_OUT_OF_PLACE, '"latency" belongs to a bucket', "write queue", at="latency")
        if self.latency is not None and self.queue is not None:
            raise problem(
                Code.KEYS_CONFLICT, "gives the queue limit twice", "remove queue or latency", at="latency"
            )
        if self.flows is not None and self.rate is None and self.bucket is None:
            raise problem(
                Code.RATE_REQUIRED, "flows of their own need a rate", "add rate, or remove flows", at="flows"
            )
        if self.queue is not None and self.queue.bdp is not None:
            raise problem(
                Code.QUEUE_INVALID,
                "a class has no BDP",
                "write for example 1000p, 1MiB or 20ms",
                at="queue",
            )
        if self.queue is not None and self.queue.ns is not None and not (self.rate or self.bucket):
            raise problem(
                Code.RATE_REQUIRED,
                "a limit in time needs a rate",
                "write for example 1000p or 1MiB",
                at="queue",
            )
        return self

    @property
    def matches(self) -> bool:
        """Whether it says whose packets it takes."""
        keys = ("to", "port", "protocol", "dscp", "traffic", "program")
        return any(getattr(self, key) is not None for key in keys)


class Pacing(Strict):
    """Classes of what a host sends, each with a rate; PSPacer's, or token buckets."""

    line_rate: Rate | None = None
    """The rate of the host's card; that of its link if left out."""
    count: PacedFraming | None = None
    """What rates count; what the link counts if left out."""
    default: Name = "normal"
    """The class of what belongs to no other; ``normal`` is one without a rate that is always there."""
    classes: Annotated[dict[Name, PacingClass], Field(min_length=1, examples=["{bulk: {rate: 500Mbit}}"])]


def _model(value: Any) -> Any:
    if value == "unpaced":
        return {}
    return value if isinstance(value, dict) else {"rate": value}


NewPacing = Annotated[
    ClassPacing, BeforeValidator(_model), AlsoText(f"({Rate.pattern()})|^unpaced$", "250Mbit")
]
"""A class's model after a change."""
