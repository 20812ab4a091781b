"""Captures that a run is still writing."""

import struct
from pathlib import Path

from longhaul.results.growing_captures import CapturedPacket, GrowingCapture, packet_of

HEAD = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28) + struct.pack(
    "<IIHHII", 1, 20, 101, 0, 256, 20
)


def block(interface: int, unix_ns: int, content: bytes, length: int) -> bytes:
    body = struct.pack("<IIIII", interface, unix_ns >> 32, unix_ns & 0xFFFF_FFFF, len(content), length)
    body += content + bytes(-len(content) % 4)
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", 6) + size + body + size


def test_packets_come_once_and_only_when_they_are_complete(tmp_path: Path) -> None:
    path = tmp_path / "wan@a.pcapng"
    growing = GrowingCapture(path)
    assert list(growing.blocks()) == []
    first, second = block(0, 2**32 + 5, b"abcde", 84), block(3, 7, b"f", 1)
    path.write_bytes(HEAD + first + second[:-1])
    assert list(growing.blocks()) == [first]
    assert growing.head == HEAD
    with path.open("ab") as file:
        file.write(second[-1:])
    assert list(growing.blocks()) == [second]
    assert list(growing.blocks()) == []
    assert packet_of(first) == CapturedPacket(2**32 + 5, False, False, 84, b"abcde")
    assert packet_of(second) == CapturedPacket(7, True, True, 1, b"f")


def test_what_was_there_before_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "wan@a.pcapng"
    old, new = block(0, 1, b"old", 3), block(1, 2, b"new", 3)
    path.write_bytes(HEAD + old)
    growing = GrowingCapture(path)
    growing.skip_to_end()
    with path.open("ab") as file:
        file.write(new)
    assert (growing.head, list(growing.blocks())) == (HEAD, [new])
