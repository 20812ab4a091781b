"""Captures that tests replay."""

import struct
from pathlib import Path

_SECOND = 10**9


def write_datagrams(path: Path, count: int) -> None:
    """A capture of so many datagrams to port 4000, 5 ms apart."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 101)
    at_ns = 1_700_000_000 * _SECOND
    for number in range(count):
        datagram = struct.pack(">HHHH", 4000, 4000, 108, 0) + number.to_bytes(4) + bytes(96)
        header = struct.pack(">BBHHHBBH", 0x45, 0, 128, number, 0, 64, 17, 0)
        packet = header + bytes([192, 168, 0, 1, 192, 168, 0, 2]) + datagram
        file += struct.pack("<4I", at_ns // _SECOND, at_ns % _SECOND, len(packet), len(packet)) + packet
        at_ns += 5_000_000
    path.write_bytes(file)
