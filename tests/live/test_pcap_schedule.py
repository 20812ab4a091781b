"""Gaps between packets of a capture at a real host, beside those that tcpreplay gives over the same link."""

import itertools
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

LONGHAUL = [str(Path(sys.executable).parent / "longhaul")]
S = 10**9
COUNT = 2000
SCENARIO = """
version: 1
name: schedule
duration: 4s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wire: {endpoints: [a, b], delay: 2ms}}
"""
DUMP = "tcpdump -i eth0 -n -U --immediate-mode -w SEEN.pcap --time-stamp-precision=nano udp port 4000"


def capture(path: Path) -> list[int]:
    """A capture of datagrams, unevenly 0.5 to 1.5 ms apart; returns their instants in ns."""
    file = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 101)
    times, at_ns = [], 1_700_000_000 * S
    for number in range(COUNT):
        datagram = struct.pack(">HHHH", 4000, 4000, 108, 0) + number.to_bytes(4) + bytes(96)
        header = struct.pack(">BBHHHBBH", 0x45, 0, 128, number, 0, 64, 17, 0)
        packet = header + bytes([192, 168, 0, 1, 192, 168, 0, 2]) + datagram
        file += struct.pack("<4I", at_ns // S, at_ns % S, len(packet), len(packet)) + packet
        times.append(at_ns)
        at_ns += 500_000 + (number * 7919) % 1000 * 1000
    path.write_bytes(file)
    return times


def arrivals(path: Path) -> dict[int, int]:
    """When each datagram was seen, by its number."""
    content, found = path.read_bytes()[24:], {}
    while len(content) >= 16:
        second, ns, kept, _length = struct.unpack_from("<4I", content)
        found[int.from_bytes(content[16 + 28 : 16 + 32])] = second * S + ns
        content = content[16 + kept :]
    return found


def gap_errors(seen: dict[int, int], planned: list[int]) -> list[int]:
    """By how much each gap at the receiver differs from that of the capture, sorted, in ns."""
    return sorted(
        abs((seen[after] - seen[before]) - (planned[after] - planned[before]))
        for before, after in itertools.pairwise(sorted(seen))
        if after == before + 1
    )


def run(work: Path, text: str) -> Path:
    (work / "schedule.yaml").write_text(SCENARIO + text)
    command = [*LONGHAUL, "run", "schedule.yaml", "--no-report"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode in (0, 4), done.stdout + done.stderr
    return work / "runs/schedule/latest"


def test_gaps_at_the_receiver_are_those_of_the_capture_and_no_worse_than_tcpreplays(tmp_path: Path) -> None:
    if shutil.which("tcpreplay") is None:
        pytest.skip("tcpreplay is not installed")
    planned = capture(tmp_path / "steady.pcap")
    traffic = "traffic: {steady: {kind: pcap, file: steady.pcap, from: a, to: b, start: 500ms}}\n"
    dump = f"programs:\n  dump: {{run: {DUMP}, host: b, service: true}}\n"
    directory = run(tmp_path, traffic + dump.replace("SEEN", "ours"))
    (flow,) = json.loads((directory / "summary.json").read_text())["flows"]
    assert (flow["sent_packets"], flow["lost_packets"]) == (COUNT, 0)
    assert flow["send_lateness"]["count"] == COUNT
    sent = tmp_path / "addressed.pcap"
    shutil.copy(next((directory / "packets").iterdir()), sent)
    replay = "  replay: {run: tcpreplay -q -i eth0 addressed.pcap, host: a, start: 500ms, expect_exit: any}\n"
    run(tmp_path, dump.replace("SEEN", "theirs") + replay)
    ours, theirs = (arrivals(tmp_path / f"{name}.pcap") for name in ("ours", "theirs"))
    # tcpdump may have missed some of either on a busy machine.
    assert min(len(ours), len(theirs)) >= COUNT // 2
    errors = {name: gap_errors(seen, planned) for name, seen in (("ours", ours), ("theirs", theirs))}
    figures = {name: [each[len(each) * q // 100] for q in (50, 99)] for name, each in errors.items()}
    print(figures, {key: flow["send_lateness"][f"{key}_ns"] for key in ("p50", "p99", "max")})
    # Both cross the same engine and tcpdump's clock; tcpreplay's scheduling comes on top of that.
    assert figures["ours"][0] <= 2 * figures["theirs"][0] + 5_000
