"""Headers of packets in one line each."""

import struct

from longhaul.results.packet_headers import Dissector, PacketHeaders

A, B = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
NAMES = {"10.0.0.1": "a", "10.0.0.2": "b"}
SYN, ACK, PUSH = 0x02, 0x10, 0x08


def ipv4(
    protocol: int, payload: bytes, *, source: bytes = A, destination: bytes = B, offset: int = 0
) -> bytes:
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 7, offset, 64, protocol, 0)
    return header + source + destination + payload


def ipv6(next_header: int, payload: bytes) -> bytes:
    ends = bytes(15) + b"\x01" + bytes(15) + b"\x02"
    return struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64) + ends + payload


def tcp(ports: tuple[int, int], sequence: int, acknowledged: int, flags: int, data: bytes = b"") -> bytes:
    return struct.pack("!HHIIBBHHH", *ports, sequence, acknowledged, 0x50, flags, 512, 0, 0) + data


def udp(ports: tuple[int, int], data: bytes) -> bytes:
    return struct.pack("!HHHH", *ports, 8 + len(data), 0) + data


def test_sequence_numbers_of_a_connection_are_relative_to_its_first() -> None:
    dissector = Dissector(NAMES)
    there, back = (4000, 80), (80, 4000)
    packets = [
        ipv4(6, tcp(there, 2**32 - 1, 0, SYN)),
        ipv4(6, tcp(back, 500, 0, SYN | ACK), source=B, destination=A),
        ipv4(6, tcp(there, 0, 501, PUSH | ACK, b"x" * 100)),
        ipv4(6, tcp(back, 501, 100, ACK), source=B, destination=A),
    ]
    assert [dissector.read(each) for each in packets] == [
        PacketHeaders("a:4000", "b:80", "TCP", "[SYN] seq=0 win=512 len=0"),
        PacketHeaders("b:80", "a:4000", "TCP", "[SYN ACK] seq=0 ack=1 win=512 len=0"),
        PacketHeaders("a:4000", "b:80", "TCP", "[ACK PSH] seq=1 ack=1 win=512 len=100"),
        PacketHeaders("b:80", "a:4000", "TCP", "[ACK] seq=1 ack=101 win=512 len=0"),
    ]


def test_datagrams_echoes_and_errors_are_named() -> None:
    dissector = Dissector(NAMES)
    echo = struct.pack("!BBHHH", 8, 0, 0, 77, 3)
    too_long = struct.pack("!BBHHH", 3, 4, 0, 0, 1400)
    assert dissector.read(ipv4(17, udp((53, 5353), b"abc"))) == PacketHeaders(
        "a:53", "b:5353", "UDP", "len=3"
    )
    assert dissector.read(ipv4(1, echo)) == PacketHeaders("a", "b", "ICMP", "echo request id=77 seq=3")
    assert dissector.read(ipv4(1, too_long)) == PacketHeaders("a", "b", "ICMP", "unreachable, code 4")
    assert dissector.read(ipv4(89, bytes(44))) == PacketHeaders("a", "b", "OSPF", "44 bytes")


def test_ipv6_headers_are_followed_to_the_transport() -> None:
    options = bytes([17, 0]) + bytes(6)
    found = Dissector().read(ipv6(0, options + udp((1, 2), b"")))
    assert found == PacketHeaders("[::1]:1", "[::2]:2", "UDP", "len=0")
    fragment = struct.pack("!BBHI", 6, 0, 1480, 9)
    found = Dissector().read(ipv6(44, fragment + bytes(100)))
    assert found == PacketHeaders("[::1]", "[::2]", "TCP", "fragment at byte 1480, 100 bytes")


def test_fragments_are_named_by_their_place() -> None:
    first = Dissector(NAMES).read(ipv4(17, udp((1, 2), bytes(32)), offset=0x2000))
    later = Dissector(NAMES).read(ipv4(17, bytes(40), offset=185))
    assert first == PacketHeaders("a:1", "b:2", "UDP", "len=32, fragment")
    assert later == PacketHeaders("a", "b", "UDP", "fragment at byte 1480, 40 bytes")


def test_frames_have_their_tags_and_ethertypes() -> None:
    ends = bytes.fromhex("020000000002020000000001")
    arp = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + bytes(6) + A + bytes(6) + B
    dissector = Dissector(NAMES)
    macs = "02:00:00:00:00:01", "02:00:00:00:00:02"
    found = dissector.read(ends + struct.pack("!H", 0x0806) + arp, is_frame=True)
    assert found == PacketHeaders(*macs, "ARP", "who has b? tell a")
    tagged = ends + struct.pack("!HHH", 0x8100, 0x2005, 0x0800) + ipv4(17, udp((1, 2), b"x"))
    assert dissector.read(tagged, is_frame=True) == PacketHeaders("a:1", "b:2", "UDP", "VLAN 5, len=1")
    assert dissector.read(ends + struct.pack("!H", 0x88B5) + bytes(46), is_frame=True) == PacketHeaders(
        *macs, "0x88b5", "46 bytes"
    )


def test_what_was_cut_off_or_is_no_packet_is_told() -> None:
    packet = ipv4(6, tcp((1, 2), 0, 0, ACK))
    cut = Dissector().read(packet[:30], length=len(packet))
    assert (cut.protocol, cut.info) == ("cut off", "30 of 40 bytes were captured")
    assert Dissector().read(b"").protocol == "cut off"
    assert Dissector().read(b"\xff" * 40).protocol == "not IP"
