"""Losses found in captures of live runs, against what the model did with each packet."""

import json
import re
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from math import gamma, sqrt
from pathlib import Path

import pytest

from longhaul.analysis.captures import Capture, Flow, chosen, loss_gaps, within
from longhaul.analysis.fitting import fit_gaps
from longhaul.traces.captures import read_capture

LEAST = 0.99
"""Of recall and precision."""
SCENARIO = """
version: 1
name: wan
seed: 7
duration: 7s
nodes: {a: {kind: host}, b: {kind: host}}
links:
  wan:
    endpoints: [a, b]
    delay: 2ms
    rate: 100Mbit
    queue: {kind: fifo, limit: 4MB}
    forward: {loss: {model: renewal, unit: packets, gap: {dist: weibull, shape: 2.9, scale: 100}}}
traffic:
  bulk: {kind: tcp, from: a, to: b, cc: reno, flows: 2, stop: 6s}
measure: {packets: {links: [wan], snaplen: 128B}}
"""


@dataclass(frozen=True)
class Seen:
    """A TCP packet with data, by its headers."""

    at_ns: int
    source: str
    ident: int
    sequence: int
    payload: int


@dataclass(frozen=True)
class Record:
    """What the model did: packets of one way, as they came to the link and as they left it."""

    came: list[Seen]
    left: set[tuple[str, int, int]]

    def lost(self, source: str) -> dict[int, Seen]:
        """Packets of a sender that did not leave, by their number."""
        mine = [each for each in self.came if each.source == source]
        return {
            number: each
            for number, each in enumerate(mine)
            if (each.source, each.ident, each.sequence) not in self.left
        }


def blocks(file: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(file):
        kind, length = struct.unpack_from("<II", file, place)
        yield kind, file[place + 8 : place + length - 4]
        place += length


def data_packets(file: bytes) -> list[tuple[str, Seen]]:
    """Of a run's capture: interface and packet, without any of the code that is tested."""
    interfaces: list[str] = []
    found = []
    for kind, body in blocks(file):
        if kind == 1:
            (length,) = struct.unpack_from("<H", body, 10)
            interfaces.append(body[12 : 12 + length].decode())
        if kind != 6:
            continue
        interface, high, low = struct.unpack_from("<III", body)
        packet = body[20:]
        if packet[0] != 0x45 or packet[9] != 6:
            continue
        total, ident = struct.unpack_from(">HH", packet, 2)
        port, _other, sequence = struct.unpack_from(">HHI", packet, 20)
        payload = total - 20 - (packet[32] >> 4) * 4
        source = ".".join(map(str, packet[12:16])) + f":{port}"
        if payload > 0:
            seen = Seen(high << 32 | low, source, ident, sequence, payload)
            found.append((interfaces[interface], seen))
    return found


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The captures of a transfer over a link with renewal loss, one at each end."""
    work = tmp_path_factory.mktemp("captured")
    (work / "wan.yaml").write_text(SCENARIO, encoding="utf-8")
    argv = [sys.executable, "-m", "longhaul.cli.main", "run", "wan.yaml"]
    done = subprocess.run(argv, cwd=work, capture_output=True, text=True, check=False)
    # Whether the machine was quick enough matters nothing here.
    assert done.returncode in (0, 4), done.stderr
    return work / "runs/wan/latest/captures"


@pytest.fixture(scope="module")
def record(captured: Path) -> Record:
    came, left = (
        [each for interface, each in data_packets((captured / name).read_bytes()) if interface == wanted]
        for name, wanted in (("wan@a.pcapng", "wan forward in"), ("wan@b.pcapng", "wan forward out"))
    )
    left = {(each.source, each.ident, each.sequence) for each in left}
    return Record(came, left)


@pytest.fixture(scope="module")
def sent(captured: Path) -> Capture:
    """At the sender's end."""
    return read_capture(captured / "wan@a.pcapng")


@pytest.fixture(scope="module")
def arrived(captured: Path) -> Capture:
    """At the receiver's end."""
    return read_capture(captured / "wan@b.pcapng")


def transfers(capture: Capture, end: str) -> list[Flow]:
    flows = [flow for flow in capture.flows if flow.packets > 1000 and flow.interface == f"wan ({end} end)"]
    assert len(flows) == 2
    return flows


def test_blocks_are_in_the_order_of_time(captured: Path) -> None:
    for name in ("wan@a.pcapng", "wan@b.pcapng"):
        heads = (
            struct.unpack_from("<III", body)
            for kind, body in blocks((captured / name).read_bytes())
            if kind == 6
        )
        times = [high << 32 | low for _interface, high, low in heads]
        assert len(times) > 10_000
        assert times == sorted(times)


def test_the_models_losses_are_found_at_the_sender(record: Record, sent: Capture) -> None:
    for flow in transfers(sent, "first"):
        lost = record.lost(flow.sender)
        found = flow.losses.flow_packets.tolist()
        assert flow.view == "sender"
        assert flow.unseen == 0
        assert len(lost) > 50
        hits = len(lost.keys() & set(found))
        assert hits >= LEAST * len(lost), "recall"
        assert hits >= LEAST * len(found), "precision"
        # A number that is right has the right time.
        times = dict(zip(found, flow.losses.at_ns.tolist(), strict=True))
        assert all(times[number] == lost[number].at_ns for number in lost.keys() & times.keys())


def test_first_losses_are_found_at_the_receiver_by_their_holes(record: Record, arrived: Capture) -> None:
    for flow in transfers(arrived, "second"):
        lost = record.lost(flow.sender)
        start = min(each.sequence for each in record.came if each.source == flow.sender)
        # The first time that data are sent, they lie beyond all before them.
        first, reached = set(), -1
        for number, each in enumerate(each for each in record.came if each.source == flow.sender):
            place = each.sequence - start
            if place > reached:
                reached = place
                if number in lost:
                    first.add(place)
        found = set(flow.losses.position_bytes.tolist())
        assert flow.view == "receiver"
        assert not flow.losses.beyond.any()
        hits = len(found & first)
        assert hits >= LEAST * len(first), "recall"
        assert hits >= LEAST * len(found), "precision"


def test_gaps_in_packets_of_all_flows_are_those_that_the_model_drew(sent: Capture) -> None:
    place = within(sent, "wan (first end)")
    gaps = loss_gaps(place, chosen(place, name="all"), unit="packets")
    assert len(gaps.values) > 200
    # Weibull(2.9, 100): mean and deviation of whole gaps; acknowledgements of the other way meet no loss.
    mean, deviation = 100 * gamma(1 + 1 / 2.9), 100 * sqrt(gamma(1 + 2 / 2.9) - gamma(1 + 1 / 2.9) ** 2)
    assert gaps.values.mean() == pytest.approx(mean + 0.5, abs=4.5 * deviation / sqrt(len(gaps.values)))
    fits = fit_gaps(gaps.values, families=["weibull", "exponential"], seed=1, replicates=199)
    weibull = fits.fits[0]
    assert weibull.family == "weibull"
    shape, error = weibull.parameters[0].value, weibull.parameters[0].standard_error
    assert error is not None
    assert shape == pytest.approx(2.9, abs=4.5 * error)


def flatten(captured: Path, flat: Path) -> None:
    """A capture in microseconds, as tcptrace reads it."""
    packets = []
    for kind, body in blocks(captured.read_bytes()):
        if kind == 6 and body[20] == 0x45 and body[29] == 6:
            _interface, high, low, kept, length = struct.unpack_from("<5I", body)
            packets.append((high << 32 | low, length, body[20 : 20 + kept]))
    with flat.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101))
        for at_ns, length, packet in packets:
            second, rest = divmod(at_ns // 1000, 1_000_000)
            file.write(struct.pack("<4I", second, rest, len(packet), length) + packet)


def counted_by_tcptrace(file: Path) -> dict[tuple[str, str], int]:
    """Retransmitted packets by sender and receiver."""
    out = subprocess.run(["tcptrace", "-l", "-n", file], capture_output=True, text=True, check=True).stdout
    counted = {}
    for part in out.split("TCP connection ")[1:]:
        ends = re.findall(r"host \w+: +(\S+:\d+)", part)
        again = re.search(r"rexmt data pkts: +(\d+) +rexmt data pkts: +(\d+)", part)
        if again is not None:
            counted[ends[0], ends[1]], counted[ends[1], ends[0]] = int(again[1]), int(again[2])
    return counted


def counted_by_tshark(file: Path) -> dict[tuple[str, str], int]:
    """The same, from Wireshark's analysis."""
    # Out of order is what it calls a repetition that comes soon.
    again = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    fields = ["ip.src", "tcp.srcport", "ip.dst", "tcp.dstport"]
    argv = ["tshark", "-n", "-r", file, "-Y", f"({again}) && tcp.len > 0", "-T", "fields"]
    argv += [word for field in fields for word in ("-e", field)]
    out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return Counter(
        (f"{one}:{port}", f"{other}:{other_port}")
        for one, port, other, other_port in (line.split() for line in out.splitlines())
    )


def test_tcptrace_and_tshark_count_as_many_retransmissions(
    captured: Path, sent: Capture, tmp_path: Path
) -> None:
    if shutil.which("tcptrace") is None or shutil.which("tshark") is None:
        pytest.skip("tcptrace and tshark are not installed: apt-get install tcptrace tshark")
    flat = tmp_path / "flat.pcap"
    flatten(captured / "wan@a.pcapng", flat)
    ours = {(flow.sender, flow.receiver): flow for flow in read_capture(flat).flows}
    # Wireshark opens the capture as it is.
    tcptrace, tshark = counted_by_tcptrace(flat), counted_by_tshark(captured / "wan@a.pcapng")
    for flow in transfers(sent, "first"):
        ends = flow.sender, flow.receiver
        assert ours[ends].losses.flow_packets.tolist() == flow.losses.flow_packets.tolist()
        assert flow.retransmissions == pytest.approx(tcptrace[ends], rel=1 - LEAST)
        assert flow.retransmissions == pytest.approx(tshark[ends], rel=1 - LEAST)


def test_each_file_is_one_observation_point_and_its_filter_takes_it_out_of_merged_files(
    captured: Path, tmp_path: Path
) -> None:
    summary = json.loads((captured.parent / "summary.json").read_text())
    rows = {row["node"]: row for row in summary["captures"]}
    assert {row["file"] for row in rows.values()} == {f"captures/{path.name}" for path in captured.iterdir()}
    for row in rows.values():
        named = re.findall(r'frame\.interface_name == "([^"]+)"', row["filter"])
        counted = packets_by_interface((captured.parent / row["file"]).read_bytes())
        assert set(counted) == set(named), "nothing else is in the file"
        assert min(counted.values()) > 1000
        assert row["filter"] in unescape((captured.parent / "report.html").read_text())
    if shutil.which("tshark") is None or shutil.which("mergecap") is None:
        pytest.skip("tshark and mergecap are not installed: apt-get install tshark")
    merged = tmp_path / "merged.pcapng"
    files = {node: captured.parent / row["file"] for node, row in rows.items()}
    subprocess.run(["mergecap", "-w", merged, *files.values()], check=True)

    def frames(file: Path, *more: str) -> int:
        argv = ["tshark", "-n", "-r", file, *more, "-T", "fields", "-e", "frame.number"]
        return len(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines())

    alone = {node: frames(file) for node, file in files.items()}
    assert frames(merged) == sum(alone.values())
    for node, row in rows.items():
        assert frames(merged, "-Y", row["filter"]) == alone[node]


def packets_by_interface(file: bytes) -> Counter[str]:
    names: list[str] = []
    counted: Counter[str] = Counter()
    for kind, body in blocks(file):
        if kind == 1:
            (length,) = struct.unpack_from("<H", body, 10)
            names.append(body[12 : 12 + length].decode())
        if kind == 6:
            counted[names[struct.unpack_from("<I", body)[0]]] += 1
    return counted
