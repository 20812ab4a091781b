"""Traffic between hosts, by real programs or simulated."""

from collections.abc import Mapping
from decimal import Decimal
from ipaddress import ip_network
from itertools import permutations
from typing import Annotated, Any, Literal, assert_never

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from longhaul.diagnostics import Code, printable
from longhaul.scenario.model.amount import amount_of
from longhaul.scenario.model.base import (
    NAME_PATTERN,
    Count,
    DestinationRanges,
    FileName,
    HostName,
    HostRanges,
    Name,
    Number,
    Strict,
    choice,
    problem,
)
from longhaul.scenario.model.chosen import Chosen, Member
from longhaul.scenario.model.distribution import Constant, SizeDistribution, TimeDistribution
from longhaul.scenario.model.start import START_OF_RUN, TrafficStart, check_stop
from longhaul.units.quantities import Rate, Share, Size, Span


def _algorithm(value: Any) -> Any:
    """An algorithm by its name, or with parameters; what they mean is checked where it runs."""
    if isinstance(value, str):
        value = {"algorithm": value}
    if not isinstance(value, dict) or not isinstance(value.get("algorithm"), str):
        raise problem(
            Code.WRONG_TYPE,
            "does not name a congestion control",
            "write cc: cubic, or cc: {algorithm: multcp, flows: 4}",
        )
    plain = {str(key): _parameter(str(key), written) for key, written in value.items()}
    if isinstance(plain.get("slow_start"), str):
        plain["slow_start"] = {"kind": plain["slow_start"]}
    return plain


def _parameter(key: str, written: Any, *, grouped: bool = True) -> Any:
    """A parameter's value, in which numbers are those of a plan; ``grouped``: or several with names."""
    if isinstance(written, dict) and grouped:
        return {str(name): _parameter(key, each, grouped=False) for name, each in written.items()}
    each = float(written) if isinstance(written, Decimal) else written
    if not isinstance(each, str | int | float | bool):
        raise problem(
            Code.ALGORITHM_PARAMETER, f'"{key}" is not one value', "write a number or a word", at=key
        )
    return each


def _formula(about: str, *examples: str) -> dict[str, Any]:
    """The schema of a formula of ``algorithm: rule``."""
    about = f"With algorithm: rule. {about}"
    return {"type": ["string", "number"], "description": about, "examples": list(examples)}


_NAMES = ["cubic", "reno", "bbr", "rule"]
_RULE = {
    "per_ack": _formula(
        "Segments that each acknowledged one adds to the window in congestion avoidance.",
        "1 / cwnd",
        "0.01",
    ),
    "after_loss": _formula("The window after a loss, in segments.", "cwnd / 2", "cwnd * 7 / 8"),
    "after_timeout": _formula("The slow-start threshold after a timeout, in segments.", "in_flight / 2"),
}

AlgorithmParameter = str | int | float | bool

CongestionControl = Annotated[
    dict[str, AlgorithmParameter | dict[str, AlgorithmParameter]],
    BeforeValidator(_algorithm),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": f"^({NAME_PATTERN}|\\$.*)$", "examples": _NAMES},
                {
                    "type": "object",
                    "required": ["algorithm"],
                    "properties": {"algorithm": {"type": "string", "examples": _NAMES}, **_RULE},
                },
            ]
        }
    ),
]
"""``{"algorithm": name}`` and its parameters; those of ``slow_start`` have names of their own."""


class Timed(Strict):
    """When traffic begins and ends."""

    start: TrafficStart = START_OF_RUN
    """A time, or a distribution of it: then each seed has another start."""
    stop: Span | None = None

    @model_validator(mode="after")
    def _order(self) -> "Timed":
        check_stop(self.start, self.stop)
        return self


class Flow(Timed):
    """What traffic between hosts has."""

    source: Annotated[HostRanges, Field(alias="from", examples=["par1"])]
    """Several hosts send to as many, each to one, or all to one."""
    to: Annotated[DestinationRanges, Field(examples=["nyc1"])]
    """Hosts, or interfaces of those that have several: ``nyc1.west``."""
    simulated: bool = False
    """Whether it is simulated in a live run, too, beside what is real."""


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
            raise problem(
                Code.INTERVAL_TOO_SHORT,
                f"{value} is shorter than ping's minimum interval",
                "write 1ms or more",
            )
        return value

    @field_validator("size")
    @classmethod
    def _payload(cls, value: Size) -> Size:
        if not 16 <= value.bytes <= 65_507:
            raise problem(
                Code.DATAGRAM_SIZE, f"{value} cannot carry a timestamp in one packet", "write 16B to 65507B"
            )
        return value


class Bulk(Flow):
    """Congestion-controlled bulk transfer."""

    kind: Literal["tcp"]
    flows: Annotated[int, Count(at_least=1, at_most=128)] = 1
    cc: CongestionControl | None = None
    bytes: Size | None = None
    """How much all flows send together; until ``stop`` if left out."""
    rate: Rate | None = None
    """Pacing of each flow."""
    mptcp: bool = False
    """Whether each flow is a connection of Multipath TCP, over all paths that ``tcp.mptcp`` allows."""


class Datagrams(Flow):
    """UDP at a mean rate."""

    kind: Literal["udp"]
    rate: Annotated[Rate, Field(examples=["50Mbit"])]
    size: Size | None = None
    """Bytes of payload of each datagram."""
    bytes: Size | None = None
    arrivals: Literal["even", "poisson"] = "even"
    """How far apart they leave."""
    sizes: Literal["fixed", "exponential"] = "fixed"
    """Whether sizes vary about ``size``."""
    on: TimeDistribution | None = None
    """Times of sending, with times of silence between them."""
    off: TimeDistribution | None = None

    @model_validator(mode="after")
    def _in_turn(self) -> "Datagrams":
        if (self.on is None) != (self.off is None):
            raise problem(
                Code.KEY_MISSING, "on and off belong together", "write for example on: 100ms, off: 400ms"
            )
        return self


class Requests(Flow):
    """Transfers, each over a TCP connection of its own."""

    kind: Literal["requests"]
    gap: Annotated[TimeDistribution, Field(examples=["{dist: exponential, mean: 20ms}"])]
    """From the begin of one to the begin of the next."""
    size: Annotated[SizeDistribution, Field(examples=["{dist: pareto, shape: 1.2, mean: 100kB}"])]
    """Payload of each."""
    cc: CongestionControl | None = None

    @field_validator("gap")
    @classmethod
    def _some(cls, value: TimeDistribution) -> TimeDistribution:
        if isinstance(value, Constant) and amount_of(value.value) == 0:
            raise problem(
                Code.INTERVAL_TOO_SHORT,
                "would start all requests at the same time",
                "write a time between them, such as 20ms",
            )
        return value


class Replay(Timed):
    """Transfers of a list, each over a TCP connection of its own."""

    kind: Literal["replay"]
    file: FileName
    """A CSV file with the columns ``start_s``, ``from``, ``to`` and ``bytes``."""
    cc: CongestionControl | None = None
    simulated: bool = False
    """Whether it is simulated in a live run, too, beside what is real."""


class Pcap(Timed):
    """The packets of a capture, with the hosts' addresses, at the capture's times."""

    kind: Literal["pcap"]
    file: FileName
    """A pcap or pcapng file, which gzip or zstd may have packed."""
    source: Annotated[HostName | None, Field(alias="from", examples=["par1"])] = None
    """The host that stands for the clients: of each two addresses, for the one that sends first."""
    to: Annotated[HostName | None, Field(examples=["nyc1"])] = None
    """The host that stands for the servers, which are the other ones."""
    direction: Literal["both", "forward", "reverse"] = "both"
    """``forward``: only packets of the clients; ``reverse``: only packets of the servers."""
    addresses: Annotated[dict[str, HostName] | None, Field(examples=[{"192.168.1.0/24": "par1"}])] = None
    """In place of ``from`` and ``to``: which host stands for which addresses of the capture."""
    interface: Annotated[str | None, Field(min_length=1, max_length=253)] = None
    """The interface of a pcapng file whose packets are sent; all if left out."""
    speed: Annotated[float | None, Number(at_least=0.001, at_most=1000, example="2")] = None
    """How many times as fast as the capture."""
    rate: Rate | None = None
    """In place of the capture's times: the rate of all its packets together, IP and above, without gaps."""
    repeat: Annotated[int, Count(at_least=1, at_most=1_000_000)] = 1
    """How often the capture is sent."""
    every: Span | None = None
    """From the begin of one pass to the begin of the next; else as long as the capture, and a mean gap."""
    simulated: bool = False
    """Whether its packets have no bytes in a live run: they load links, and no host gets them."""

    @field_validator("addresses")
    @classmethod
    def _networks(cls, value: dict[str, str] | None) -> dict[str, str] | None:
        for written in value or ():
            try:
                ip_network(written)
            except ValueError as error:
                message = f'"{printable(written)}" is not an address or a network: {error}'
                raise problem(
                    Code.ADDRESS_MALFORMED, message, "write for example 10.0.0.5 or 10.0.0.0/8", at=written
                ) from None
        if value is not None and len(set(value.values())) < 2:
            raise problem(
                Code.SAME_ENDS, "names fewer than two hosts", "name one for each side of the capture"
            )
        return value

    @field_validator("rate")
    @classmethod
    def _some(cls, value: Rate | None) -> Rate | None:
        if value is not None and value.bits_per_s == 0:
            raise problem(Code.ZERO_VALUE, "the rate is zero", "write for example 10Mbit")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> "Pcap":
        ends = [key for key, value in (("from", self.source), ("to", self.to)) if value is not None]
        if self.addresses is not None and (ends or self.direction != "both"):
            key = (ends or ["direction"])[0]
            raise problem(
                Code.KEYS_CONFLICT, f"{key} and addresses exclude each other", f"leave out {key}", at=key
            )
        if self.addresses is None and len(ends) < 2:
            message = "does not say which hosts send and receive the packets"
            raise problem(
                Code.KEY_MISSING, message, "write from and to, or addresses: {10.0.0.5: par1, 10.0.0.9: nyc1}"
            )
        if self.addresses is None and self.source == self.to:
            raise problem(
                Code.SAME_ENDS, f'"{self.source}" would send to itself', "name another host", at="to"
            )
        if self.speed is not None and self.rate is not None:
            raise problem(
                Code.KEYS_CONFLICT, "speed and rate exclude each other", "leave out one of them", at="rate"
            )
        if self.every is not None and self.repeat == 1:
            raise problem(
                Code.KEYS_CONFLICT, "every is of passes, but there is one", "add repeat: 2", at="every"
            )
        return self

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The hosts between which packets may go: sender, receiver."""
        if self.source is not None and self.to is not None:
            forward, reverse = (self.source, self.to), (self.to, self.source)
            return {"both": (forward, reverse), "forward": (forward,), "reverse": (reverse,)}[self.direction]
        return tuple(permutations(dict.fromkeys((self.addresses or {}).values()), 2))


class Background(Timed):
    """Simulated datagrams across a link, as a share of its rate."""

    kind: Literal["background"]
    link: Annotated[Name, Field(examples=["par-nyc"])]
    direction: Literal["forward", "reverse"] = "forward"
    load: Annotated[Share, Field(examples=["60%"])]
    """Of the link's rate, headers and framing included."""
    arrivals: Literal["poisson", "cbr", "pareto"] = "poisson"
    """``pareto``: bursts at the full rate, with silences between them, both heavy-tailed."""
    size: Size | None = None
    """Bytes of payload of each datagram."""
    burst: Span = Span(10 * 10**6)
    """Mean length of the bursts of ``pareto``."""

    @field_validator("load")
    @classmethod
    def _some(cls, value: Share) -> Share:
        if value.share == 0:
            raise problem(Code.ZERO_VALUE, "the load is zero", "write for example 60%")
        return value

    @field_validator("size")
    @classmethod
    def _payload(cls, value: Size | None) -> Size | None:
        if value is not None and not 1 <= value.bytes <= 65_507:
            raise problem(Code.DATAGRAM_SIZE, f"{value} does not fit a datagram", "write 1B to 65507B")
        return value


Kind = Literal["ping", "tcp", "udp", "requests", "replay", "pcap"]
"""Kinds of the flows of a resolved scenario, in which background traffic is ``udp``."""
TRANSFER_KINDS: tuple[Kind, ...] = ("requests", "replay")
"""Kinds that are many transfers with one result."""
_KINDS: Mapping[str, Member] = {
    "ping": Ping,
    "tcp": Bulk,
    "udp": Datagrams,
    "requests": Requests,
    "replay": Replay,
    "pcap": Pcap,
    "background": Background,
}


_CAPTURES = tuple(
    f"{kind}{packed}" for kind in (".pcap", ".pcapng", ".cap") for packed in ("", ".gz", ".zst")
)


def transport(kind: Kind) -> Literal["icmp", "tcp", "udp", "any"]:
    """The protocol that carries traffic of a kind; ``any``: those of a capture."""
    match kind:
        case "ping":
            return "icmp"
        case "udp":
            return "udp"
        case "tcp" | "requests" | "replay":
            return "tcp"
        case "pcap":
            return "any"
        case _:
            assert_never(kind)


def _kind(value: Any) -> Any:
    if isinstance(value, dict):
        choice(value, "kind", tuple(_KINDS), ("web", "http", "cbr"), "kind of traffic")
        file = value.get("file")
        if value["kind"] == "replay" and isinstance(file, str) and file.lower().endswith(_CAPTURES):
            raise problem(
                Code.CHOICE_UNKNOWN,
                f'"replay" is of lists of transfers, but "{printable(file)}" is a capture',
                "write kind: pcap",
                at="kind",
            )
    return value


Traffic = Annotated[
    Ping | Bulk | Datagrams | Requests | Replay | Pcap | Background,
    Chosen("kind", _KINDS),
    BeforeValidator(_kind),
]
