"""What the headers of a captured packet say, in the words of packet analysers."""

import ipaddress
import struct
from dataclasses import dataclass, field

_ETHERNET_BYTES = 14
_VLAN = {0x8100, 0x88A8, 0x9100}
_ETHERTYPES = {0x0806: "ARP", 0x88CC: "LLDP", 0x8847: "MPLS", 0x8863: "PPPoE", 0x8864: "PPPoE"}
_IPV4, _IPV6 = 0x0800, 0x86DD
_ICMP, _TCP, _UDP, _ICMPV6 = 1, 6, 17, 58
_PROTOCOLS = {2: "IGMP", 47: "GRE", 50: "ESP", 51: "AH", 89: "OSPF", 103: "PIM", 132: "SCTP"}
_EXTENSIONS = {0, 43, 60}
"""Hop-by-hop options, routing and destination options (RFC 8200): each has a next header and a length."""
_FRAGMENT = 44
_FLAGS = ((0x02, "SYN"), (0x10, "ACK"), (0x08, "PSH"), (0x01, "FIN"), (0x04, "RST"), (0x20, "URG"))
_ECN_FLAGS = ((0x80, "CWR"), (0x40, "ECE"))
_ICMP_NAMES = {0: "echo reply", 3: "unreachable", 5: "redirect", 8: "echo request", 11: "TTL exceeded"}
_ICMPV6_NAMES = {
    1: "unreachable",
    2: "packet too big",
    3: "hop limit exceeded",
    128: "echo request",
    129: "echo reply",
    133: "router solicitation",
    134: "router advertisement",
    135: "neighbour solicitation",
    136: "neighbour advertisement",
    143: "multicast listener report",
}
_ECHOES = {_ICMP: {0, 8}, _ICMPV6: {128, 129}}


@dataclass(frozen=True)
class PacketHeaders:
    """One packet in a line: addresses with ports, protocol, and what else its headers say."""

    source: str
    destination: str
    protocol: str
    info: str


@dataclass
class Dissector:
    """Reads headers packet by packet; TCP's sequence numbers are relative to the first that it saw."""

    names: dict[str, str] = field(default_factory=dict)
    """Names of addresses, which are shown in their place."""
    _first: dict[tuple[bytes, bytes, int, int], int] = field(default_factory=dict)

    def read(self, packet: bytes, *, is_frame: bool = False, length: int | None = None) -> PacketHeaders:
        """The headers of an IP packet, or of an Ethernet frame.

        ``length`` is the packet's own, if only its beginning was captured. Headers that were cut off, or that
        contradict each other, are reported in ``info``.
        """
        length = len(packet) if length is None else length
        try:
            if is_frame:
                return self._frame(packet, length)
            return self._ip(packet, length)
        except (struct.error, IndexError):
            return PacketHeaders("", "", "cut off", f"{len(packet)} of {length} bytes were captured")

    def _frame(self, frame: bytes, length: int) -> PacketHeaders:
        source, destination = (":".join(f"{byte:02x}" for byte in frame[at : at + 6]) for at in (6, 0))
        (kind,) = struct.unpack_from("!H", frame, 12)
        at, tags = _ETHERNET_BYTES, []
        while kind in _VLAN:
            tag, kind = struct.unpack_from("!HH", frame, at)
            tags.append(f"VLAN {tag & 0xFFF}")
            at += 4
        if kind in (_IPV4, _IPV6):
            inner = self._ip(frame[at:], length - at)
            info = ", ".join([*tags, inner.info])
            return PacketHeaders(inner.source, inner.destination, inner.protocol, info)
        if kind == 0x0806:
            return PacketHeaders(source, destination, "ARP", ", ".join([*tags, self._arp(frame, at)]))
        name = _ETHERTYPES.get(kind, f"0x{kind:04x}")
        return PacketHeaders(source, destination, name, ", ".join([*tags, f"{length - at} bytes"]))

    def _arp(self, frame: bytes, at: int) -> str:
        (operation,) = struct.unpack_from("!H", frame, at + 6)
        sender, target = (self._name(frame[at + place : at + place + 4]) for place in (14, 24))
        return f"who has {target}? tell {sender}" if operation == 1 else f"{sender} is here"

    def _ip(self, packet: bytes, length: int) -> PacketHeaders:
        if packet[0] >> 4 == 4:
            header = (packet[0] & 0xF) * 4
            total, _identification, fragment = struct.unpack_from("!HHH", packet, 2)
            protocol, source, destination = packet[9], packet[12:16], packet[16:20]
            offset, more = (fragment & 0x1FFF) * 8, bool(fragment & 0x2000)
        elif packet[0] >> 4 == 6:
            (payload,) = struct.unpack_from("!H", packet, 4)
            total, header, protocol = payload + 40, 40, packet[6]
            source, destination = packet[8:24], packet[24:40]
            offset, more = 0, False
            while protocol in _EXTENSIONS or protocol == _FRAGMENT:
                if protocol == _FRAGMENT:
                    (fragment,) = struct.unpack_from("!H", packet, header + 2)
                    offset, more = fragment & 0xFFF8, bool(fragment & 1)
                    protocol, header = packet[header], header + 8
                else:
                    protocol, header = packet[header], header + (packet[header + 1] + 1) * 8
        else:
            return PacketHeaders("", "", "not IP", f"{length} bytes")
        ends = source, destination
        rest, size = packet[header:], total - header
        if offset:
            name = _PROTOCOLS.get(protocol, {_TCP: "TCP", _UDP: "UDP"}.get(protocol, f"IP {protocol}"))
            return self._of(ends, name, f"fragment at byte {offset}, {size} bytes")
        found = self._transport(protocol, ends, rest, size)
        if more:
            return PacketHeaders(found.source, found.destination, found.protocol, f"{found.info}, fragment")
        return found

    def _transport(self, protocol: int, ends: tuple[bytes, bytes], rest: bytes, size: int) -> PacketHeaders:
        match protocol:
            case 6:
                return self._tcp(ends, rest, size)
            case 17:
                source, destination, length = struct.unpack_from("!HHH", rest)
                return self._of(ends, "UDP", f"len={length - 8}", (source, destination))
            case 1 | 58:
                names = _ICMP_NAMES if protocol == _ICMP else _ICMPV6_NAMES
                kind, code = rest[0], rest[1]
                info = names.get(kind, f"type {kind}") + (f", code {code}" if code else "")
                if kind in _ECHOES[protocol]:
                    identifier, sequence = struct.unpack_from("!HH", rest, 4)
                    info += f" id={identifier} seq={sequence}"
                return self._of(ends, "ICMP" if protocol == _ICMP else "ICMPv6", info)
            case _:
                return self._of(ends, _PROTOCOLS.get(protocol, f"IP {protocol}"), f"{size} bytes")

    def _tcp(self, ends: tuple[bytes, bytes], rest: bytes, size: int) -> PacketHeaders:
        source, destination, sequence, acknowledged = struct.unpack_from("!HHII", rest)
        header, flags = (rest[12] >> 4) * 4, rest[13]
        (window,) = struct.unpack_from("!H", rest, 14)
        there = self._first.setdefault((*ends, source, destination), sequence)
        back = self._first.get((ends[1], ends[0], destination, source))
        if flags & 0x02:
            # A new connection of the same ports counts anew.
            there = self._first[(*ends, source, destination)] = sequence
        words = [name for bit, name in (*_FLAGS, *_ECN_FLAGS) if flags & bit]
        info = [f"[{' '.join(words)}]", f"seq={(sequence - there) % 2**32}"]
        if flags & 0x10:
            if back is None:
                back = self._first[(ends[1], ends[0], destination, source)] = acknowledged - 1
            info.append(f"ack={(acknowledged - back) % 2**32}")
        info += [f"win={window}", f"len={size - header}"]
        return self._of(ends, "TCP", " ".join(info), (source, destination))

    def _of(
        self, ends: tuple[bytes, bytes], protocol: str, info: str, ports: tuple[int, int] | None = None
    ) -> PacketHeaders:
        source, destination = (self._name(end) for end in ends)
        if ports is not None:
            source, destination = f"{source}:{ports[0]}", f"{destination}:{ports[1]}"
        return PacketHeaders(source, destination, protocol, info)

    def _name(self, address: bytes) -> str:
        text = str(ipaddress.ip_address(address))
        name = self.names.get(text)
        return name if name is not None else f"[{text}]" if ":" in text else text
