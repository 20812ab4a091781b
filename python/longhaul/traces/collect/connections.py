"""TCP connections on which every operation has a timeout."""

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.wire import LONGEST_LINE, WrongLineError

_PART = 1 << 16


class EndedError(ConnectionError):
    """The other end closed before all was said."""


@dataclass(frozen=True, order=True)
class Endpoint:
    """An address or name, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        """As it is written: ``host:7000``, ``[::1]:7000``."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> "Endpoint":
        """Raises :class:`LonghaulError`."""
        host, _, port = text.rpartition(":")
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if not bare or (":" in bare and bare == host) or not port.isdecimal() or int(port) > 65_535:
            remedy = "write for example gw.example.org:7000 or [2001:db8::1]:7000"
            raise LonghaulError(
                Code.ARGUMENT_INVALID, f'"{text}" is not HOST:PORT', remedy=remedy, exit_code=2
            )
        return cls(bare, int(port))

    def resolve(self) -> "Endpoint":
        """With the first of its addresses; raises :class:`LonghaulError`."""
        return self.addresses()[0]

    def addresses(self) -> "Sequence[Endpoint]":
        """With each address instead of a name; raises :class:`LonghaulError`."""
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            remedy = "correct the name, or give an address"
            raise LonghaulError(
                Code.PEER_UNREACHABLE, f'no address is known of "{self.host}"', remedy=remedy, exit_code=2
            ) from None
        return [Endpoint(host, self.port) for host in dict.fromkeys(str(each[4][0]) for each in found)]

    @property
    def family(self) -> socket.AddressFamily:
        """Of an endpoint with an address."""
        address = self.host.partition("%")[0]
        return socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET


class Connection:
    """A stream socket. Every call takes the instant, on the monotonic clock in ns, at which it gives up.

    Raises TimeoutError then, :class:`EndedError` if the other end closes too early, else OSError.
    """

    def __init__(self, stream: socket.socket) -> None:
        """Take the socket over."""
        self.stream = stream
        self._rest = bytearray()

    def send(self, data: bytes, until_ns: int) -> None:
        """All of ``data``."""
        self._arm(until_ns)
        self.stream.sendall(data)

    def read(self, count: int, until_ns: int) -> None:
        """So many bytes, whatever they are."""
        while count:
            count -= self._take(count, until_ns)

    def skim(self, until_ns: int) -> None:
        """Whatever comes next, at least a byte."""
        self._take(_PART, until_ns)

    def line(self, until_ns: int) -> bytes:
        """Up to the next end of a line, without it. Raises :class:`WrongLineError` if it is too long."""
        while (at := self._rest.find(b"\n")) < 0:
            if len(self._rest) >= LONGEST_LINE:
                raise WrongLineError("a line without an end")
            self._rest += self._receive(LONGEST_LINE, until_ns)
        line = bytes(self._rest[:at])
        del self._rest[: at + 1]
        return line

    def end(self, until_ns: int) -> None:
        """Wait until the other end closes; raises :class:`WrongLineError` if it speaks instead."""
        self._arm(until_ns)
        if self._rest or self.stream.recv(1):
            raise WrongLineError("more than was asked for")

    def close(self) -> None:
        """Close; again, and nothing happens."""
        self.stream.close()

    def abort(self) -> None:
        """End it for a thread that waits in it."""
        try:
            self.stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            self.stream.close()

    def _take(self, most: int, until_ns: int) -> int:
        if self._rest:
            taken = min(most, len(self._rest))
            del self._rest[:taken]
            return taken
        return len(self._receive(min(most, _PART), until_ns))

    def _receive(self, most: int, until_ns: int) -> bytes:
        self._arm(until_ns)
        data = self.stream.recv(most)
        if not data:
            raise EndedError("the other end has closed the connection")
        return data

    def _arm(self, until_ns: int) -> None:
        left_s = (until_ns - time.monotonic_ns()) / 1e9
        if left_s <= 0:
            raise TimeoutError("no answer in time")
        self.stream.settimeout(left_s)


Dial = Callable[[int | None, int], Connection]
"""Makes a connection: with buffers of so many bytes, or the system's; and until when."""


def dial(endpoint: Endpoint, buffer_bytes: int | None, until_ns: int) -> Connection:
    """A connection to an address; its buffers are set before, as they decide on its window."""
    stream = socket.socket(endpoint.family, socket.SOCK_STREAM)
    connection = Connection(stream)
    try:
        set_buffers(stream, buffer_bytes)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.settimeout(max(0.001, (until_ns - time.monotonic_ns()) / 1e9))
        stream.connect((endpoint.host, endpoint.port))
    except OSError:
        connection.close()
        raise
    return connection


def dial_any(endpoint: Endpoint, buffer_bytes: int | None, until_ns: int) -> Connection:
    """A connection to the first of an endpoint's addresses that answers. Raises OSError, LonghaulError."""
    *others, last = endpoint.addresses()
    for each in others:
        with suppress(OSError):
            return dial(each, buffer_bytes, until_ns)
    return dial(last, buffer_bytes, until_ns)


def set_buffers(stream: socket.socket, buffer_bytes: int | None) -> None:
    """SO_SNDBUF and SO_RCVBUF, of which Linux takes the double and gives half of it to data."""
    if buffer_bytes is not None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)


def choose_congestion_control(stream: socket.socket, name: str) -> None:
    """For what this end sends; an empty name leaves the system's. Raises :class:`LonghaulError`."""
    if not name:
        return
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError:
        remedy = "take one of sysctl net.ipv4.tcp_allowed_congestion_control"
        raise LonghaulError(
            Code.ALGORITHM_NOT_LIVE,
            f'this user may not select congestion-control algorithm "{name}"',
            remedy=remedy,
            exit_code=2,
        ) from None


def soon(seconds: float) -> int:
    """The instant after so long, on the monotonic clock in ns."""
    return time.monotonic_ns() + round(seconds * 1e9)
