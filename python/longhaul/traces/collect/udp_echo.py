"""Pings over UDP and ICMP: several may be outstanding; one without a reply is a gap."""

import os
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Connection, Endpoint, soon
from longhaul.traces.collect.handshake import BusyError, begin
from longhaul.traces.collect.prober import Peer, Sample, reason
from longhaul.traces.collect.retransmission_timeout import RetransmissionTimeout

_DATAGRAM = struct.Struct("!16sQ")
"""Session and number, in front of zeros."""
_ICMP = struct.Struct("!BBHHHQ")
"""Type, code, checksum, identifier, sequence number (RFC 792, RFC 4443, section 4), and our whole number."""


@dataclass
class Outstanding:
    """Pings that were sent, and what became of them, in order."""

    rto: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    _sent: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By number, when it was sent and when it counts as lost."""
    _found: dict[int, int | None] = field(default_factory=dict)

    def sent(self, number: int, at_ns: int) -> None:
        """One more; numbers ascend."""
        self._sent[number] = (at_ns, at_ns + round(self.rto.seconds() * 1e9))

    def answered(self, number: int, at_ns: int) -> None:
        """One came back; the first answer counts, and none that is too late."""
        if number in self._sent and number not in self._found:
            rtt_ns = at_ns - self._sent[number][0]
            self._found[number] = rtt_ns
            self.rto.add_sample(rtt_ns / 1e9)

    def settled(self, now_ns: int) -> Sequence[Sample]:
        """The samples of all up to the first that is still under way."""
        samples = []
        for number, (sent_ns, lost_ns) in list(self._sent.items()):
            if number not in self._found:
                if now_ns < lost_ns:
                    break
                self.rto.back_off()
            rtt_ns = self._found.pop(number, None)
            samples.append(Sample(sent_ns, rtt_ns, None, None if rtt_ns is not None else "no answer in time"))
            del self._sent[number]
        return samples

    def complete(self) -> bool:
        """Whether all have come back."""
        return self._sent.keys() == self._found.keys()

    def ends_ns(self) -> int:
        """When all will be settled; 0: they are."""
        return max((lost_ns for _sent, lost_ns in self._sent.values()), default=0)


class Echo(Protocol):
    """A way to send numbers that come back."""

    def ready(self) -> None:
        """Make sure that the other end would answer; raises OSError, LonghaulError."""

    def send(self, number: int) -> None:
        """Raises OSError."""

    def arrived(self) -> Iterator[int]:
        """Numbers that have come back and were not read yet."""

    def fileno(self) -> int:
        """To wait for."""

    def close(self) -> None:
        """Close it."""


@dataclass
class EchoProber:
    """Pings at a period."""

    echo: Echo
    outstanding: Outstanding = field(default_factory=Outstanding)
    number: int = 0

    def measure(self) -> Sequence[Sample]:
        """Send one; samples that are settled."""
        self.number += 1
        with suppress(OSError):  # who is not there does not answer
            self.echo.ready()
        self.outstanding.sent(self.number, time.monotonic_ns())
        with suppress(OSError):  # what was not sent gets no answer
            self.echo.send(self.number)
        self._take()
        return self.outstanding.settled(time.monotonic_ns())

    def rest(self, until_ns: int) -> None:
        """Take what comes back until then."""
        poll = select.poll()
        poll.register(self.echo.fileno(), select.POLLIN)
        while (left_ns := until_ns - time.monotonic_ns()) > 0:
            if poll.poll(left_ns / 1e6):
                self._take()

    def finish(self) -> Sequence[Sample]:
        """Wait for what is under way."""
        ends_ns = self.outstanding.ends_ns()
        while not self.outstanding.complete() and time.monotonic_ns() < ends_ns:
            self.rest(min(ends_ns, soon(0.02)))
        self.echo.close()
        return self.outstanding.settled(max(ends_ns, time.monotonic_ns()))

    def _take(self) -> None:
        for number in self.echo.arrived():
            self.outstanding.answered(number, time.monotonic_ns())


@dataclass
class UdpEcho:
    """Datagrams to a server, which answers those of sessions that it knows."""

    peer: Peer
    endpoint: Endpoint
    size: int
    stream: socket.socket = field(init=False)
    session: bytes = b""
    control: Connection | None = None

    def __post_init__(self) -> None:
        """Open the socket and the session; raises LonghaulError, OSError."""
        self.stream = socket.socket(self.endpoint.family, socket.SOCK_DGRAM)
        self.stream.connect((self.endpoint.host, self.endpoint.port))
        self.stream.setblocking(False)
        self._open()

    def ready(self) -> None:
        """Begin a session again that the server has ended."""
        if self.control is None or _closed(self.control.stream):
            self._open()

    def send(self, number: int) -> None:
        """One datagram."""
        self.stream.send(_DATAGRAM.pack(self.session, number).ljust(self.size, b"\0"))

    def arrived(self) -> Iterator[int]:
        """Of this session."""
        for data in _datagrams(self.stream):
            if len(data) == self.size:
                session, number = _DATAGRAM.unpack_from(data)
                if session == self.session:
                    yield number

    def fileno(self) -> int:
        """Of the datagrams' socket."""
        return self.stream.fileno()

    def close(self) -> None:
        """End the session."""
        if self.control is not None:
            self.control.close()
        self.stream.close()

    def _open(self) -> None:
        if self.control is not None:
            self.control.close()
            self.control = None
        self.control, reply = begin(
            self.peer.dial,
            {"do": "udp"},
            secret=self.peer.secret,
            until_ns=soon(1.0 if self.session else 10.0),
            peer=self.peer.name,
        )
        try:
            session = bytes.fromhex(reply["session"])
        except (KeyError, TypeError, ValueError):
            session = b""
        if len(session) != 16:
            self.control.close()
            raise BusyError("no session")
        self.session = session


@dataclass
class IcmpEcho:
    """Echo requests of ICMP by an ordinary user's socket (icmp(7), ping_group_range)."""

    endpoint: Endpoint
    size: int
    stream: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        """Open the socket; raises LonghaulError where the system does not let us."""
        six = self.endpoint.family == socket.AF_INET6
        protocol = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
        try:
            self.stream = socket.socket(self.endpoint.family, socket.SOCK_DGRAM, protocol)
        except OSError as error:
            remedy = "take --over udp, or ask for your group in sysctl net.ipv4.ping_group_range"
            raise LonghaulError(
                Code.MACHINE_UNABLE,
                f"ICMP echo requests are not allowed here: {reason(error)}",
                remedy=remedy,
            ) from None
        self.stream.connect((self.endpoint.host, 0))
        self.stream.setblocking(False)

    def ready(self) -> None:
        """Nothing is needed."""

    def send(self, number: int) -> None:
        """One request; the kernel sets identifier and, in IPv6, checksum."""
        kind = 128 if self.endpoint.family == socket.AF_INET6 else 8
        message = bytearray(_ICMP.pack(kind, 0, 0, 0, number & 0xFFFF, number).ljust(self.size, b"\0"))
        message[2:4] = checksum(message).to_bytes(2)
        self.stream.send(message)

    def arrived(self) -> Iterator[int]:
        """Those of replies."""
        reply = 129 if self.endpoint.family == socket.AF_INET6 else 0
        for data in _datagrams(self.stream):
            if len(data) >= _ICMP.size and data[0] == reply:
                yield int(_ICMP.unpack_from(data)[5])

    def fileno(self) -> int:
        """Of the socket."""
        return self.stream.fileno()

    def close(self) -> None:
        """Close the socket."""
        self.stream.close()


def checksum(message: bytes | bytearray) -> int:
    """The Internet checksum (RFC 1071) of a message whose own is zero."""
    even = bytes(message) + b"\0" * (len(message) % 2)
    total = sum(struct.unpack(f"!{len(even) // 2}H", even))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(total) ^ 0xFFFF


def new_session() -> bytes:
    """That nobody guesses."""
    return os.urandom(16)


def session_of(data: bytes) -> bytes | None:
    """Whose datagram it is."""
    return data[:16] if len(data) >= _DATAGRAM.size else None


def _datagrams(stream: socket.socket) -> Iterator[bytes]:
    with suppress(BlockingIOError, ConnectionError):
        while True:
            yield stream.recv(2048)


def _closed(stream: socket.socket) -> bool:
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(0))  # the server says no more
