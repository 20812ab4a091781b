"""Captures that a run is still writing: pcapng (draft-ietf-opsawg-pcapng), read as they grow."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct

from longhaul.results.pcapng import ENHANCED_PACKET, blocks

_READ_BYTES = 1 << 22
_PACKET = Struct("<IIIII")
"""Interface, the two halves of the time, captured length, length."""
_BLOCK_HEAD = 8


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


@dataclass
class GrowingCapture:
    """One file, from its beginning to as far as it was read."""

    path: Path
    head: bytes = b""
    """The blocks before the first packet, which each capture of the same packets needs."""
    _offset: int = 0
    _rest: bytes = field(default=b"", repr=False)

    def skip_to_end(self) -> None:
        """Read what is there, and return none of it."""
        for _block in self.blocks():
            pass

    def blocks(self) -> Iterator[bytes]:
        """The blocks of packets that were written since the last call, each complete."""
        while content := self._more():
            at = 0
            for kind, block in blocks(content):
                at += len(block)
                if kind == ENHANCED_PACKET:
                    yield block
                else:
                    self.head += block
            self._rest = content[at:]

    def _more(self) -> bytes:
        """What was not read yet, from the beginning of a block; nothing if nothing was added."""
        try:
            with self.path.open("rb") as file:
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
