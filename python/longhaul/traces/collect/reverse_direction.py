"""Measurement of the reverse direction, although only one side can connect.

The client opens a control connection and asks for probes line by line. The server measures; where it needs a
connection it asks the client to make one, which is then the server's to begin a session on.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.connections import Connection, set_buffers, soon
from longhaul.traces.collect.handshake import begin
from longhaul.traces.collect.probe_styles import LEAST_BUFFER, MOST_BUFFER, Style, make_style, settings
from longhaul.traces.collect.prober import Peer, Sample, reason
from longhaul.traces.collect.prober_registry import stream_prober
from longhaul.traces.collect.responder import MOST_IDLE_S, answer, answers
from longhaul.traces.collect.retransmission_timeout import MOST_S
from longhaul.traces.collect.wire import (
    Json,
    WrongLineError,
    read_object,
    read_request,
    whole,
    write_greeting,
    write_object,
)

_OPEN = bytes(16)
"""The nonce of a greeting on a connection that was asked for."""
_MOST_NS = 10**13


@dataclass
class Measuring:
    """The server's part: requests ``measure`` and ``attach``."""

    tickets: dict[str, SimpleQueue[Connection]] = field(default_factory=dict)

    def measure(self, connection: Connection, request: Json) -> bool:
        """Make probes towards the client as long as it asks for them."""
        name, given = request.get("style"), request.get("settings")
        period_ns = whole(request, "period_ns", 0, MOST_IDLE_S * 10**9)
        try:
            style = make_style(str(name), given if isinstance(given, dict) else {})
            prober = stream_prober(style, Peer("client", self._dial(connection)), period_ns)
        except LonghaulError as error:
            connection.send(write_object({"error": str(error)}), soon(10))
            return False
        connection.send(write_object({"ok": True}), soon(10))
        idle_s = 600 + 3 * period_ns / 1e9
        try:
            while True:
                asked = read_object(connection.line(soon(idle_s)))
                begun_ns = time.monotonic_ns()
                if asked.get("do") != "probe":
                    raise WrongLineError("no request for a probe")
                try:
                    samples = [_told(sample, begun_ns) for sample in prober.measure()]
                except LonghaulError as error:
                    connection.send(write_object({"error": str(error)}), soon(10))
                    return False
                connection.send(write_object({"samples": samples}), soon(10))
        finally:
            prober.finish()

    def attach(self, connection: Connection, request: Json) -> bool:
        """Hand a connection to who asked for it."""
        waiting = self.tickets.pop(str(request.get("ticket")), None)
        if waiting is None:
            raise WrongLineError("an unknown ticket")
        connection.send(write_object({"ok": True}), soon(10))
        waiting.put(connection)
        return True

    def _dial(self, control: Connection) -> Callable[[int | None, int], Connection]:
        def dial(buffer_bytes: int | None, until_ns: int) -> Connection:
            ticket = secrets.token_hex(16)
            waiting: SimpleQueue[Connection] = SimpleQueue()
            self.tickets[ticket] = waiting
            try:
                control.send(write_object({"dial": ticket, "buffer": buffer_bytes or 0}), until_ns)
                left_s = max(0.0, (until_ns - time.monotonic_ns()) / 1e9)
                connection = waiting.get(timeout=left_s)
            except Empty:
                raise TimeoutError("the client does not connect") from None
            finally:
                self.tickets.pop(ticket, None)
            set_buffers(connection.stream, buffer_bytes)
            return connection

        return dial


@dataclass
class ReverseProber:
    """The client's part: asks for each probe, and makes the connections that it needs."""

    peer: Peer
    style: Style
    period_ns: int = 0
    control: Connection | None = None

    def measure(self) -> Sequence[Sample]:
        """One probe of the server."""
        at_ns = time.monotonic_ns()
        try:
            control = self.control or self._begin()
            control.send(write_object({"do": "probe"}), soon(10))
            while True:
                # The server waits for each of its connections and messages so long at most.
                said = read_object(control.line(soon(6 * MOST_S)))
                if "error" in said:
                    raise LonghaulError(Code.MEASUREMENT_FAILED, f"{self.peer.name}: {said['error']}")
                if "dial" not in said:
                    return _heard(said, at_ns)
                threading.Thread(target=self._connect, args=(said,), daemon=True).start()
        except (OSError, WrongLineError) as error:
            self.finish()
            return (Sample(at_ns, failure=reason(error)),)

    def rest(self, until_ns: int) -> None:
        """Sleep."""
        time.sleep(max(0.0, (until_ns - time.monotonic_ns()) / 1e9))

    def finish(self) -> Sequence[Sample]:
        """End the control connection."""
        if self.control is not None:
            self.control.close()
            self.control = None
        return ()

    def _begin(self) -> Connection:
        request = {
            "do": "measure",
            "style": self.style.name,
            "settings": settings(self.style),
            "period_ns": self.period_ns,
        }
        self.control, _reply = begin(
            self.peer.dial, request, secret=self.peer.secret, until_ns=soon(10), peer=self.peer.name
        )
        return self.control

    def _connect(self, said: Json) -> None:
        try:
            buffer = said.get("buffer") and whole(said, "buffer", LEAST_BUFFER, MOST_BUFFER)
            connection, _reply = begin(
                self.peer.dial,
                {"do": "attach", "ticket": said["dial"]},
                secret=self.peer.secret,
                until_ns=soon(MOST_S),
                peer=self.peer.name,
                buffer_bytes=buffer or None,
            )
        except (OSError, WrongLineError, LonghaulError):
            return  # the server notes that it waited in vain
        try:
            until_ns = soon(10)
            connection.send(write_greeting(_OPEN, wants_token=False), until_ns)
            request = read_request(connection.line(until_ns), _OPEN.hex(), None)
            if request is not None and answers(request):
                answer(connection, request, {"ok": True})
        except (OSError, WrongLineError):
            return
        finally:
            connection.close()


def _told(sample: Sample, begun_ns: int) -> Json:
    """Times are from the begin of the probe: the ends' clocks are not compared."""
    return {
        "after_ns": sample.at_ns - begun_ns,
        "rtt_ns": sample.rtt_ns,
        "bits_per_s": sample.bits_per_s,
        "failure": sample.failure,
    }


def _heard(said: Json, at_ns: int) -> Sequence[Sample]:
    """Raises :class:`WrongLineError`."""
    samples = said.get("samples")
    if not isinstance(samples, list):
        raise WrongLineError("no samples")
    return [_sample(each, at_ns) for each in samples]


def _sample(told: Any, at_ns: int) -> Sample:
    if not isinstance(told, dict):
        raise WrongLineError("no sample")
    rate, failure = told.get("bits_per_s"), told.get("failure")
    if not (rate is None or (isinstance(rate, (int, float)) and 0 < rate < 1e15)):
        raise WrongLineError("no rate")
    return Sample(
        at_ns + whole(told, "after_ns", 0, _MOST_NS),
        None if told.get("rtt_ns") is None else whole(told, "rtt_ns", 1, _MOST_NS),
        None if rate is None else float(rate),
        None if failure is None else str(failure)[:200],
    )
