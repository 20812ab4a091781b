"""The probe styles: the messages of a probe, and their origin.

Sizes count in bytes, and a KB of NWS and EventSpace is 1024 of them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

LEAST_BUFFER = 32 * 1024
"""The window of a server begins with so much, before it knows what a client wants."""
MOST_BUFFER = 16 * 1024 * 1024
MOST_MESSAGE = 1024 * 1024
MOST_MESSAGES = 64


@dataclass(frozen=True, kw_only=True)
class Nws:
    """The Network Weather Service: a small message and its answer, then a short stream; new connections."""

    name: ClassVar[str] = "nws"
    latency_bytes: int = 4
    message_bytes: int = 16 * 1024
    messages: int = 4
    buffer_bytes: int = LEAST_BUFFER
    congestion_control: str = ""
    """Of the sender; empty: the system's."""


@dataclass(frozen=True, kw_only=True)
class EventSpace:
    """EventSpace's micro-benchmark: messages, each answered before the next, on one connection."""

    name: ClassVar[str] = "eventspace"
    latency_bytes: int = 8
    message_bytes: int = 32 * 1024
    messages: int = 2
    nodelay: bool = True
    congestion_control: str = ""
    less_latency: bool = False
    """Whether a rate comes from the time less one latency."""


@dataclass(frozen=True, kw_only=True)
class Ping:
    """Small pings, for latency only."""

    name: ClassVar[str] = "ping"
    latency_bytes: int = 64
    over: str = "udp"
    """``udp``, ``tcp`` or ``icmp``."""


@dataclass(frozen=True, kw_only=True)
class Sockets:
    """What the kernel says of a connection that never stops sending."""

    name: ClassVar[str] = "sockets"
    message_bytes: int = 64 * 1024
    congestion_control: str = ""


Style = Nws | EventSpace | Ping | Sockets

STYLES: Mapping[str, type[Style]] = {each.name: each for each in (Nws, EventSpace, Ping, Sockets)}
PERIODS_NS: Mapping[str, int] = {"nws": 60 * 10**9, "eventspace": 0, "ping": 10**9, "sockets": 10**9}
"""From the begin of a probe to the begin of the next, where nothing else is said; 0: at once."""


def columns(style: Style) -> tuple[str, ...]:
    """What a trace of it holds."""
    return ("rtt_ms",) if isinstance(style, Ping) else ("rtt_ms", "rate_mbit")


TRANSPORTS = ("udp", "tcp", "icmp")

_BOUNDS = {
    "latency_bytes": (1, MOST_MESSAGE),
    "message_bytes": (1, MOST_MESSAGE),
    "messages": (1, MOST_MESSAGES),
    "buffer_bytes": (LEAST_BUFFER, MOST_BUFFER),
}


def make_style(name: str, given: Mapping[str, Any]) -> Style:
    """The style with ``given`` in place of its defaults; raises :class:`LonghaulError`."""
    kind = STYLES.get(name)
    if kind is None:
        raise LonghaulError(
            Code.WORD_UNKNOWN, f'there is no style "{name}"', remedy=f"write {', '.join(STYLES)}", exit_code=2
        )
    known = {each.name: each.type for each in fields(kind)}
    for key, value in given.items():
        if key not in known:
            raise LonghaulError(
                Code.WORD_UNKNOWN, f"{name} has no {key}", remedy=f"it has {', '.join(known)}", exit_code=2
            )
        if type(value) is not known[key]:
            raise LonghaulError(Code.ARGUMENT_INVALID, f"{key}: {value!r} is of a wrong kind", exit_code=2)
        least, most = _BOUNDS.get(key, (None, None))
        if least is not None and most is not None and not least <= value <= most:
            raise LonghaulError(
                Code.ARGUMENT_INVALID, f"{key} is {value}", remedy=f"write {least} to {most}", exit_code=2
            )
    style = kind(**given)
    if isinstance(style, Ping) and style.over not in TRANSPORTS:
        remedy = f"write {', '.join(TRANSPORTS)}"
        raise LonghaulError(Code.WORD_UNKNOWN, f'ping cannot use "{style.over}"', remedy=remedy, exit_code=2)
    if isinstance(style, Ping) and style.over != "tcp" and not 24 <= style.latency_bytes <= 1400:
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f"latency_bytes is {style.latency_bytes}",
            remedy="write 24 to 1400",
            exit_code=2,
        )
    return style


def settings(style: Style) -> dict[str, Any]:
    """What :func:`make_style` takes besides the name."""
    return asdict(style)
