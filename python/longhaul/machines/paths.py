"""RTT, loss and rate between the machines, measured before a run by the sockets that it will use."""

import hashlib
import hmac
import json
import select
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Json = dict[str, Any]

PROBES = 100
_INTERVAL_S = 0.002
_LAST_S = 0.5
"""For replies after the last probe."""
_BURST = 200
_BURST_BYTES = 1_400
_HEAD = struct.Struct("<4scIIQ")
_MAGIC = b"LHPM"
_TAG_BYTES = 16


class Meter:
    """Answers the probes of other machines, and measures the paths to them."""

    def __init__(self, sock: socket.socket, *, key: bytes, own: int) -> None:
        """Use ``sock`` until :meth:`close`; ``own`` is the number of this machine."""
        self._socket = sock
        self._key = key
        self._own = own
        self._rtts: dict[int, dict[int, int]] = {}
        self._burst: dict[int, tuple[int, int, int]] = {}
        self._bursts_reported: dict[int, Json] = {}
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more."""
        self._ends.set()
        self._thread.join()

    def measure(self, peers: Mapping[int, str]) -> list[Json]:
        """RTT, loss and rate to each of ``peers``, whose addresses are ``HOST:PORT``."""
        return [self._measured(peer, parsed(address)) for peer, address in peers.items()]

    def _measured(self, peer: int, address: tuple[str, int]) -> Json:
        self._rtts[peer] = {}
        for number in range(PROBES):
            self._send(b"q", number, time.monotonic_ns(), address)
            time.sleep(_INTERVAL_S)
        deadline = time.monotonic() + _LAST_S
        while len(self._rtts[peer]) < PROBES and time.monotonic() < deadline:
            time.sleep(_INTERVAL_S)
        rtts = sorted(self._rtts[peer].values())
        for number in range(_BURST):
            self._send(b"b", number, 0, address, padding=_BURST_BYTES)
        time.sleep(_INTERVAL_S * 10)
        self._send(b"t", 0, 0, address)
        deadline = time.monotonic() + _LAST_S
        while peer not in self._bursts_reported and time.monotonic() < deadline:
            time.sleep(_INTERVAL_S)
        return {
            "peer": peer,
            "sent": PROBES,
            "received": len(rtts),
            "rtt_min_ns": rtts[0] if rtts else None,
            "rtt_p50_ns": rtts[len(rtts) // 2] if rtts else None,
            "rtt_p99_ns": rtts[len(rtts) * 99 // 100] if rtts else None,
            "burst": self._bursts_reported.get(peer),
        }

    def _send(self, kind: bytes, number: int, at_ns: int, to: tuple[str, int], *, padding: int = 0) -> None:
        content = _HEAD.pack(_MAGIC, kind, self._own, number, at_ns) + bytes(padding)
        try:
            self._socket.sendto(content + self._tag(content), to)
        except OSError:
            # It counts as lost.
            return

    def _tag(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, hashlib.sha256)[:_TAG_BYTES]

    def _answer(self) -> None:
        while not self._ends.is_set():
            ready, _, _ = select.select([self._socket], [], [], 0.05)
            if not ready:
                continue
            try:
                datagram, sender = self._socket.recvfrom(1 << 16)
            except OSError:
                continue
            content, tag = datagram[:-_TAG_BYTES], datagram[-_TAG_BYTES:]
            if len(content) < _HEAD.size or not hmac.compare_digest(self._tag(content), tag):
                continue
            self._handle(content, sender)

    def _handle(self, content: bytes, sender: tuple[str, int]) -> None:
        magic, kind, peer, number, at_ns = _HEAD.unpack(content[: _HEAD.size])
        now_ns = time.monotonic_ns()
        if magic != _MAGIC:
            return
        match kind:
            case b"q":
                self._send(b"a", number, at_ns, sender)
            case b"a":
                self._rtts.get(peer, {}).setdefault(number, now_ns - at_ns)
            case b"b":
                first, _, count = self._burst.get(peer, (now_ns, now_ns, 0))
                self._burst[peer] = (first, now_ns, count + 1)
            case b"t":
                first, last, count = self._burst.get(peer, (0, 0, 0))
                seen = json.dumps({"received": count, "ns": last - first}).encode()
                content = _HEAD.pack(_MAGIC, b"s", self._own, 0, 0) + seen
                self._socket.sendto(content + self._tag(content), sender)
            case b"s":
                self._bursts_reported[peer] = json.loads(content[_HEAD.size :])


def parsed(address: str) -> tuple[str, int]:
    """``HOST:PORT``, or ``[HOST]:PORT`` of IPv6, as a socket takes it."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


@dataclass(frozen=True)
class MeasuredPath:
    """The network between two machines."""

    ends: tuple[int, int]
    """The numbers of the machines."""
    sent: int
    """Probes."""
    received: int
    rtt_min_ns: int | None
    rtt_p50_ns: int | None
    rtt_p99_ns: int | None
    bits_per_s: float | None
    """Rate at which a burst arrived; an estimate."""

    @classmethod
    def of(cls, number: int, measured: Mapping[str, Any]) -> "MeasuredPath":
        """What the meter of machine ``number`` measured to a peer."""
        rtts = {name: measured[name] for name in ("rtt_min_ns", "rtt_p50_ns", "rtt_p99_ns")}
        counts = {name: measured[name] for name in ("sent", "received")}
        return cls((number, measured["peer"]), **counts, **rtts, bits_per_s=_bits_per_s(measured["burst"]))

    @property
    def loss(self) -> float:
        """The share of probes without a reply."""
        return 1 - self.received / self.sent

    def as_dict(self, names: Sequence[str]) -> Json:
        """For the record of the run."""
        figures = {name: value for name, value in asdict(self).items() if name != "ends"}
        return {"machines": [names[end] for end in self.ends], **figures}


def _bits_per_s(burst: Mapping[str, int] | None) -> float | None:
    """The rate at which a burst arrived; ``None`` if too little of it did."""
    if not burst or burst["received"] < 2 or burst["ns"] <= 0:
        return None
    return (burst["received"] - 1) * _BURST_BYTES * 8e9 / burst["ns"]
