"""The prober of each probe style."""

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Endpoint
from longhaul.traces.collect.probe_styles import EventSpace, Nws, Ping, Sockets, Style
from longhaul.traces.collect.prober import (
    EventSpaceProber,
    NwsProber,
    Peer,
    Prober,
    SocketsProber,
)
from longhaul.traces.collect.udp_echo import EchoProber, IcmpEcho, UdpEcho


def stream_prober(style: Style, peer: Peer, period_ns: int) -> Prober:
    """One that needs nothing but connections; raises :class:`LonghaulError`."""
    match style:
        case Nws():
            return NwsProber(peer, style)
        case EventSpace():
            return EventSpaceProber(peer, style, period_ns)
        case Sockets():
            return SocketsProber(peer, style)
        case Ping(over="tcp"):
            small = EventSpace(latency_bytes=style.latency_bytes, messages=0)
            return EventSpaceProber(peer, small, period_ns)
    raise LonghaulError(
        Code.OPTION_CONFLICT,
        "pings without a connection are for the end that connects",
        remedy="take --over tcp",
        exit_code=2,
    )


def prober(style: Style, peer: Peer, endpoint: Endpoint, period_ns: int) -> Prober:
    """One towards an endpoint with an address; raises :class:`LonghaulError`, OSError."""
    match style:
        case Ping(over="udp"):
            return EchoProber(UdpEcho(peer, endpoint, style.latency_bytes))
        case Ping(over="icmp"):
            return EchoProber(IcmpEcho(endpoint, style.latency_bytes))
    return stream_prober(style, peer, period_ns)
