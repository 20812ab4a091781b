"""Captures of simulated runs, against what the simulation counted and by arithmetic."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longhaul import _longhaul

from .conftest import Command

SCENARIO = """
version: 1
name: seen
seed: 3
duration: 6s
nodes:
  r: {kind: router}
  s: {kind: router}
  a1..2: {kind: host, attach: r}
  b1..2: {kind: host, attach: s}
links:
  wan: {endpoints: [r, s], delay: 20ms, rate: 20Mbit, queue: 100p, forward: {loss: 0.3%, corrupt: 0.05%}}
traffic:
  bulk: {kind: tcp, from: a1, to: b1, cc: cubic}
  other: {kind: tcp, from: a2, to: b2, cc: reno, bytes: 2MB}
  six: {kind: tcp, from: a2, to: b1, cc: reno, bytes: 3MB, flows: 2}
  gentle: {kind: tcp, from: b2, to: a2, bytes: 1MB}
  ping: {kind: ping, from: a1, to: b2, every: 200ms}
  voice: {kind: udp, from: b2, to: a2, rate: 100kbit, size: 200B}
measure: {packets: {links: [wan], snaplen: 2000B}}
"""


@pytest.fixture
def run(longhaul: Command, work: Path) -> Path:
    return simulated(longhaul, work)


def simulated(longhaul: Command, work: Path, *options: str, text: str = SCENARIO) -> Path:
    (work / "seen.yaml").write_text(text)
    result = longhaul("sim", *options, "seen.yaml")
    assert result.returncode == 0, result.stdout + result.stderr
    return (work / "runs/seen/latest").resolve()


def read(path: Path) -> list[dict[str, Any]]:
    """What Longhaul's own reader finds in a capture."""
    reader = _longhaul.CaptureReader(str(path))
    while reader.advance(1 << 16):
        pass
    flows: list[dict[str, Any]] = json.loads(reader.finish())["flows"]
    return flows


def packets(path: Path) -> Iterator[tuple[int, int, bytes, int]]:
    """Interface, ns, bytes and length of each packet, without any of the code that is tested."""
    file, place = path.read_bytes(), 0
    while place < len(file):
        kind, length = struct.unpack_from("<II", file, place)
        if kind == 6:
            interface, high, low, kept, whole = struct.unpack_from("<5I", file, place + 8)
            yield interface, high << 32 | low, file[place + 28 : place + 28 + kept], whole
        place += length


def ones_sum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def is_right(packet: bytes) -> bool:
    """Whether the checksum of what an IPv4 packet carries is right."""
    protocol, body = packet[9], packet[20:]
    pseudo = packet[12:20] + struct.pack(">BBH", 0, protocol, len(body)) if protocol != 1 else b""
    return ones_sum(pseudo + body) == 0xFFFF


def test_losses_of_a_capture_are_those_of_the_simulation(run: Path) -> None:
    streams = {
        (flow["name"], stream["stream"]): stream
        for flow in json.loads((run / "summary.json").read_text())["flows"]
        if flow["kind"] == "tcp"
        for stream in flow["streams"]
    }
    found = read(run / "captures/wan@r.pcapng")
    assert len(found) == len(streams) == 5
    assert sum(stream["retransmits"] for stream in streams.values()) > 50
    ports = {"bulk": 5001, "other": 5002, "six": 5003, "gentle": 5004}
    for (name, number), stream in streams.items():
        (mine,) = [
            each
            for each in found
            if each["receiver"].endswith(f":{ports[name]}") and each["sender"].endswith(f":{32768 + number}")
        ]
        assert mine["packets"] == stream["segments_sent"]
        assert mine["bytes"] == stream["bytes_sent"]
        assert mine["retransmissions"] == stream["retransmits"]
        assert mine["unseen"] == mine["reordered"] == 0


def test_round_trips_of_a_capture_are_those_of_the_simulation(longhaul: Command, work: Path) -> None:
    text = SCENARIO.replace("forward: {loss: 0.3%, corrupt: 0.05%}", "loss: 0%")
    lines = [line for line in text.splitlines() if not line.startswith(("  other", "  six", "  bulk"))]
    run = simulated(longhaul, work, text="\n".join(lines))
    (flow,) = (
        each for each in json.loads((run / "summary.json").read_text())["flows"] if each["kind"] == "tcp"
    )
    (found,) = read(run / "captures/wan@s.pcapng")
    (stream,), rtt, samples = flow["streams"], flow["rtt"], found["rtts"]
    assert found["retransmissions"] == stream["retransmits"] == 0
    # Both sample the same acknowledgements; the simulation also that of the SYN.
    assert samples["count"] == rtt["count"] - 1
    assert samples["max_ns"] == rtt["max_ns"]
    assert samples["sum_ns"] + stream["min_rtt_ns"] == round(rtt["mean_ns"] * rtt["count"])


def test_every_header_is_right_but_for_damaged_packets(run: Path) -> None:
    wrong = {"wan@r": 0, "wan@s": 0}
    entered: list[tuple[int, bytes]] = []
    left: list[tuple[int, bytes]] = []
    for name in wrong:
        times = []
        for interface, at_ns, packet, length in packets(run / f"captures/{name}.pcapng"):
            assert len(packet) == length == struct.unpack_from(">H", packet, 2)[0]
            assert ones_sum(packet[:20]) == 0xFFFF
            wrong[name] += not is_right(packet)
            times.append(at_ns)
            if name == "wan@r" and interface == 0:
                entered.append((at_ns, packet))
            if name == "wan@s" and interface == 1:
                left.append((at_ns, packet))
        assert times == sorted(times)
    links = {link["name"]: link for link in json.loads((run / "raw/engine.json").read_text())["links"]}
    forward = links["wan"]["forward"]
    assert wrong["wan@s"] > 0
    assert len(entered) == forward["offered_packets"]
    assert len(left) == forward["delivered_packets"]
    # A packet takes the propagation delay, and its bytes at 20 Mbit/s.
    first = next(at for at, packet in left if len(packet) == 60)
    assert first == 20_000_000 + 60 * 8 * 50


def test_a_run_in_shards_has_the_same_captures(run: Path, longhaul: Command, work: Path) -> None:
    divided = simulated(longhaul, work, "--shards", "2")
    assert divided != run
    files = sorted(path.name for path in (run / "captures").iterdir())
    assert files == ["wan@r.pcapng", "wan@s.pcapng"]
    for name in files:
        assert (divided / "captures" / name).read_bytes() == (run / "captures" / name).read_bytes()
