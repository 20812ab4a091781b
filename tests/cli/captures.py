"""Captures that are made up: who sent what, when, and which of it was lost."""

import struct
from pathlib import Path

MSS = 1000


def pcap(packets: list[tuple[float, bytes, int]]) -> bytes:
    """A file of raw IP packets: time in s, headers, bytes of data that were not kept."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)
    for time_s, packet, data in packets:
        second, rest = divmod(round(time_s * 1e9), 10**9)
        file += struct.pack("<4I", second, rest, len(packet), len(packet) + data) + packet
    return file


def packet(
    *, from_sender: bool, port: int, sequence: int, ack: int, data: int = 0, flags: int = 0x10
) -> bytes:
    """Headers of a packet between 10.0.0.1:PORT and 10.0.0.2:5201."""
    hosts = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    ports = [port, 5201]
    if not from_sender:
        hosts.reverse()
        ports.reverse()
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + data, 0, 0, 64, 6, 0) + b"".join(hosts)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence % 2**32, ack % 2**32, 0x50, flags, 65_535, 0, 0)
    return ip + tcp


def transfer(
    path: Path, lost: list[int], *, count: int = 2000, port: int = 40000, append: bool = False
) -> None:
    """A capture at a sender of a packet each ms; ``lost`` are retransmitted after 50 ms."""
    shake = [
        (9.90, packet(from_sender=True, port=port, sequence=0, ack=0, flags=2), 0),
        (9.94, packet(from_sender=False, port=port, sequence=0, ack=1, flags=0x12), 0),
        (9.9401, packet(from_sender=True, port=port, sequence=1, ack=1), 0),
    ]
    events: list[tuple[float, bytes, int]] = shake
    for number in range(count):
        data = packet(from_sender=True, port=port, sequence=1 + number * MSS, ack=1, data=MSS)
        events.append((10 + number / 1e3, data, MSS))
        if number in lost:
            events.append((10.0505 + number / 1e3, data, MSS))
        hole = min((each for each in lost if each <= number < each + 50), default=number + 1)
        ack = packet(from_sender=False, port=port, sequence=1, ack=1 + hole * MSS, data=0)
        events.append((10.04 + number / 1e3, ack, 0))
    events.append(
        (
            12 + count / 1e3,
            packet(from_sender=False, port=port, sequence=1, ack=1 + count * MSS, data=0),
            0,
        )
    )
    events.sort(key=lambda event: event[0])
    file = pcap(events)
    if append:
        with path.open("ab") as out:
            out.write(file[24:])
    else:
        path.write_bytes(file)
