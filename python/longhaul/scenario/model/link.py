"""Links, profiles, and the laws of a direction."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from longhaul.scenario.model.base import AlsoText, Count, HostName, Name, Strict, choice, problem
from longhaul.scenario.units import PARAMETER_PATTERN, Rate, Share, Size, Span

DEFAULT_MTU = 1500


class NoLoss(Strict):
    """Nothing is lost."""

    model: Literal["none"]


class IndependentLoss(Strict):
    """Each packet is lost by itself."""

    model: Literal["independent"]
    mean: Share


class BlockLoss(Strict):
    """One packet, chosen at random, in every block is lost (NemC's drop_rate)."""

    model: Literal["block"]
    packets: Annotated[int, Count(at_least=1)]


class GilbertElliottLoss(Strict):
    """Packets are lost in bursts: two states with geometric sojourns, the bad one loses everything."""

    model: Literal["gilbert-elliott"]
    mean: Share
    burst: Annotated[float, Field(ge=1.0, le=1e9)]
    """Mean number of packets lost in a row."""

    @field_validator("burst", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, bool | str | list | dict):
            raise problem("wants the mean number of packets lost in a row", "write for example 3 or 2.5")
        return min(float(value), 1e300)

    @model_validator(mode="after")
    def _possible(self) -> "GilbertElliottLoss":
        share = float(self.mean)
        if share >= 1:
            raise problem(
                "loses everything", "a link that carries nothing is down: write up: false", at="mean"
            )
        if self.burst < share / (1 - share):
            least = share / (1 - share)
            message = f"bursts of {self.burst:g} cannot lose {self.mean} of all packets"
            raise problem(message, f"write {least:.4g} or more, which is mean / (1 - mean)", at="burst")
        return self


_LOSS_LATER = ("renewal", "trace", "markov", "four-state", "weibull")
_LOSSES = ("none", "independent", "block", "gilbert-elliott")


def _loss(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"model": "independent", "mean": value}
    if "trace" in value and "model" not in value:
        raise problem("a trace of losses is not in this version yet", "write a share or a model", at="trace")
    choice(value, "model", _LOSSES, _LOSS_LATER, "loss model")
    return value


Loss = Annotated[
    Annotated[NoLoss | IndependentLoss | BlockLoss | GilbertElliottLoss, Field(discriminator="model")],
    BeforeValidator(_loss),
    AlsoText(Share.pattern(), "0.1%"),
]


class UniformJitter(Strict):
    """The delay is uniform on base plus or minus the half width."""

    dist: Literal["uniform"]
    half_width: Span


class NormalJitter(Strict):
    """The delay is normal around the base, cut at zero."""

    dist: Literal["normal"]
    sd: Span


_JITTER_LATER = ("weibull", "pareto", "gamma", "lognormal", "exponential", "burr", "trace", "table")
_JITTERS = ("uniform", "normal")


def _jitter(value: Any) -> Any:
    if not isinstance(value, dict):
        raise problem("wants a distribution", 'write for example "{dist: normal, sd: 1ms}"')
    choice(value, "dist", _JITTERS, _JITTER_LATER, "distribution")
    return value


Jitter = Annotated[
    Annotated[UniformJitter | NormalJitter, Field(discriminator="dist")], BeforeValidator(_jitter)
]


class Delay(Strict):
    """The one-way delay of the wire."""

    later: ClassVar[Mapping[str, str]] = {"trace": "write a constant delay or a jitter"}
    base: Span
    jitter: Jitter | None = None
    reorder: bool = False
    """Whether a packet may overtake another because its jitter was smaller."""

    @model_validator(mode="after")
    def _not_negative(self) -> "Delay":
        if isinstance(self.jitter, UniformJitter) and self.jitter.half_width > self.base:
            message = f"half_width {self.jitter.half_width} exceeds the base of {self.base}"
            raise problem(message, "a delay cannot be negative: write less", at="jitter")
        return self


def _delay(value: Any) -> Any:
    return value if isinstance(value, dict) else {"base": value}


DelayLaw = Annotated[Delay, BeforeValidator(_delay), AlsoText(Span.pattern(), "38ms")]


class OutOfOrder(Strict):
    """One packet, chosen at random, in every block takes another delay (NemC's ooo_rate, ooo_delay)."""

    every: Annotated[int, Count(at_least=1)]
    delay: Span


class QueueLimit(Strict):
    """How much may wait: one of packets (100p), bytes (1MiB), time at the rate (20ms) or BDPs (1bdp)."""

    packets: int | None = None
    bytes: int | None = None
    ns: int | None = None
    bdp: str | None = None
    """A decimal number of bandwidth-delay products."""


_QUEUE_LATER = ("codel", "fq_codel", "fq-codel", "red", "pie", "cake", "fq", "sfq", "dualpi2")
_QUEUE_PATTERN = rf"^({PARAMETER_PATTERN}|[0-9]+p|[0-9]*\.?[0-9]+(bdp|B|[kMGT]B|[KMGT]iB|ns|us|ms|s))$"


def _queue(value: Any) -> Any:
    if not isinstance(value, dict):
        return {"kind": "fifo", "limit": value}
    choice({"kind": "fifo", **value}, "kind", ("fifo",), _QUEUE_LATER, "queue")
    return value


class Queue(Strict):
    """What waits for the serialiser."""

    later: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("ecn", "target", "interval", "aqm", "min", "max"), "write only kind and limit"
    )
    kind: Literal["fifo"] = "fifo"
    limit: Annotated[QueueLimit, Field(json_schema_extra={"type": "string", "pattern": _QUEUE_PATTERN})]

    @field_validator("limit", mode="before")
    @classmethod
    def _limit(cls, value: Any) -> Any:
        return parse_limit(value)


QueueLaw = Annotated[Queue, BeforeValidator(_queue), AlsoText(_QUEUE_PATTERN, "1bdp", "100p", "20ms")]


def parse_limit(value: Any) -> QueueLimit:
    """The limit that ``value`` spells; raises for everything else."""
    text = str(value)
    number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = text[len(number) :]
    if isinstance(value, bool | dict | list) or not unit or not number:
        example = f"{text}p" if text.isdecimal() and len(text) < 12 else "100p"
        raise problem(
            f"{_quoted(value)} has no unit", f'write "{example}" (packets), "1MiB", "20ms" or "1bdp"'
        )
    if unit in ("p", "bdp"):
        if not number.replace(".", "", 1 if unit == "bdp" else 0).isdecimal() or len(number) > 12:
            raise problem(
                f"{_quoted(value)} is no limit", f'write for example "{"100p" if unit == "p" else "1bdp"}"'
            )
        return QueueLimit(packets=int(number)) if unit == "p" else QueueLimit(bdp=number)
    if unit.lower() in ("pkt", "pkts", "packets", "packet"):
        raise problem(f'{_quoted(value)}: there is no unit "{unit}"', f'write "{number}p"')
    if unit.lower() == "bdp":
        raise problem(f'{_quoted(value)}: there is no unit "{unit}"', f'write "{number}bdp"')
    if unit in Span.units or unit in Span.misspelt:
        return QueueLimit(ns=Span.parse(text).ns)
    return QueueLimit(bytes=Size.parse(text).bytes)


def _quoted(value: Any) -> str:
    return f'"{str(value)[:40]}"'


def _rate(value: Any) -> Any:
    if isinstance(value, dict):
        raise problem(
            "a rate that changes with time is not in this version yet", 'write a constant rate like "1Gbit"'
        )
    return value


ONE_WAY = "write delay, the time of one way: half of the round trip"


class Laws(Strict):
    """What a direction does to packets; all may be left out."""

    later: ClassVar[Mapping[str, str]] = {
        "routes": "write two links with routes between them",
        "corrupt": "leave it out",
        "shaper": "write rate",
    }
    instead: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("rtt", "round_trip", "ping"), ONE_WAY),
        **dict.fromkeys(("latency", "lat", "netdelay", "net_delay"), 'did you mean "delay" (one way)?'),
        **dict.fromkeys(("bandwidth", "bw", "capacity", "speed", "throughput"), 'did you mean "rate"?'),
        **dict.fromkeys(("drop", "drop_rate", "plr"), 'did you mean "loss"?'),
        **dict.fromkeys(("limit", "buffer", "max_queue_size"), 'did you mean "queue"?'),
        **dict.fromkeys(
            ("jitter", "variation"), 'write "delay: {base: 5ms, jitter: {dist: normal, sd: 1ms}}"'
        ),
        **dict.fromkeys(("reorder", "ooo_rate"), 'did you mean "out_of_order", or "reorder" inside delay?'),
        "ip": 'did you mean "count: ip"?',
    }

    up: bool | None = None
    delay: DelayLaw | None = None
    rate: Annotated[Rate, BeforeValidator(_rate)] | None = None
    loss: Loss | None = None
    queue: QueueLaw | None = None
    out_of_order: OutOfOrder | None = None
    duplicate: Share | None = None
    count: Literal["ip", "ethernet"] | None = None
    """Whether the rate counts IP bytes alone, or preamble, header, FCS and gap of Ethernet too."""


def _mtu(value: Any) -> int:
    if isinstance(value, bool | dict | list):
        raise problem("wants a number of bytes", 'write for example "1500"')
    mtu = value if isinstance(value, int) else Size.parse(value).bytes
    if not 576 <= mtu <= 9000:
        raise problem(
            f"must lie between 576 and 9000 bytes, not {str(mtu)[:20]}", "write for example 1500 or 9000"
        )
    return mtu


class Profile(Laws):
    """Laws under a name, for links and attachments to share."""

    forward: Laws | None = None
    """What is different from the first endpoint to the second."""
    reverse: Laws | None = None
    """What is different from the second endpoint to the first."""
    mtu: Annotated[int, BeforeValidator(_mtu), Count(at_least=576, at_most=9000)] | None = None


class Link(Profile):
    """A link between two nodes."""

    endpoints: Annotated[tuple[HostName, HostName], Field(strict=False, examples=[["par", "nyc"]])]
    """Forward is from the first to the second."""
    profile: Name | None = None

    @field_validator("endpoints", mode="before")
    @classmethod
    def _two(cls, value: Any) -> Any:
        if not isinstance(value, list) or len(value) != 2:
            raise problem("wants two nodes", 'write for example "[par, nyc]"')
        return value
