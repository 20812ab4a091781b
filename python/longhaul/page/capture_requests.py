"""Requests about captures of a live run's links: the list of packets, one packet, the file."""

import subprocess
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.page.bodies import CaptureStart
from longhaul.page.json_requests import Asked
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.captures import CapturedPacketRow, CapturedPackets, CaptureNow, PacketDetails
from longhaul.page.responses.runs import Ticket
from longhaul.page.responses.texts import Done
from longhaul.page.run_requests import Experiments
from longhaul.results.growing_captures import GrowingCapture, packet_of
from longhaul.results.packet_headers import Dissector
from longhaul.run import link_captures
from longhaul.run.link_captures import LinkCapture
from longhaul.subprocesses import find_program

MOST_LISTED = 2_000
"""Packets of an end that can be listed; earlier ones are in the file."""
_EXPLAINED_WITHIN_S = 10.0


@dataclass
class _End:
    """One end of a captured link, as far as it was read."""

    growing: GrowingCapture
    dissector: Dissector
    unix_start_ns: int
    count: int = 0
    listed: deque[tuple[CapturedPacketRow, bytes]] = field(default_factory=lambda: deque(maxlen=MOST_LISTED))

    def read(self) -> None:
        """List what was written since."""
        fresh: deque[tuple[int, bytes]] = deque(maxlen=MOST_LISTED)
        for block in self.growing.blocks():
            self.count += 1
            fresh.append((self.count, block))
        for number, block in fresh:
            packet = packet_of(block)
            headers = self.dissector.read(packet.content, is_frame=packet.is_frame, length=packet.length)
            row: CapturedPacketRow = {
                "number": number,
                "t_ns": packet.unix_ns - self.unix_start_ns,
                "leaves": packet.leaves,
                "source": headers.source,
                "destination": headers.destination,
                "protocol": headers.protocol,
                "info": headers.info,
                "bytes": packet.length,
            }
            self.listed.append((row, block))

    def block(self, number: int) -> bytes | None:
        """The packet of this number, from 1: of those that are listed, or from the file."""
        if not 1 <= number <= self.count:
            return None
        first = self.count - len(self.listed) + 1
        if number >= first:
            return self.listed[number - first][1]
        return next(islice(GrowingCapture(self.growing.path).blocks(), number - 1, None), None)


@dataclass
class _Watched:
    """A link that was captured from the page, and what was read of its ends."""

    capture: LinkCapture
    ends: dict[str, _End] = field(default_factory=dict)
    has_ended: bool = False
    off_since_s: float | None = None
    """Since when the link is not captured any more, as the limit was reached; on the monotonic clock."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_complete(self) -> bool:
        """Whether no more packets will come."""
        if self.has_ended or not self.capture.is_running:
            return True
        if self.off_since_s is None and not self.capture.is_on:
            self.off_since_s = time.monotonic()
        if self.off_since_s is not None and time.monotonic() - self.off_since_s > self.capture.settled_s:
            self.has_ended = True
        return self.has_ended

    def end_at(self, node: str) -> _End:
        """The end at ``node``, with everything that was written so far."""
        path = self.capture.path(node)
        with self.lock:
            if node not in self.ends:
                names = link_captures.host_names(self.capture.plan)
                self.ends[node] = _End(GrowingCapture(path), Dissector(names), self.capture.unix_start_ns)
            self.ends[node].read()
            return self.ends[node]


@dataclass
class Captures:
    """The captures of runs that were begun from the page, by run and link."""

    experiments: Experiments
    _watched: dict[tuple[str, str], _Watched] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, asked: Asked, body: CaptureStart) -> CaptureNow:
        """Capture the packets of a link from now on; the list goes on if the link was captured before."""
        directory = self.experiments.directory_of(asked)
        socket = self.experiments.socket_of(directory, to_be="captured")
        key = asked.path["run"], body.link
        with self._lock:
            there = self._watched.get(key)
            if there is None or there.has_ended:
                begun = link_captures.begin(socket, body.link, snaplen_bytes=body.snaplen_bytes)
                there = _Watched(begun, ends={} if there is None else there.ends)
                self._watched[key] = there
        return _now(there.capture)

    def end(self, asked: Asked) -> Done:
        """End a capture; what was captured can still be listed."""
        watched = self._of(asked)
        watched.capture.end()
        watched.has_ended = True
        return {"ok": True}

    def packets(self, asked: Asked) -> CapturedPackets:
        """The packets at one end, ``at``, after number ``after``."""
        watched = self._of(asked)
        after = asked.number("after", least=0, most=1 << 53, default=0)
        has_ended = watched.is_complete()
        end = watched.end_at(asked.query.get("at") or watched.capture.nodes[0])
        packets = [row for row, _block in end.listed if row["number"] > after]
        return {"packets": packets, "count": end.count, "ended": has_ended}

    def packet(self, asked: Asked) -> PacketDetails:
        """One packet in full."""
        watched = self._of(asked)
        end = watched.end_at(asked.query.get("at") or watched.capture.nodes[0])
        text = asked.path["number"]
        block = end.block(int(text)) if text.isdecimal() and len(text) < 16 else None
        if block is None:
            raise RefusedError(Code.PAGE_NOT_FOUND, 404, f"the capture has no packet {text}")
        content = packet_of(block).content.hex()
        explained = _explained(end.growing.head + block)
        return {"number": int(text), "content": content, "explained": explained}

    def download(self, asked: Asked) -> Ticket:
        """An address at which the capture of one end can be downloaded, once."""
        watched = self._of(asked)
        path = watched.capture.path(asked.query.get("at") or watched.capture.nodes[0])
        place = Path(tempfile.mkdtemp(prefix="longhaul-capture-"))
        copy = place / path.name
        growing = GrowingCapture(path)
        with copy.open("xb") as file:
            for number, block in enumerate(growing.blocks()):
                file.write(block if number else growing.head + block)
            if file.tell() == 0:
                file.write(growing.head)
        return self.experiments.admit(copy, is_ours=True)

    def close(self) -> None:
        """End all that the page began."""
        for watched in list(self._watched.values()):
            if not watched.has_ended:
                watched.capture.end()

    def _of(self, asked: Asked) -> _Watched:
        found = self._watched.get((asked.path["run"], asked.path["link"]))
        if found is None:
            raise RefusedError(Code.PAGE_NOT_FOUND, 404, "this link was not captured from the page")
        return found


def _now(capture: LinkCapture) -> CaptureNow:
    return {
        "link": capture.name,
        "nodes": capture.nodes,
        "snaplen_bytes": capture.snaplen_bytes,
        "new": capture.is_new,
    }


def _explained(pcapng: bytes) -> str | None:
    """What ``tshark`` says of the only packet of a capture; ``None`` if it is missing or does not answer."""
    tshark = find_program("tshark")
    if tshark is None:
        return None
    with suppress(subprocess.TimeoutExpired, OSError):
        found = subprocess.run(
            [tshark, "-n", "-V", "-r", "-"],
            input=pcapng,
            capture_output=True,
            timeout=_EXPLAINED_WITHIN_S,
            check=False,
        )
        return found.stdout.decode(errors="replace") or None
    return None
