"""Captures as traffic: their packets leave at their times, with the hosts' addresses and right checksums."""

import itertools
import json
import re
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from longhaul import _longhaul
from longhaul.scenario import ScenarioError, parse_scenario, resolve

from .conftest import Command

SCENARIO = """
version: 1
name: captured
seed: 5
{head}
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  wire: {{endpoints: [a, b], delay: 3ms, rate: 100Mbit{link}}}
traffic:
  web: {{kind: pcap, file: web.pcap{rest}}}
{more}
"""
CLIENT, SERVER = bytes([192, 168, 1, 5]), bytes([172, 16, 0, 9])
ETHERNET = bytes.fromhex("02000000000102000000000208 00")
S = 10**9
DUMP = "tcpdump -i eth0 -n -U --immediate-mode -w seen.pcap --time-stamp-precision=nano udp"


def ones_complement(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def udp(source: bytes, destination: bytes, payload: bytes, *, ports: tuple[int, int] = (4000, 53)) -> bytes:
    """A datagram whose checksums are wrong, as of a host that leaves them to its adapter."""
    head = struct.pack(">HHHH", *ports, 8 + len(payload), 0x1234)
    ip = struct.pack(">BBHHHBBH", 0x45, 0x28, 28 + len(payload), 7, 0, 61, 17, 0x5555)
    return ip + source + destination + head + payload


def tcp(source: bytes, destination: bytes, payload: bytes, *, sequence: int, flags: int = 0x18) -> bytes:
    head = struct.pack(">HHIIBBHHH", 40000, 80, sequence, 1, 0x50, flags, 500, 0, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, (40 + len(payload)) & 0xFFFF, 7, 0x4000, 64, 6, 0)
    return ip + source + destination + head + payload


def pcap(
    packets: list[tuple[int, bytes]], *, link_type: int = 1, before: bytes = ETHERNET, cut: int = 262_144
) -> bytes:
    """A capture with nanoseconds: times in ns, and packets from their IP header on."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, cut, link_type)
    for at_ns, packet in packets:
        frame = before + packet
        kept = frame[:cut]
        file += struct.pack("<4I", at_ns // S, at_ns % S, len(kept), len(frame)) + kept
    return file


def pcapng(packets: list[tuple[int, bytes]], interfaces: list[str]) -> bytes:
    """The same as pcapng, one packet of each interface after the other."""

    def block(kind: int, body: bytes) -> bytes:
        length = len(body) + 12
        return struct.pack("<II", kind, length) + body + struct.pack("<I", length)

    def option(kind: int, value: bytes) -> bytes:
        return struct.pack("<HH", kind, len(value)) + value + bytes(-len(value) % 4)

    file = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for name in interfaces:
        # Raw IP, in nanoseconds (if_name, if_tsresol).
        options = option(2, name.encode()) + option(9, b"\x09") + option(0, b"")
        file += block(1, struct.pack("<HHI", 101, 0, 65_535) + options)
    for place, (at_ns, packet) in enumerate(packets):
        head = (place % len(interfaces), at_ns >> 32, at_ns & 0xFFFF_FFFF, len(packet), len(packet))
        file += block(6, struct.pack("<5I", *head) + packet + bytes(-len(packet) % 4))
    return file


def exchange(count: int = 50) -> list[tuple[int, bytes]]:
    """Requests of 100 bytes and answers of 400 bytes, 2 ms after each other, unevenly."""
    found = []
    for number in range(count):
        at_ns = 1_700_000_000 * S + number * 4_000_000 + (number % 7) * 11_111
        found.append((at_ns, udp(CLIENT, SERVER, bytes(72))))
        found.append((at_ns + 2_000_000, udp(SERVER, CLIENT, bytes(372), ports=(53, 4000))))
    return found


def write(
    work: Path, rest: str = ", from: a, to: b", *, link: str = "", head: str = "", more: str = ""
) -> None:
    text = SCENARIO.format(rest=rest, link=link, head=head, more=more)
    (work / "captured.yaml").write_text(text)


def flows(work: Path) -> dict[str, dict[str, Any]]:
    summary = json.loads((work / "runs/captured/latest/summary.json").read_text())
    return {flow["flow"]: flow for flow in summary["flows"]}


def planned(work: Path, rest: str = ", from: a, to: b", content: bytes | None = None, **others: str) -> Any:
    """The resolved scenario of a capture."""
    write(work, rest, **others)
    (work / "web.pcap").write_bytes(pcap(exchange()) if content is None else content)
    return resolve(parse_scenario((work / "captured.yaml").read_bytes(), name="captured.yaml", folder=work))


def sent(resolved: Any) -> dict[tuple[int, int], list[bytes]]:
    """The packets with their bytes, by sender and receiver."""
    from longhaul.run.flows import packets_files
    from longhaul.scenario.lower.pcap import rewritten

    found = {}
    assert all(packets_files(resolved).values())
    for item in resolved.traffic:
        capture = rewritten(item, resolved.files()["web.pcap"])
        file, packets = capture.pcap(item["pair"])[24:], []
        while file:
            (length,) = struct.unpack_from("<I", file, 8)
            packets.append(file[16 : 16 + length])
            file = file[16 + length :]
        found[item["source"], item["destinations"][0]] = packets
    return found


def checked(packet: bytes) -> bool:
    """Whether the checksums of IPv4 and of TCP or UDP are right."""
    header, transport = packet[:20], packet[20:]
    pseudo = packet[12:20] + bytes([0, packet[9]]) + struct.pack(">H", len(transport))
    return ones_complement(header) == 0xFFFF and ones_complement(pseudo + transport) == 0xFFFF


def test_packets_have_the_hosts_addresses_and_right_checksums(work: Path) -> None:
    resolved = planned(work)
    addresses = [bytes(map(int, node["ipv4"].split("."))) for node in resolved.plan["nodes"]]
    packets = sent(resolved)
    assert {pair: len(each) for pair, each in packets.items()} == {(0, 1): 50, (1, 0): 50}
    for (source, destination), each in packets.items():
        assert {packet[12:20] for packet in each} == {addresses[source] + addresses[destination]}
        assert all(checked(packet) for packet in each)
        # Nothing else has changed: TTL, DSCP, ports.
        assert {(packet[8], packet[1]) for packet in each} == {(61, 0x28)}
    assert {packet[20:24] for packet in packets[0, 1]} == {struct.pack(">HH", 4000, 53)}


@pytest.mark.parametrize(
    ("link_type", "before"),
    [
        (1, ETHERNET),
        (1, ETHERNET[:12] + bytes.fromhex("8100 0005 0800")),
        (101, b""),
        (113, bytes(14) + bytes.fromhex("0800")),
        (276, bytes.fromhex("0800") + bytes(18)),
        (0, struct.pack("<I", 2)),
    ],
)
def test_every_link_layer_gives_the_same_packets(work: Path, link_type: int, before: bytes) -> None:
    expected = sent(planned(work))
    assert sent(planned(work, content=pcap(exchange(), link_type=link_type, before=before))) == expected


def test_addresses_choose_hosts_by_their_longest_prefix(work: Path) -> None:
    rest = ", addresses: {192.168.0.0/16: b, 192.168.1.5: a, 0.0.0.0/0: b}"
    assert sent(planned(work, rest)).keys() == {(0, 1), (1, 0)}
    with pytest.raises(ScenarioError, match="4 have an address that no host stands for"):
        planned(work, ", addresses: {192.168.1.5: a, 1.2.3.4: b}", pcap(exchange(2)))


@pytest.mark.parametrize(("direction", "pair"), [("forward", (0, 1)), ("reverse", (1, 0))])
def test_one_direction_can_be_chosen(work: Path, direction: str, pair: tuple[int, int]) -> None:
    resolved = planned(work, f", from: a, to: b, direction: {direction}")
    assert sent(resolved).keys() == {pair}
    assert not resolved.warnings


def test_who_answers_a_syn_is_the_server(work: Path) -> None:
    answer = tcp(SERVER, CLIENT, b"", sequence=9, flags=0x12)
    assert sent(planned(work, content=pcap([(S, answer)]))).keys() == {(1, 0)}


def test_times_are_those_of_the_capture_scaled_or_of_a_rate(work: Path) -> None:
    at_ns = [at for at, packet in exchange() if packet[12:16] == CLIENT]
    origin = [each - at_ns[0] for each in at_ns]
    assert planned(work).traffic[0]["packets"]["at_ns"] == origin
    double = planned(work, ", from: a, to: b, speed: 2").traffic[0]["packets"]["at_ns"]
    assert double == [(each + 1) // 2 for each in origin]
    # Of both directions together, 100 and 400 bytes in turn at 8 Mbit/s, or a byte a us.
    paced = planned(work, ", from: a, to: b, rate: 8Mbit").traffic
    assert paced[0]["packets"]["at_ns"] == [number * 500_000 for number in range(50)]
    assert paced[1]["packets"]["at_ns"] == [number * 500_000 + 100_000 for number in range(50)]


def test_a_pass_lasts_as_long_as_the_capture_and_a_mean_gap(work: Path) -> None:
    last_ns = exchange()[-1][0] - exchange()[0][0]
    item = planned(work, ", from: a, to: b, repeat: 3").traffic[0]
    assert (item["repeat"], item["every_ns"]) == (3, last_ns + last_ns // 99)
    assert item["bytes"] == 3 * 50 * 100
    with pytest.raises(ScenarioError, match=r"every: 100ms is shorter than a pass, which takes 0\.198"):
        planned(work, ", from: a, to: b, repeat: 3, every: 100ms")


def test_packets_that_were_cut_have_zeros_and_right_checksums(work: Path) -> None:
    whole = pcap([(S, udp(CLIENT, SERVER, b"x" * 200))], cut=60)
    resolved = planned(work, content=whole)
    (packet,) = sent(resolved)[0, 1]
    assert len(packet) == 228
    assert packet[28:] == b"x" * 18 + bytes(182)
    assert checked(packet)
    assert "1 packets were cut at capture" in resolved.warnings[0].text


def test_segments_of_an_adapter_are_split_as_on_the_wire(work: Path) -> None:
    payload = bytes(range(256)) * 20
    file = pcap([(S, tcp(CLIENT, SERVER, payload, sequence=2**32 - 1000, flags=0x19))])
    resolved = planned(work, content=file)
    packets = sent(resolved)[0, 1]
    assert [len(packet) for packet in packets] == [1500, 1500, 1500, 40 + 5120 - 3 * 1460]
    assert b"".join(packet[40:] for packet in packets) == payload
    assert all(checked(packet) for packet in packets)
    sequences = [struct.unpack_from(">I", packet, 24)[0] for packet in packets]
    assert sequences == [(2**32 - 1000 + 1460 * number) % 2**32 for number in range(4)]
    # FIN and PSH are of the last.
    assert [packet[33] for packet in packets] == [0x10, 0x10, 0x10, 0x19]
    assert "1 TCP packets are longer than the MTU" in resolved.warnings[0].text


def test_fragments_keep_a_checksum_of_the_whole_datagram(work: Path) -> None:
    datagram = udp(CLIENT, SERVER, bytes(range(200)))
    pseudo = datagram[12:20] + bytes([0, 17]) + struct.pack(">H", 208)
    right = 0xFFFF - ones_complement(pseudo + datagram[20:26] + b"\0\0" + datagram[28:])
    datagram = datagram[:26] + struct.pack(">H", right) + datagram[28:]
    parts = []
    for offset, more in ((0, 0x2000), (104, 0)):
        data = datagram[20 + offset : 20 + offset + 104]
        head = bytearray(datagram[:20])
        struct.pack_into(">H", head, 2, 20 + len(data))
        struct.pack_into(">H", head, 6, more | offset // 8)
        parts.append((S + offset, bytes(head) + data))
    packets = sent(planned(work, content=pcap(parts)))[0, 1]
    whole = packets[0][20:] + packets[1][20:]
    assert checked(packets[0][:20] + whole)


def test_what_is_not_sent_is_reported(work: Path) -> None:
    others = [
        (S, b"\x00" * 46),
        (S, udp(CLIENT, bytes([224, 0, 0, 251]), bytes(10))),
        (S, udp(CLIENT, SERVER, bytes(10))[:16]),
    ]
    file = pcap([*others, *exchange(2)])[:-7]
    texts = "\n".join(each.text for each in planned(work, content=file).warnings)
    assert "3 packets are not sent: of 6, 1 are not IP; 1 are multicast" in texts
    assert "1 are cut within their headers" in texts
    assert "the file breaks off within a packet" in texts


def test_interfaces_are_listed_that_have_other_names(work: Path) -> None:
    two = planned(work, content=pcapng(exchange(2), ["eth0", "eth1"]))
    (warning,) = two.warnings
    assert "packets of 2 interfaces are sent, some perhaps twice: eth0, eth1" in warning.text
    # As the two directions of a link in a capture of Longhaul.
    alike = planned(work, content=pcapng(exchange(2), ["wan", "wan"]))
    assert alike.warnings == two.warnings[1:]
    assert sum(map(len, sent(alike).values())) == 4


def test_packets_longer_than_the_mtu_are_reported_and_lost(longhaul: Command, work: Path) -> None:
    resolved = planned(work, content=pcap([(S, udp(CLIENT, SERVER, bytes(3000))), *exchange(1)]))
    assert "1 packets of up to 3,028 bytes are longer than the MTU, and are lost" in resolved.warnings[0].text
    assert longhaul("sim", "captured.yaml", "--no-report").returncode == 0
    assert flows(work)["web.a.b"]["lost_packets"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "too short for a capture"),
        (b"\x00" * 100, "this is not a capture"),
        (pcap([]), "has no packets"),
        (pcap(exchange(1), link_type=147), "packets of link type 147 cannot be read"),
        (pcap(exchange(1))[:24] + struct.pack("<4I", 1, 1, 2**30, 2**30), "captured bytes"),
        (b"\x1f\x8b" + bytes(30), "cannot be"),
    ],
    ids=["empty", "zeros", "no packets", "link type", "length", "packed"],
)
def test_a_capture_that_cannot_be_used_is_one_error(work: Path, content: bytes, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        planned(work, content=content)
    assert message in str(caught.value)
    assert str(caught.value).startswith("captured.yaml:12:27: traffic.web.file: ")
    assert len(caught.value.diagnostics) == 1


def test_a_fifo_is_refused_at_once(work: Path) -> None:
    import os

    write(work)
    os.mkfifo(work / "web.pcap")
    with pytest.raises(ScenarioError, match=r'"web\.pcap" is not a file'):
        resolve(parse_scenario((work / "captured.yaml").read_bytes(), name="captured.yaml", folder=work))


def test_a_simulation_delivers_each_packet_after_the_path(longhaul: Command, work: Path) -> None:
    (work / "web.pcap").write_bytes(pcap(exchange()))
    write(work, ", from: a, to: b, repeat: 2, start: 10ms")
    done = longhaul("sim", "captured.yaml", "--no-report")
    assert done.returncode == 0, done.stderr
    assert "web.a.b" in done.stdout
    for name, size in (("web.a.b", 100), ("web.b.a", 400)):
        flow = flows(work)[name]
        assert (flow["sent_packets"], flow["sent_bytes"], flow["lost_packets"]) == (100, 100 * size, 0)
        # 3 ms, and the packet's time at 100 Mbit/s.
        expected = 3_000_000 + size * 80
        assert flow["delay"]["p50_ns"] == pytest.approx(expected, rel=0.01)
        assert flow["delay"]["max_ns"] == pytest.approx(expected, rel=0.01)
        assert flow["send_lateness"] is None


def test_losses_of_a_link_are_counted(longhaul: Command, work: Path) -> None:
    (work / "web.pcap").write_bytes(pcap(exchange(1000)))
    write(
        work, ", from: a, to: b, direction: forward", link=", forward: {loss: {model: periodic, every: 10}}"
    )
    assert longhaul("sim", "captured.yaml").returncode == 0
    assert flows(work)["web"]["lost_packets"] == 100
    assert flows(work)["web"]["loss"] == pytest.approx(0.1)
    report = (work / "runs/captured/latest/report.html").read_text()
    assert re.search(
        r"<td[^>]*>web</td>\s*<td[^>]*>1,000</td>\s*<td[^>]*>100,000</td>\s*<td[^>]*>100</td>", report
    )


@pytest.mark.quiet
def test_real_hosts_get_the_packets_at_their_times(longhaul: Command, work: Path, live_machine: None) -> None:
    if shutil.which("tcpdump") is None:
        pytest.skip("tcpdump is not installed")
    (work / "web.pcap").write_bytes(pcap(exchange(200)))
    write(
        work,
        ", from: a, to: b, start: 500ms",
        head="duration: 3s",
        more=f"programs:\n  dump: {{run: {DUMP}, host: b, service: true}}\n",
    )
    done = longhaul("run", "captured.yaml", "--no-report")
    assert done.returncode in (0, 4), done.stdout + done.stderr
    found = flows(work)
    assert {name: flow["lost_packets"] for name, flow in found.items()} == {"web.a.b": 0, "web.b.a": 0}
    assert not found["web.a.b"]["simulated"]
    assert found["web.a.b"]["send_lateness"]["count"] == 200
    seen = (work / "seen.pcap").read_bytes()[24:]
    times, packets = [], []
    while seen:
        second, ns, kept, _length = struct.unpack_from("<4I", seen)
        packet = seen[16 : 16 + kept]
        seen = seen[16 + kept :]
        if packet[22:24] == struct.pack(">H", 53):
            times.append(second * S + ns)
            packets.append(packet)
    assert len(packets) == 200
    assert all(checked(packet) for packet in packets)
    assert {packet[8] for packet in packets} == {61}
    # Gaps are those of the capture, up to the lateness of the engine and of tcpdump's clock.
    origin = [at for at, packet in exchange(200) if packet[12:16] == CLIENT]
    errors = sorted(
        abs((b - a) - (y - x))
        for (a, b), (x, y) in zip(itertools.pairwise(times), itertools.pairwise(origin), strict=True)
    )
    assert errors[len(errors) // 2] < 1_000_000


def test_live_and_simulated_packets_are_the_same(work: Path) -> None:
    resolved = planned(work)
    from longhaul.run.sim import simulated_plan

    plan, rows = simulated_plan(resolved)
    assert [row["program"] for row in rows] == ["web.a.b", "web.b.a"]
    lengths = [flow["traffic"]["packets"]["bytes"] for flow in plan["flows"]]
    assert lengths == [[len(packet) for packet in each] for each in sent(resolved).values()]


def test_a_list_of_transfers_is_not_a_capture(work: Path) -> None:
    (work / "captured.yaml").write_text(
        SCENARIO.format(rest="", link="", head="", more="").replace("kind: pcap", "kind: replay")
    )
    with pytest.raises(ScenarioError, match="write kind: pcap"):
        parse_scenario((work / "captured.yaml").read_bytes(), name="captured.yaml", folder=work)


def test_the_compiled_core_says_what_is_wrong_with_rules() -> None:
    with pytest.raises(_longhaul.InvalidValueError):
        _longhaul.RewrittenCapture(pcap([]), "{}")
