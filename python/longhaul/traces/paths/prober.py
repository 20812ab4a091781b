"""Our own prober: UDP with small hop limits and the kernel's error queue; it needs no privilege.

Linux hands an ICMP error to the socket that caused it (ip(7), IP_RECVERR): who sent it, why, and when it
came. Packets that run out of hops make routers answer (RFC 792, RFC 4443, section 3.3); the end answers that
the port is closed (RFC 1122, section 4.1.3.1).
"""

import select
import socket
import struct
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address

from longhaul.analysis.traces import Hop, Trace
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.paths.lines import answers

_FIRST_PORT = 33_434
"""Where traceroute's ports begin; nobody listens there."""
_PORTS = 180
_AT_ONCE = 4
"""Distances probed at once while the end is not known: an end answers few probes in a row."""
_PAYLOAD = bytes(32)
_ATTEMPTS = 2 * _AT_ONCE
_SO_TIMESTAMPNS = 35
_ERROR = struct.Struct("=IBBBBII")
"""``struct sock_extended_err`` of linux/errqueue.h."""


@dataclass(frozen=True)
class _Family:
    """What differs between IPv4 and IPv6."""

    level: int
    receive_errors: int
    hop_limit: int
    origin: int
    expired: int
    unreachable: int
    closed_port: int
    address: slice
    """Of the sender, behind the error."""


_FAMILIES = {
    socket.AF_INET: _Family(socket.IPPROTO_IP, 11, socket.IP_TTL, 2, 11, 3, 3, slice(4, 8)),
    socket.AF_INET6: _Family(socket.IPPROTO_IPV6, 25, socket.IPV6_UNICAST_HOPS, 3, 3, 1, 4, slice(8, 24)),
}
_REFUSALS = {
    socket.AF_INET: {0: "network unreachable", 1: "host unreachable", 13: "administratively prohibited"},
    socket.AF_INET6: {0: "no route", 1: "administratively prohibited", 3: "address unreachable"},
}


@dataclass(frozen=True)
class Pace:
    """How probes are sent."""

    rounds: int = 6
    """Probes of each distance: Linux routers answer six in a row, then one each second."""
    between_s: float = 0.2
    """From the begin of a round to the begin of the next, at least."""
    wait_s: float = 1.0
    """For an answer."""
    farthest: int = 30
    """Hops at most."""


@dataclass(frozen=True)
class _Answer:
    port: int
    sender: str
    kind: int
    code: int
    at_ns: int


@dataclass
class _Prober:
    """The probes to one address, and what came back."""

    stream: socket.socket
    family: _Family
    address: str
    pace: Pace
    sent: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Distance and time by port."""
    trips: dict[int, dict[str, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    refusals: dict[str, int] = field(default_factory=dict)
    end: int | None = None
    """The distance of the target."""
    count: int = 0

    def discover(self) -> None:
        """Find the end, or how far answers come from."""
        for first in range(1, self.pace.farthest + 1, _AT_ONCE):
            for distance in range(first, min(first + _AT_ONCE, self.pace.farthest + 1)):
                self.send(distance)
            self.listen()
            if self.end is not None or self.refusals:
                return

    def repeat(self) -> None:
        """One probe after another, to what is known to answer."""
        begun = time.monotonic()
        for distance in sorted(self.trips):
            if self.end is None or distance <= self.end:
                self.send(distance)
                self.listen()
        time.sleep(max(0.0, self.pace.between_s - (time.monotonic() - begun)))

    def send(self, distance: int) -> None:
        """One probe; sending also fails for each answer that waits in the socket."""
        port = _FIRST_PORT + self.count % _PORTS
        self.count += 1
        self.stream.setsockopt(self.family.level, self.family.hop_limit, distance)
        for attempt in range(_ATTEMPTS):
            self.sent[port] = (distance, time.time_ns())
            try:
                self.stream.sendto(_PAYLOAD, (self.address, port))
            except OSError as error:
                self.sent.pop(port)
                if attempt == _ATTEMPTS - 1:
                    reason = (error.strerror or "it fails").lower()
                    message = f"cannot send to {self.address}: {reason}"
                    remedy = "look at ip route, or read saved outputs by --from"
                    raise LonghaulError(Code.PEER_UNREACHABLE, message, remedy=remedy) from None
                self.take()
            else:
                return

    def listen(self) -> None:
        """Take answers until all probes have theirs or have waited long enough."""
        until = time.monotonic() + self.pace.wait_s
        poll = select.poll()
        poll.register(self.stream, 0)
        while self.sent and (left := until - time.monotonic()) > 0:
            if poll.poll(left * 1000):
                self.take()
        self.sent.clear()

    def take(self) -> None:
        """What the socket keeps."""
        for answer in _errors(self.stream, self.family):
            probe = self.sent.pop(answer.port, None)
            if probe is None or answer.at_ns < probe[1]:
                continue
            distance, sent_ns = probe
            self.trips[distance][answer.sender].append(answer.at_ns - sent_ns)
            ended = answer.sender == self.address
            if answer.kind == self.family.unreachable and (answer.code == self.family.closed_port or ended):
                self.end = min(distance, self.end or distance)
            elif answer.kind == self.family.unreachable:
                self.refusals[answer.sender] = answer.code


def probe(address: str, *, source: str, target: str, pace: Pace) -> Trace:
    """The path to ``address``, which the user calls ``target``; raises :class:`LonghaulError`."""
    kind = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    family = _FAMILIES[kind]
    with socket.socket(kind, socket.SOCK_DGRAM) as stream:
        stream.setblocking(False)
        stream.setsockopt(family.level, family.receive_errors, 1)
        stream.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        prober = _Prober(stream, family, str(ip_address(address)), pace)
        prober.discover()
        for _round in range(pace.rounds - 1):
            prober.repeat()
    farthest = prober.end or max(prober.trips, default=0)
    hops = tuple(
        Hop(
            at,
            tuple(answers(sender, trips) for sender, trips in prober.trips[at].items())
            if at in prober.trips
            else (),
        )
        for at in range(1, farthest + 1)
    )
    notes = tuple(
        f"{sender} says: {_REFUSALS[kind].get(code, f'unreachable (code {code})')}"
        for sender, code in prober.refusals.items()
    )
    return Trace(source, target, prober.address, hops, prober.end is not None, notes=notes)


def _errors(stream: socket.socket, family: _Family) -> Iterator[_Answer]:
    with suppress(BlockingIOError):
        while True:
            _data, ancillary, _flags, destination = stream.recvmsg(512, 512, socket.MSG_ERRQUEUE)
            at_ns = time.time_ns()
            found = None
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
                    seconds, nanoseconds = struct.unpack("=qq", content[:16])
                    at_ns = seconds * 10**9 + nanoseconds
                elif (level, kind) == (family.level, family.receive_errors):
                    found = content
            if found is None or len(found) < _ERROR.size + family.address.stop:
                continue
            _errno, origin, kind, code, _pad, _info, _more = _ERROR.unpack(found[: _ERROR.size])
            if origin == family.origin:
                sender = str(ip_address(found[_ERROR.size :][family.address]))
                yield _Answer(destination[1], sender, kind, code, at_ns)
