"""Captures that a run is still writing: pcapng (draft-ietf-opsawg-pcapng), read as they grow.

This imports nothing large, as agents of other machines start with it.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct

from longhaul.results.pcapng import ENHANCED_PACKET, blocks

_READ_BYTES = 1 << 22
_PACKET = Struct("<IIIII")
"""Interface, the two halves of the time, captured length, length."""
_BLOCK_HEAD = 8
_WRITTEN_AFTER_S = 2.3
"""An engine hands packets over once a second, and a second later they are in their file."""
_STARTED_BEFORE_NS = 20_000_000
"""Engines say that their clock has started so long before it does."""


@dataclass(frozen=True)
class CapturedPacket:
    """A packet that was seen at one end of a link."""

    unix_ns: int
    leaves: bool
    """Whether it leaves the link here; otherwise it goes onto the link here."""
    is_frame: bool
    """Whether its bytes begin with an Ethernet header, and not with the IP header."""
    length: int
    """Its own bytes; as many or fewer of them are in ``content``."""
    content: bytes


@dataclass(frozen=True)
class StartedClock:
    """The clock of a run, seen from another process on its machine."""

    unix_start_ns: int
    noticed_ns: int = field(default_factory=time.monotonic_ns)
    """When the start was noticed."""

    def settled_ns(self) -> int:
        """The time of the run until which all captured packets are in their files."""
        passed_ns = time.monotonic_ns() - self.noticed_ns
        return passed_ns - _STARTED_BEFORE_NS - round(_WRITTEN_AFTER_S * 1e9)


@dataclass
class GrowingCapture:
    """One file, from its beginning to as far as it was read."""

    path: Path
    head: bytes = b""
    """The blocks before the first packet, which each capture of the same packets needs."""
    _offset: int = 0
    _rest: bytes = field(default=b"", repr=False)
    _file: tuple[int, int] | None = None
    """Device and number of the file that is read."""
    _count: int = 0
    """Packets that were read."""
    _to_skip: int = 0
    """Of another file that has taken the place of the first one and has the same packets."""

    def skip_to_end(self) -> None:
        """Read what is there, and return none of it."""
        for _block in self.blocks():
            pass

    def blocks(self) -> Iterator[bytes]:
        """The blocks of packets that were written since the last call, each complete."""
        while (found := self.next_blocks()) is not None:
            yield from found

    def next_blocks(self) -> list[bytes] | None:
        """The next of them, up to 4 MiB; ``None`` if nothing was added since."""
        content = self._more()
        if not content:
            return None
        found: list[bytes] = []
        at = 0
        for kind, block in blocks(content):
            at += len(block)
            if kind != ENHANCED_PACKET:
                self.head += block
            elif self._to_skip:
                self._to_skip -= 1
            else:
                found.append(block)
        self._rest = content[at:]
        self._count += len(found)
        return found

    def _more(self) -> bytes:
        """What was not read yet, from the beginning of a block; nothing if nothing was added."""
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if self._file not in (None, (stat.st_dev, stat.st_ino)):
                    # A divided run has ended, and all packets are in one file.
                    self._offset, self._rest, self.head, self._to_skip = 0, b"", b"", self._count
                self._file = stat.st_dev, stat.st_ino
                file.seek(self._offset)
                added = file.read(_READ_BYTES)
        except FileNotFoundError:
            # The run creates it a moment after the request.
            return b""
        self._offset += len(added)
        return self._rest + added if added else b""


def packet_of(block: bytes) -> CapturedPacket:
    """The packet in a block of a capture that a run wrote."""
    interface, high, low, kept, length = _PACKET.unpack_from(block, _BLOCK_HEAD)
    start = _BLOCK_HEAD + _PACKET.size
    return CapturedPacket(
        unix_ns=high << 32 | low,
        leaves=bool(interface & 1),
        is_frame=bool(interface & 2),
        length=length,
        content=block[start : start + kept],
    )
