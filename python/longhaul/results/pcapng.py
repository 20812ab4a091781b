"""Captures of several machines in one file: PCAP Now Generic, draft-ietf-opsawg-pcapng."""

import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

ENHANCED_PACKET = 6
_HEAD = struct.Struct("<II")
_PACKET = struct.Struct("<III")
"""Interface, and the two halves of the time."""


def merge(files: Sequence[tuple[Path, Callable[[int], int]]], out: BinaryIO) -> None:
    """Write the packets of all ``files``, in order of time.

    All have the same interfaces, with times in ns, and are of this machine's byte order. Beside each is what
    a time of it becomes.
    """
    heads: list[bytes] = []
    packets: list[tuple[int, int, bytes]] = []
    for number, (path, at) in enumerate(files):
        head: list[bytes] = []
        for kind, block in blocks(path.read_bytes()):
            if kind != ENHANCED_PACKET:
                head.append(block)
                continue
            _interface, high, low = _PACKET.unpack_from(block, _HEAD.size)
            ns = at(high << 32 | low)
            packets.append((ns, number, at_time(block, ns)))
        heads = heads or head
    out.writelines(heads)
    out.writelines(block for *_, block in sorted(packets, key=lambda packet: packet[:2]))


def at_time(block: bytes, ns: int) -> bytes:
    """The block of a packet, with another time."""
    start = _HEAD.size
    interface, _high, _low = _PACKET.unpack_from(block, start)
    moved = _PACKET.pack(interface, ns >> 32, ns & 0xFFFF_FFFF)
    return block[:start] + moved + block[start + _PACKET.size :]


def blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The complete blocks of a capture, each with its kind."""
    at = 0
    while at + 12 <= len(content):
        kind, length = _HEAD.unpack_from(content, at)
        if length < 12 or at + length > len(content):
            return
        yield kind, content[at : at + length]
        at += length
