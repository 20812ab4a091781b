"""Programs and traffic: what runs in the hosts."""

import shlex
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from longhaul.scenario.model.base import (
    AlsoText,
    Count,
    HostName,
    HostRanges,
    Name,
    Strict,
    Text,
    Word,
    choice,
    problem,
)
from longhaul.scenario.units import Rate, Size, Span

_READY_WITHIN = Span(10 * 10**9)


class Ready(Strict):
    """How to tell that a service can be used: it listens on a TCP port."""

    tcp: Annotated[int, Count(at_least=1, at_most=65_535)]
    within: Span = _READY_WITHIN


def _ready(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    kind, colon, port = str(value).partition(":")
    if kind != "tcp" or not colon or not port.isdecimal() or len(port) > 5:
        raise problem(f'"{str(value)[:40]}" does not say when it is ready', 'write for example "tcp:8080"')
    return {"tcp": int(port)}


def _argv(value: Any) -> Any:
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise problem(f"cannot be split into words: {str(error).lower()}", "close the quotes") from None
    elif isinstance(value, list):
        words = value
    else:
        raise problem("wants a command", 'write for example "run: ping -c 3 nyc1"')
    if not words:
        raise problem("is empty", 'write for example "run: ping -c 3 nyc1"')
    return words


def _exit(value: Any) -> Any:
    if value == "any":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 255:
        raise problem("wants an exit code", 'write a number from 0 to 255, or "any"')
    return value


class Program(Strict):
    """A real program. ``host``, ``hosts`` and ``each`` exclude one another."""

    run: Annotated[
        tuple[Word, ...],
        BeforeValidator(_argv),
        Field(strict=False, examples=["ping -c 3 nyc1"]),
        AlsoText(".+"),
    ]
    """Split into words as a shell would; never passed through one."""
    host: HostName | None = None
    hosts: HostRanges | None = None
    """Hosts that one program spans (MPI): it starts on the first and finds all in LONGHAUL_HOSTS."""
    each: HostRanges | None = None
    """Hosts that each run the program."""
    start: Span = Span(0)
    stop: Span | None = None
    expect_exit: Annotated[int | None, BeforeValidator(_exit), AlsoText("^any$", "any")] = 0
    service: bool = False
    """Serves the others: starts before the clock, is stopped at the end."""
    ready: Annotated[Ready, BeforeValidator(_ready), AlsoText("^tcp:[0-9]+$", "tcp:8080")] | None = None
    cwd: Text | None = None
    env: dict[Name, Word] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> "Program":
        if sum(each is not None for each in (self.host, self.hosts, self.each)) != 1:
            raise problem("must say where it runs, once", "write host: NAME, hosts: [...] or each: [...]")
        if self.ready and not self.service:
            raise problem('"ready" belongs to a service', "add service: true")
        if self.stop is not None and self.stop <= self.start:
            raise problem("stops before it starts", "write a stop later than the start")
        return self


class Flow(Strict):
    """What every kind of traffic has."""

    later: ClassVar[Mapping[str, str]] = {"simulated": "leave it out: traffic is made by real programs"}
    source: Annotated[HostName, Field(alias="from", examples=["par1"])]
    to: Annotated[HostRanges, Field(examples=["nyc1"])]
    start: Span = Span(0)
    stop: Span | None = None

    @model_validator(mode="after")
    def _order(self) -> "Flow":
        if self.stop is not None and self.stop <= self.start:
            raise problem("stops before it starts", "write a stop later than the start")
        return self


class Ping(Flow):
    """Echo requests."""

    kind: Literal["ping"]
    every: Span = Span(10**9)
    size: Size = Size(56)
    """Bytes of payload."""
    count: Annotated[int, Count(at_least=1)] | None = None

    @field_validator("every")
    @classmethod
    def _interval(cls, value: Span) -> Span:
        if value.ns < 10**6:
            raise problem(f"{value} is shorter than ping can wait", "write 1ms or more")
        return value

    @field_validator("size")
    @classmethod
    def _payload(cls, value: Size) -> Size:
        if not 16 <= value.bytes <= 65_507:
            raise problem(f"{value} cannot carry a timestamp in one packet", "write 16B to 65507B")
        return value


class Bulk(Flow):
    """Congestion-controlled bulk transfer."""

    kind: Literal["tcp"]
    flows: Annotated[int, Count(at_least=1, at_most=128)] = 1
    cc: Name | None = None
    bytes: Size | None = None
    """How much each run of the client sends; until ``stop`` if left out."""
    rate: Rate | None = None
    """Pacing of each flow."""


class Datagrams(Flow):
    """UDP at a constant rate."""

    kind: Literal["udp"]
    rate: Annotated[Rate, Field(examples=["50Mbit"])]
    size: Size | None = None
    """Bytes of payload of each datagram."""
    bytes: Size | None = None


_KINDS = ("ping", "tcp", "udp")


def _kind(value: Any) -> Any:
    if isinstance(value, dict):
        choice(value, "kind", _KINDS, ("requests", "web", "http", "onoff", "cbr"), "kind of traffic")
    return value


Traffic = Annotated[Annotated[Ping | Bulk | Datagrams, Field(discriminator="kind")], BeforeValidator(_kind)]
