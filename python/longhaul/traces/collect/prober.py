"""The measuring side of a probe over TCP, for each style."""

import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from longhaul.traces.collect.connections import Connection, Dial, choose_congestion_control, soon
from longhaul.traces.collect.handshake import begin
from longhaul.traces.collect.probe_styles import EventSpace, Nws, Sockets
from longhaul.traces.collect.responder import MOST_IDLE_S
from longhaul.traces.collect.retransmission_timeout import RetransmissionTimeout
from longhaul.traces.collect.tcp_info import read_tcp_info
from longhaul.traces.collect.wire import Json, WrongLineError


@dataclass(frozen=True)
class Sample:
    """What was found at an instant of the monotonic clock; ``None`` is a gap."""

    at_ns: int
    rtt_ns: int | None = None
    bits_per_s: float | None = None
    failure: str | None = None
    """Why there is a gap, where a probe failed."""


@dataclass(frozen=True)
class Peer:
    """Where probes go."""

    name: object
    """For messages."""
    dial: Dial
    secret: bytes | None = None

    def begin(
        self, request: Json, *, until_ns: int, buffer_bytes: int | None = None, idle_s: float = 60
    ) -> Connection:
        """A session for ``request``; raises as :func:`longhaul.traces.collect.handshake.begin`."""
        whole = {**request, "idle_s": max(1, min(MOST_IDLE_S, round(idle_s)))}
        connection, _reply = begin(
            self.dial,
            whole,
            secret=self.secret,
            until_ns=until_ns,
            peer=self.name,
            buffer_bytes=buffer_bytes,
        )
        return connection


class Prober(Protocol):
    """What takes samples of one link, in one direction."""

    def measure(self) -> Sequence[Sample]:
        """Make one probe: its samples, or those that earlier ones have got by now, in order of time.

        Raises :class:`longhaul.errors.LonghaulError` where going on has no sense.
        """

    def rest(self, until_ns: int) -> None:
        """Wait for the next probe's instant."""

    def finish(self) -> Sequence[Sample]:
        """Close everything; samples of probes that were under way."""


class _Timed:
    """What probes over TCP share: they wait by sleeping, and nothing is under way between them."""

    def rest(self, until_ns: int) -> None:
        """Sleep."""
        time.sleep(max(0.0, (until_ns - time.monotonic_ns()) / 1e9))

    def finish(self) -> Sequence[Sample]:
        """Nothing is left."""
        return ()


@dataclass
class NwsProber(_Timed):
    """Latency by a small message and its answer; bandwidth by a short stream until the other end closes.

    Each begins a connection of its own, which is not in the time; slow start is.
    """

    peer: Peer
    style: Nws
    small: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    stream: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)

    def measure(self) -> Sequence[Sample]:
        """One sample."""
        at_ns = time.monotonic_ns()
        rtt_ns, failure = _timed(self.small, self._latency)
        took_ns, worse = (None, failure) if rtt_ns is None else _timed(self.stream, self._stream)
        size = self.style.messages * self.style.message_bytes
        rate = None if took_ns is None else size * 8e9 / took_ns
        return (Sample(at_ns, rtt_ns, rate, failure or worse),)

    def _latency(self, until_ns: int) -> int:
        size, buffer = self.style.latency_bytes, self.style.buffer_bytes
        request = {"do": "answer", "sizes": [size], "answer": size}
        connection = self.peer.begin(request, until_ns=until_ns, buffer_bytes=buffer)
        try:
            return _exchange(connection, bytes(size), size, until_ns)
        finally:
            connection.close()

    def _stream(self, until_ns: int) -> int:
        style = self.style
        request = {"do": "take", "bytes": style.messages * style.message_bytes, "buffer": style.buffer_bytes}
        connection = self.peer.begin(request, until_ns=until_ns, buffer_bytes=style.buffer_bytes)
        try:
            choose_congestion_control(connection.stream, style.congestion_control)
            message = bytes(style.message_bytes)
            begun_ns = time.monotonic_ns()
            for _ in range(style.messages):
                connection.send(message, until_ns)
            connection.end(until_ns)
            return time.monotonic_ns() - begun_ns
        finally:
            connection.close()


@dataclass
class EventSpaceProber(_Timed):
    """A small message, then large ones, each answered by a byte before the next, on one connection.

    The first sample has the latency and the first rate; rates of further messages are samples of their own.
    Where a latency is to be taken out of rates, one more small message ends a round, and the lower latency of
    the two counts. Without large messages it is ping over TCP.
    """

    peer: Peer
    style: EventSpace
    period_ns: int = 0
    beginning: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    small: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    large: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    connection: Connection | None = None

    def measure(self) -> Sequence[Sample]:
        """One round of messages."""
        at_ns = time.monotonic_ns()
        _took, failure = _timed(self.beginning, self._connect) if self.connection is None else (0, None)
        if self.connection is None:
            return (Sample(at_ns, failure=failure),)
        connection = self.connection
        begun, took = [], []
        for place, size in enumerate(self._sizes()):
            rto = self.large if 0 < place <= self.style.messages else self.small
            begun.append(time.monotonic_ns())
            took_ns, failure = _timed(rto, partial(_message, connection, size))
            took.append(took_ns)
            if failure is not None:
                self.finish()
                break
        return self._samples(begun, took, failure)

    def finish(self) -> Sequence[Sample]:
        """Close the connection."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        return ()

    def _connect(self, until_ns: int) -> int:
        style = self.style
        request = {"do": "answer", "sizes": self._sizes(), "answer": 1, "nodelay": style.nodelay}
        idle_s = 60 + 3 * self.period_ns / 1e9
        begun_ns = time.monotonic_ns()
        self.connection = self.peer.begin(request, until_ns=until_ns, idle_s=idle_s)
        choose_congestion_control(self.connection.stream, style.congestion_control)
        nodelay = int(style.nodelay)
        self.connection.stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, nodelay)
        return time.monotonic_ns() - begun_ns

    def _sizes(self) -> list[int]:
        small, large = [self.style.latency_bytes], [self.style.message_bytes]
        return small + self.style.messages * large + (small if self.style.less_latency else [])

    def _samples(
        self, begun: Sequence[int], took: Sequence[int | None], failure: str | None
    ) -> Sequence[Sample]:
        large = list(zip(begun, took, strict=True))[1 : 1 + self.style.messages]
        # Hosts add to a latency and take nothing from it: the lower one is nearer to the link's.
        ends = [each for each in (*took[:1], *took[1 + self.style.messages :]) if each is not None]
        latency_ns = min(ends) if self.style.less_latency and ends else 0
        samples = [Sample(at_ns, None, self._rate(took_ns, latency_ns)) for at_ns, took_ns in large]
        first = samples[0] if samples else Sample(begun[0])
        samples[:1] = [replace(first, at_ns=begun[0], rtt_ns=took[0])]
        if failure is not None:
            samples[-1] = replace(samples[-1], failure=failure)
        return samples

    def _rate(self, took_ns: int | None, latency_ns: int) -> float | None:
        if took_ns is None or took_ns <= latency_ns:
            return None
        return self.style.message_bytes * 8e9 / (took_ns - latency_ns)


@dataclass
class SocketsProber(_Timed):
    """What TCP itself measures on a connection that never stops sending; its own queue is in the latency."""

    peer: Peer
    style: Sockets
    rto: RetransmissionTimeout = field(default_factory=RetransmissionTimeout)
    connection: Connection | None = None
    acked_bytes: int = 0
    sending: threading.Thread | None = None

    def measure(self) -> Sequence[Sample]:
        """One look at the connection; a gap if nothing was acknowledged since the last."""
        at_ns = time.monotonic_ns()
        if self.connection is None:
            _took, failure = _timed(self.rto, self._connect)
            return (Sample(at_ns, failure=failure),) if failure else ()
        try:
            info = read_tcp_info(self.connection.stream)
        except OSError as error:
            self.finish()
            return (Sample(at_ns, failure=reason(error)),)
        moved, self.acked_bytes = info.acked_bytes - self.acked_bytes, info.acked_bytes
        if self.sending is None or not self.sending.is_alive():
            self.finish()
        if moved <= 0:
            return (Sample(at_ns, failure="nothing was acknowledged"),)
        return (Sample(at_ns, info.rtt_ns or None, float(info.delivery_bits_per_s) or None),)

    def finish(self) -> Sequence[Sample]:
        """Stop sending."""
        if self.connection is not None:
            self.connection.abort()
            if self.sending is not None:
                self.sending.join()
            self.connection.close()
        self.connection, self.sending, self.acked_bytes = None, None, 0
        return ()

    def _connect(self, until_ns: int) -> int:
        begun_ns = time.monotonic_ns()
        connection = self.peer.begin({"do": "drain"}, until_ns=until_ns)
        self.connection = connection
        choose_congestion_control(connection.stream, self.style.congestion_control)
        self.sending = threading.Thread(target=_keep_sending, args=(connection, self.style), daemon=True)
        self.sending.start()
        return time.monotonic_ns() - begun_ns


def _keep_sending(connection: Connection, style: Sockets) -> None:
    message = bytes(style.message_bytes)
    try:
        while True:
            connection.send(message, soon(60))
    except OSError:
        return


def _exchange(connection: Connection, message: bytes, reply_bytes: int, until_ns: int) -> int:
    begun_ns = time.monotonic_ns()
    connection.send(message, until_ns)
    connection.read(reply_bytes, until_ns)
    return time.monotonic_ns() - begun_ns


def _message(connection: Connection, size: int, until_ns: int) -> int:
    return _exchange(connection, bytes(size), 1, until_ns)


def _timed(rto: RetransmissionTimeout, probe: Callable[[int], int]) -> tuple[int | None, str | None]:
    """How long ``probe`` took by its own account, or why it failed."""
    begun_ns = time.monotonic_ns()
    try:
        took_ns = probe(soon(rto.seconds()))
    except (OSError, WrongLineError) as error:
        rto.back_off()
        return None, reason(error)
    rto.add_sample((time.monotonic_ns() - begun_ns) / 1e9)
    return took_ns, None


def reason(error: OSError | WrongLineError) -> str:
    """What failed, in few words."""
    words = error.strerror if isinstance(error, OSError) else None
    return (words or str(error) or type(error).__name__).lower()
