"""Captures of the parts of a run as one, while they grow, and what machines send of them."""

import struct
import time
from pathlib import Path

import pytest

from longhaul import storage
from longhaul.machines.capture_stream import CaptureReceiver, CaptureSender
from longhaul.machines.messages import PART_BYTES
from longhaul.results import live_captures
from longhaul.results.growing_captures import GrowingCapture, StartedClock, packet_of
from longhaul.results.live_captures import LiveCaptures, PartClock
from longhaul.scenario import parse_scenario, resolve

SCENARIO = b"""\
version: 1
name: three
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: host, attach: b}}
links: {wan: {endpoints: [a, b], delay: 10ms, rate: 10Mbit}}
"""
PLAN = resolve(parse_scenario(SCENARIO, name="three.yaml")).plan
PARTITION = [0, 1, 1]
STARTS_NS = (1_000_000, 9_000_000)
"""The wall clocks of two machines differ."""


def block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


HEAD = block(0x0A0D0D0A, bytes(16)) + block(1, bytes(8))


def packet(unix_ns: int, content: bytes = b"data") -> bytes:
    size = len(content)
    return block(6, struct.pack("<IIIII", 0, unix_ns >> 32, unix_ns & 0xFFFF_FFFF, size, size) + content)


def append(path: Path, *blocks: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.writelines(blocks)


class Run:
    """A run of two machines, whose captures are written by hand."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.captures = LiveCaptures(directory, PLAN, PARTITION, ["one", "two"])

    def record(self, part: int, *times_ns: int, node: str = "a", content: bytes = b"data") -> None:
        path = self.directory / "machines" / ("one", "two")[part] / "captures" / f"wan@{node}.pcapng"
        head = () if path.exists() else (HEAD,)
        append(path, *head, *(packet(STARTS_NS[part] + t_ns, content) for t_ns in times_ns))

    def join(self, *settled_ns: int) -> list[int]:
        """The times of all that has been joined, until the parts have written so much."""
        self.captures.update([PartClock(*each) for each in zip(STARTS_NS, settled_ns, strict=True)])
        blocks = GrowingCapture(self.directory / "captures/wan@a.pcapng").blocks()
        return [packet_of(each).unix_ns - STARTS_NS[0] for each in blocks]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    live_captures.request(tmp_path, "wan", ["a", "b"])
    return Run(tmp_path)


def test_packets_are_joined_in_order_of_time_by_the_first_machines_clock(run: Run) -> None:
    run.record(0, 10, 30)
    # This part gives packets to the link that leave it later.
    run.record(1, 20, 70)
    assert run.join(0, 0) == []
    assert run.join(25, 15) == [10]
    assert run.join(40, 60) == [10, 20, 30]
    run.record(0, 50)
    assert run.join(60, 60) == [10, 20, 30, 50]
    assert run.join(100, 100) == [10, 20, 30, 50, 70]
    assert (run.directory / "captures/wan@a.pcapng").read_bytes().startswith(HEAD)
    assert (run.directory / "captures/wan@b.pcapng").read_bytes() == b""


def test_a_capture_that_nobody_asked_for_is_not_joined(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.record(0, 10)
    run.captures.update([PartClock(start_ns, 100) for start_ns in STARTS_NS])
    assert not (tmp_path / "captures").exists()


def test_packets_that_wait_for_another_part_need_bounded_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_captures, "_MOST_WAITING_BYTES", 1_000)
    monkeypatch.setattr("longhaul.results.growing_captures._READ_BYTES", 500)
    run.record(0, *range(1, 201))
    # The other part has sent nothing for long.
    assert run.join(1_000, 0) == []
    joined = run.captures._joined["wan@a.pcapng"]
    assert sum(len(each[3]) for each in joined.waiting) < 1_600
    run.record(1, 100)
    times_ns = run.join(1_000, 1_000)
    while len(times_ns) < 201:
        before, times_ns = len(times_ns), run.join(1_000, 1_000)
        assert len(times_ns) > before
    assert times_ns == sorted([*range(1, 201), 100])


def test_who_follows_a_capture_reads_the_rest_in_the_file_that_replaces_it(run: Run) -> None:
    run.record(0, 10, 30)
    run.join(20, 20)
    path = run.directory / "captures/wan@a.pcapng"
    growing = GrowingCapture(path)
    first = list(growing.blocks())
    storage.replace_bytes(path, HEAD + b"".join(packet(STARTS_NS[0] + t_ns) for t_ns in (10, 30, 40)))
    rest = list(growing.blocks())
    assert [packet_of(each).unix_ns - STARTS_NS[0] for each in first + rest] == [10, 30, 40]
    assert growing.head == HEAD
    assert list(growing.blocks()) == []


def test_a_machine_sends_captures_that_are_watched_in_parts(tmp_path: Path) -> None:
    part, copy = tmp_path / "part", tmp_path / "copy"
    clock = StartedClock(STARTS_NS[0], noticed_ns=time.monotonic_ns() - 10 * 10**9)
    sender, receiver = CaptureSender(part, clock), CaptureReceiver(copy)
    names = ["wan@a.pcapng", "wan@b.pcapng"]
    append(part / "captures" / names[0], HEAD)
    append(part / "captures/lan@c.pcapng", HEAD)
    message, is_behind = sender.message()
    assert (message["files"], is_behind) == ({}, False)
    sender.add(names)
    message, is_behind = sender.message()
    assert list(message["files"]) == names[:1]
    # All that passed 2.3 s ago has been written.
    settled_ns = receiver.take(message)
    assert settled_ns is not None
    assert 7.5e9 < settled_ns < 7.7e9
    append(part / "captures" / names[0], *(packet(each, bytes(1_000)) for each in range(1_200)))
    append(part / "captures" / names[1], HEAD)
    sizes, known = [], []
    is_behind = True
    while is_behind:
        message, is_behind = sender.message()
        known.append(receiver.take(message) is not None)
        sizes.append(sum((copy / name).stat().st_size for name in names if (copy / name).exists()))
    # Between parts of what was captured, nobody knows what is missing.
    assert known == [False, False, True]
    assert max(after - before for before, after in zip([0, *sizes], sizes, strict=False)) <= PART_BYTES + 100
    for name in names:
        assert (copy / name).read_bytes() == (part / "captures" / name).read_bytes()
    assert not (copy / "lan@c.pcapng").exists()


@pytest.mark.parametrize("files", [{"../x": ""}, {"wan@a.pcapng": "AAAA"}, {"wan@a.pcapng": "?"}])
def test_damaged_captures_are_refused(tmp_path: Path, files: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"damaged captures|base64"):
        CaptureReceiver(tmp_path / "copy").take({"files": files, "settled_ns": 1})
    assert not (tmp_path / "x").exists()
