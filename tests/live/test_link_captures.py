"""Captures of links that begin while a network is up."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import longhaul
from longhaul.errors import LonghaulError
from longhaul.results.directory import read_run
from longhaul.results.growing_captures import GrowingCapture, packet_of
from longhaul.results.packet_headers import Dissector
from longhaul.run import link_captures, sockets

pytestmark = pytest.mark.waiting

PAIR = """
version: 1
name: pair
duration: 120s
nodes: {a: {kind: host}, b: {kind: host}}
links: {wan: {endpoints: [a, b], delay: 5ms, rate: 100Mbit}}
"""
WITHIN_S = 30.0


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "pair.yaml").write_text(PAIR)
    with longhaul.up(tmp_path / "pair.yaml", runs=tmp_path / "runs") as network:
        yield network


def capture(*arguments: str, **settings: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "longhaul.cli.main", "capture", *arguments]
    return subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings)


def ping(network: longhaul.Network, count: int = 5) -> None:
    network.run("a", ["ping", "-n", "-4", "-c", str(count), "-i", "0.02", "b"])


def until_it_captures(capturing: "subprocess.Popen[bytes]") -> None:
    assert capturing.stderr
    assert capturing.stderr.readline().startswith(b"capturing wan at ")


def fields(path: Path, names: Sequence[str]) -> list[list[str]]:
    words = [word for name in names for word in ("-e", name)]
    found = subprocess.run(
        ["tshark", "-r", str(path), "-T", "fields", "-E", "separator=|", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split("|") for line in found.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_headers_are_those_that_tshark_shows(network: longhaul.Network, tmp_path: Path) -> None:
    file = tmp_path / "wan.pcapng"
    capturing = capture("wan", "-w", str(file))
    until_it_captures(capturing)
    ping(network)
    network.run("b", ["sh", "-c", "iperf3 -s -1 -D && sleep 0.3"])
    network.run("a", ["iperf3", "-c", "b", "-n", "200K"])
    network.run("a", ["sh", "-c", "echo hello > /dev/udp/b/9 || true"], check=False)
    time.sleep(1.5)
    capturing.send_signal(signal.SIGINT)
    _, errors = capturing.communicate(timeout=WITHIN_S)
    assert capturing.returncode == 0, errors
    names = ("ip.src", "ipv6.src", "ip.dst", "ipv6.dst", "tcp.seq", "tcp.ack", "tcp.len", "icmp.seq")
    theirs = fields(file, names)
    dissector = Dissector()
    growing = GrowingCapture(file)
    ours = [packet_of(block) for block in growing.blocks()]
    assert len(ours) == len(theirs) > 100
    kinds = set()
    for packet, (v4, v6, to_v4, to_v6, sequence, acknowledged, length, echo) in zip(
        ours, theirs, strict=True
    ):
        read = dissector.read(packet.content, length=packet.length)
        kinds.add(read.protocol)
        for ours_end, theirs_end in ((read.source, v4 or v6), (read.destination, to_v4 or to_v6)):
            assert theirs_end in ours_end
        if read.protocol == "TCP":
            assert f"seq={sequence} " in read.info
            assert f"len={length}" in read.info
            assert "ack=" not in read.info or f"ack={acknowledged} " in read.info
        if read.protocol == "ICMP":
            assert read.info.endswith(f"seq={echo.split(',')[0]}")
    assert {"ICMP", "TCP"} <= kinds


def test_lines_show_packets_of_both_ways_with_names_of_hosts(network: longhaul.Network) -> None:
    capturing = capture("wan", "--at", "b", "-c", "10")
    until_it_captures(capturing)
    ping(network)
    shown, errors = capturing.communicate(timeout=WITHIN_S)
    lines = shown.decode().splitlines()
    requests = [line for line in lines if " off  a > b ICMP echo request" in line]
    replies = [line for line in lines if " onto b > a ICMP echo reply" in line]
    assert (len(requests), len(replies)) == (5, 5), lines
    assert errors.decode().startswith("10 packets; captured: ")
    # A packet is off the link when its last bit arrives, and the answer is put onto it at once.
    off_s, onto_s = float(requests[0].split()[0]), float(replies[0].split()[0])
    assert 0 <= onto_s - off_s < 0.005


def test_a_later_capture_shows_later_packets_alone(network: longhaul.Network) -> None:
    shown = []
    for _ in range(2):
        capturing = capture("wan", "-c", "4")
        until_it_captures(capturing)
        ping(network)
        lines, _errors = capturing.communicate(timeout=WITHIN_S)
        shown.append([float(line.split()[0]) for line in lines.decode().splitlines()])
    assert [len(times_s) for times_s in shown] == [4, 4]
    assert min(shown[1]) > max(shown[0])


def test_nothing_is_captured_before_or_after(network: longhaul.Network) -> None:
    ping(network)
    begun = link_captures.begin(sockets.find(None), "wan")
    assert begun.is_new
    with pytest.raises(LonghaulError, match=r'link wan has no end at "c".*name a or b'):
        begun.path("c")
    again = link_captures.begin(sockets.find(None), "wan", snaplen_bytes=64)
    assert (again.is_new, again.snaplen_bytes) == (False, begun.snaplen_bytes)
    ping(network)
    begun.end()
    ping(network)
    time.sleep(1.5)
    packets = [packet_of(block).content for block in GrowingCapture(begun.path("a")).blocks()]
    # Kernels send some of their own.
    assert sum(Dissector().read(each).info.startswith("echo") for each in packets) == 10


def test_a_capture_that_reaches_its_limit_ends_and_says_so(network: longhaul.Network) -> None:
    capturing = capture("wan", "--limit", "2kB")
    until_it_captures(capturing)
    ping(network, 20)
    shown, errors = capturing.communicate(timeout=WITHIN_S)
    assert 0 < len(shown.splitlines()) < 20
    assert b"the capture of wan has ended at its limit\n" in errors
    # The next one begins anew.
    assert link_captures.begin(sockets.find(None), "wan").is_new


def test_a_capture_ends_at_its_limit_and_the_run_says_so(network: longhaul.Network) -> None:
    begun = link_captures.begin(sockets.find(None), "wan", snaplen_bytes=64, limit_bytes=2_000)
    ping(network, 30)
    time.sleep(1.5)
    sizes = [begun.path(node).stat().st_size for node in begun.nodes]
    assert 2_000 <= sum(sizes) < 3_500
    directory = Path(network.directory)
    network.down()
    assert read_run(directory)["warnings"] == ["the capture of link wan ended at its limit"]


def test_the_end_of_the_run_ends_a_capture(network: longhaul.Network) -> None:
    capturing = capture("wan", "-w", "-")
    until_it_captures(capturing)
    ping(network)
    network.down()
    pcapng, errors = capturing.communicate(timeout=WITHIN_S)
    assert capturing.returncode == 0
    assert pcapng.startswith(b"\x0a\x0d\x0d\x0a")
    assert errors.decode().startswith("10 packets")


def test_a_reader_that_has_enough_ends_a_capture(network: longhaul.Network) -> None:
    capturing = capture("wan", "-w", "-")
    until_it_captures(capturing)
    path = Path(network.directory) / "captures" / "wan@a.pcapng"
    assert capturing.stdout is not None
    ping(network)
    capturing.stdout.read(28)
    capturing.stdout.close()
    ping(network, 50)
    assert capturing.wait(WITHIN_S) == 0
    time.sleep(1.5)
    size = path.stat().st_size
    ping(network)
    time.sleep(1.5)
    assert path.stat().st_size == size


def test_a_file_that_cannot_be_written_ends_the_capture(network: longhaul.Network, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere/wan.pcapng"
    refused = capture("wan", "-w", str(nowhere))
    _shown, errors = refused.communicate(timeout=WITHIN_S)
    assert refused.returncode == 2
    line = errors.decode().splitlines()[-1]
    assert f"cannot write {nowhere}: no such file or directory; name a file in a folder that is there" in line
    assert link_captures.begin(sockets.find(None), "wan").is_new


def test_a_signal_that_comes_twice_ends_a_capture(network: longhaul.Network) -> None:
    capturing = capture("wan")
    until_it_captures(capturing)
    for _ in range(2):
        capturing.send_signal(signal.SIGTERM)
    capturing.communicate(timeout=WITHIN_S)
    assert link_captures.begin(sockets.find(None), "wan").is_new


def test_links_that_cannot_be_captured_are_refused(network: longhaul.Network, tmp_path: Path) -> None:
    with pytest.raises(LonghaulError, match='there is no link "wam"; did you mean "wan"'):
        link_captures.begin(sockets.find(None), "wam")
    with pytest.raises(LonghaulError, match=r"there is no run|no run|is up"):
        link_captures.begin(sockets.find("other"), "wan")
    for words, message in (
        (("wan", "--snaplen", "0B"), "0B is not a useful part of a packet; write 20B to 65535B"),
        (("wan", "--at", "c"), "name a or b"),
        (("wan", "-c", "0"), "0 is not in the range"),
    ):
        refused = capture(*words)
        _shown, errors = refused.communicate(timeout=WITHIN_S)
        assert refused.returncode == 2
        assert message in errors.decode()
        assert errors.count(b"\n") == 1
    assert not (Path(network.directory) / "captures").exists()
    assert os.environ["XDG_RUNTIME_DIR"] == str(tmp_path)
