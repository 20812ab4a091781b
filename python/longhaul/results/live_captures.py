"""Captures of a divided run while it runs, joined to those that one engine would be writing.

A part captures the directions of a link that begin at its nodes: what goes onto the link there, and what
leaves it at the other end. So a link that is cut has packets of two parts at each of its ends. When the run
has ended, :mod:`longhaul.results.machine_records` writes the captures again, complete.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longhaul.plan import Plan
from longhaul.results import pcapng
from longhaul.results.growing_captures import GrowingCapture, packet_of
from longhaul.results.machine_records import MACHINES
from longhaul.results.segments import capture_path

_MOST_WAITING_BYTES = 1 << 22
"""Of the packets of a part that wait for those of another; more are read when these have been written."""
_MOST_ROUNDS = 8
"""In which one capture is read before the others, if it is behind."""


@dataclass(frozen=True)
class PartClock:
    """How far a part has written its captures, and when its clock started."""

    unix_start_ns: int
    """Unix time of the run's start, which packets of this part count from."""
    settled_ns: int
    """Time of the run until which all packets are in the files."""


@dataclass
class _PartCapture:
    """What one part has captured at one end of a link."""

    number: int
    growing: GrowingCapture
    waiting_bytes: int = 0
    latest_ns: int = 0
    """Time of the run of the latest packet that was read."""
    known_ns: int = 0
    """Time of the run until which its packets have been read."""


@dataclass
class _JoinedCapture:
    """A capture that packets of all parts are appended to, in order of time."""

    path: Path
    parts: Sequence[_PartCapture]
    count: int = 0
    waiting: list[tuple[int, int, int, bytes]] = field(default_factory=list)
    """The time of each packet, a number that orders packets of one time, the part and the block."""

    def update(self, clocks: Sequence[PartClock], first_start_ns: int) -> None:
        """Append the packets before which no other will come. Raises OSError."""
        for _round in range(_MOST_ROUNDS):
            is_behind = [self._read(place, clock) for place, clock in enumerate(clocks)]
            known_ns = min(part.known_ns for part in self.parts)
            joined = []
            while self.waiting and self.waiting[0][0] <= known_ns:
                at_ns, _count, place, block = heapq.heappop(self.waiting)
                self.parts[place].waiting_bytes -= len(block)
                joined.append(pcapng.at_time(block, first_start_ns + at_ns))
            self._append(joined)
            if not any(is_behind):
                return

    def _read(self, place: int, clock: PartClock) -> bool:
        """Read packets of a part, but not too many; returns whether more are in its file."""
        part = self.parts[place]
        while part.waiting_bytes < _MOST_WAITING_BYTES:
            blocks = part.growing.next_blocks()
            if blocks is None:
                part.known_ns = max(part.known_ns, clock.settled_ns)
                return False
            for block in blocks:
                at_ns = packet_of(block).unix_ns - clock.unix_start_ns
                part.latest_ns = max(part.latest_ns, at_ns)
                part.waiting_bytes += len(block)
                self.count += 1
                heapq.heappush(self.waiting, (at_ns, self.count, place, block))
        part.known_ns = max(part.known_ns, part.latest_ns)
        return True

    def _append(self, packets: Sequence[bytes]) -> None:
        head = next((part.growing.head for part in self.parts if part.growing.head), b"")
        if not head:
            return
        # The file is there: whoever wants the capture has made it.
        with self.path.open("r+b") as file:
            if file.seek(0, 2) == 0:
                file.write(head)
            file.writelines(packets)


class LiveCaptures:
    """Joins the captures of the parts of one run, of those links that :func:`request` was called for.

    One thread at a time.
    """

    def __init__(self, directory: Path, plan: Plan, partition: Sequence[int], names: Sequence[str]) -> None:
        """For the run in ``directory``; ``partition`` has the part of each node, each of which has a name."""
        self._directory = directory
        self._plan = plan
        self._partition = partition
        self._parts = [directory / MACHINES / name for name in names]
        self._joined: dict[str, _JoinedCapture] = {}

    def update(self, clocks: Sequence[PartClock | None]) -> None:
        """Append what parts have captured since the last time; they have ``clocks``. Raises OSError."""
        for name in self._requested():
            if name not in self._joined:
                self._joined[name] = self._capture(name)
            joined = self._joined[name]
            known = [clocks[part.number] for part in joined.parts]
            first = clocks[0]
            if first is not None and all(known):
                joined.update([clock for clock in known if clock is not None], first.unix_start_ns)

    def _requested(self) -> list[str]:
        return [path.name for path in (self._directory / "captures").glob("*.pcapng")]

    def _capture(self, name: str) -> _JoinedCapture:
        nodes = self._plan["nodes"]
        owners = {
            self._partition[end]
            for link in self._plan["links"]
            if any(name == _name(link["name"], nodes[each]["name"]) for each in link["endpoints"])
            for end in link["endpoints"]
        }
        parts = [
            _PartCapture(number, GrowingCapture(self._parts[number] / "captures" / name))
            for number in sorted(owners)
        ]
        return _JoinedCapture(self._directory / "captures" / name, parts)


def request(directory: Path, link: str, nodes: Sequence[str]) -> None:
    """Let the run in ``directory`` join the captures of a link at both of its ends. Raises OSError."""
    for node in nodes:
        path = capture_path(directory, link, node)
        path.parent.mkdir(exist_ok=True)
        path.touch()


def _name(link: str, node: str) -> str:
    return capture_path(Path(), link, node).name
