"""Application-level gateways: sub-clusters, and the delay of connections between them."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from longhaul.diagnostics import Code
from longhaul.scenario.model.address import Address, Listen, Networks, Port, Target
from longhaul.scenario.model.base import Count, FileName, HostName, HostRange, Name, Strict, problem
from longhaul.units.quantities import Size, Span

LEAST_BUFFER = Size(4 << 10)
"""What one way of a connection must be able to hold."""


class Cluster(Strict):
    """Machines that are close to each other, and their gateway."""

    site: HostName | None = None
    """The router of the network where it stands; the one with the cluster's name if left out."""
    gateway: Address | None = None
    """The address at which its gateway listens; left out, it is only connected to."""
    machines: Networks = ()
    """The addresses of its machines."""
    names: dict[HostRange, Address] = Field(default_factory=dict)
    """Addresses of names; a range counts on from the address of its first."""


class Forward(Strict):
    """A port whose connections all go to one place."""

    listen: Annotated[Listen, Field(examples=["15201"])]
    """A port of the gateway, or ADDRESS:PORT."""
    source: Annotated[Name, Field(alias="from", examples=["tromso"])]
    """The cluster whose machines connect there."""
    to: Annotated[Target, Field(examples=["n21:5201"])]
    into: Name | None = None
    """The cluster of ``to``, where its address does not tell."""
    protocol: Literal["tcp", "udp"] = "tcp"


class Log(Strict):
    """What is recorded of each message."""

    messages: bool = True
    limit: Size = Size(1 << 30)
    """Of the record; what comes later is counted alone."""


class Relay(Strict):
    """Section ``relay``: gateways that delay connections between clusters, without any privilege."""

    clusters: Annotated[dict[Name, Cluster], Field(examples=["{a: {gateway: 127.1.0.1}, b: {}}"])]
    socks: Port | None = None
    """At every gateway: SOCKS 5, for programs that know proxies."""
    forwards: Annotated[tuple[Forward, ...], Field(strict=False)] = ()
    transparent: Listen | None = None
    """At every gateway: connections that the kernel redirects here. Any address if only a port is given."""
    share: Literal["link", "connection"] | None = None
    """Whether connections share the rate of a link, or each has it to itself."""
    algorithm: Literal["one-thread", "paper"] = "one-thread"
    """One thread for all, or Longcut's thread for each connection, of which one spins."""
    framing: Literal["stream", "length-prefixed"] = "stream"
    """What is delayed as a whole: each piece read, or messages behind four bytes with their length."""
    gateways: Literal["together", "apart", "chained"] = "together"
    """One process for all; one each, which delays both ways; or one each, which delays what comes in."""
    chain: Port = 1090
    """The first of the ports at which a chained gateway waits for the others."""
    password_file: FileName | None = None
    """Its first line is the password of all gateways, user "longhaul"."""
    retransmit: Span | None = None
    """After what time a lost piece of a stream comes again; a round trip of the path if left out."""
    subtract: Span = Span(0)
    """Transit of the real network, one way, taken off the delay."""
    buffer: Size | None = None
    """Held for each connection and way at most; from the path's BDP if left out."""
    memory: Size = Size(256 << 20)
    """Held in all at most."""
    connections: Annotated[int, Count(at_least=1, at_most=1_000_000)] = 16_384
    """Open at once at most."""
    log: Log = Log()

    @property
    def sharing(self) -> Literal["link", "connection"]:
        """Who shares a link's rate, after defaults."""
        return self.share or ("connection" if self.algorithm == "paper" else "link")

    @model_validator(mode="after")
    def _consistent(self) -> "Relay":
        if len(self.clusters) < 2:
            raise problem(
                Code.RELAY_INCOMPLETE,
                "a relay needs at least two clusters",
                "describe two or more",
                at="clusters",
            )
        if self.algorithm == "paper" and self.share == "link":
            raise problem(
                Code.KEYS_CONFLICT,
                "the paper's algorithm does not share a link between connections",
                "write share: connection",
                at="share",
            )
        if self.socks is None and self.transparent is None and not self.forwards:
            raise problem(Code.RELAY_INCOMPLETE, "listens nowhere", "add socks: 1080, or forwards")
        if "chain" in self.model_fields_set and self.gateways != "chained":
            raise problem(
                Code.KEY_OUT_OF_PLACE,
                "only chained gateways wait for others",
                "write gateways: chained",
                at="chain",
            )
        for key in ("buffer", "memory"):
            held = getattr(self, key)
            if held is not None and held < LEAST_BUFFER:
                raise problem(
                    Code.OUT_OF_RANGE, f"{held} is too small", f"write {LEAST_BUFFER} or more", at=key
                )
        return self
