"""Linux's statistics of one TCP connection (``struct tcp_info`` of linux/tcp.h)."""

import socket
import struct
from dataclasses import dataclass

_ROOM = 256
_RTT_US = struct.Struct("=68xI")
_ACKED_BYTES = struct.Struct("=120xQ")
_DELIVERY_BYTES_PER_S = struct.Struct("=160xQ")


@dataclass(frozen=True)
class TcpInfo:
    """One look."""

    rtt_ns: int
    """Smoothed as by RFC 6298; 0 before the first measurement."""
    acked_bytes: int
    delivery_bits_per_s: int
    """What arrived at the other end lately; 0 before the first measurement, or of an older kernel."""


def read_tcp_info(stream: socket.socket) -> TcpInfo:
    """Of an open connection; raises OSError."""
    return parse(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ROOM))


def parse(content: bytes) -> TcpInfo:
    """What an older kernel does not tell is zero."""
    whole = content.ljust(_ROOM, b"\0")
    return TcpInfo(
        rtt_ns=int(_RTT_US.unpack_from(whole)[0]) * 1000,
        acked_bytes=int(_ACKED_BYTES.unpack_from(whole)[0]),
        delivery_bits_per_s=int(_DELIVERY_BYTES_PER_S.unpack_from(whole)[0]) * 8,
    )
