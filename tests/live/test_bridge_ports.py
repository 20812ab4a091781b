"""Bridged devices: two interfaces of this machine as the ends of an emulated Ethernet link."""

import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from live_ports import process_of, require_no_unintended_drops, results, run, wait_until

import longhaul
from longhaul.errors import LonghaulError

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(os.geteuid() != 0, reason="ports that are not the run's own need root"),
]

BRIDGED = """
version: 1
name: bridged
nodes:
  w: {kind: router}
  e: {kind: router}
  west: {kind: host, attach: w, port: {nic: lhw0, mode: bridge}}
  east: {kind: host, attach: e, port: {nic: lhe0, mode: bridge}}
  c: {kind: host, attach: w}
links:
  wan: {endpoints: [w, e], delay: 20ms, rate: 1Gbit}
measure: {packets: {links: [wan], snaplen: 2000B, window: 1s}}
"""
SIDES = {"w": 1, "e": 2}
MACS = {side: f"02:00:00:00:00:0{number}" for side, number in SIDES.items()}


def inside(side: str, *words: str, check: bool = True) -> str:
    return run("ip", "netns", "exec", f"lhb{side}", *words, check=check)


@pytest.fixture(autouse=True)
def _hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A host at each of two interfaces, both of one network, that know nothing of a run."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    try:
        for side, number in SIDES.items():
            run("ip", "netns", "add", f"lhb{side}")
            inside(side, "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
            run(
                "ip",
                "link",
                "add",
                f"lh{side}0",
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                f"lhb{side}",
            )
            run("ip", "link", "set", f"lh{side}0", "up")
            inside(side, "ip", "link", "set", "lo", "up")
            inside(side, "ip", "link", "set", "eth0", "address", MACS[side], "up")
            inside(side, "ip", "address", "add", f"192.168.7.{number}/24", "dev", "eth0")
            inside(side, "ip", "address", "add", f"fd00:7::{number}/64", "dev", "eth0")
        yield
    finally:
        for side in SIDES:
            run("ip", "link", "delete", f"lh{side}0", check=False)
            run("ip", "netns", "delete", f"lhb{side}", check=False)


@pytest.fixture
def network(tmp_path: Path) -> Iterator[longhaul.Network]:
    path = tmp_path / "bridged.yaml"
    path.write_text(BRIDGED)
    with longhaul.up(path, runs=tmp_path / "runs") as up:
        yield up


def wan(network: longhaul.Network, way: str = "forward") -> Any:
    links = results(network, "summary.json")["links"]
    return next(each["packets"] for each in links if (each["name"], each["way"]) == ("wan", way))


def rtts_ms(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"time=([\d.]+)", text)]


def test_hosts_at_bridged_interfaces_are_neighbours_over_the_wan(network: longhaul.Network) -> None:
    for address in ("192.168.7.2", "fd00:7::2"):
        out = rtts_ms(inside("w", "ping", "-n", "-c", "5", "-i", "0.1", address))
        # ARP and neighbour discovery cross the network, too: one round trip more for the first.
        assert 80 <= out[0] < 120
        assert 40 <= min(out) < 55
    # Their addresses and their TTL are those that they have: there is no gateway between them.
    assert MACS["e"] in inside("w", "ip", "neighbour", "show", "192.168.7.2")
    assert "ttl=64" in inside("w", "ping", "-n", "-c", "1", "192.168.7.2")
    # A bridged device has no address for hosts of the scenario.
    assert network.run("c", ["ping", "-n", "-c", "1", "-W", "1", "east"], check=False).returncode != 0
    network.down()
    require_no_unintended_drops(network)
    ports = results(network, "fidelity.json")["engine"]["ports"]
    for port in (ports["west"], ports["east"]):
        assert port["unsupported_frames"] == port["looped_frames"] == port["ignored_packets"] == 0
        assert port["read_delay"]["count"] > 0


def test_the_bridge_of_the_guide_is_a_long_cable(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/real-clusters.md").read_text()
    block = re.findall(r"^```yaml\n(nodes:\n[^`]*mode: bridge[^`]*)^```", page, re.MULTILINE)[0]
    text = "version: 1\nname: guide\n" + block.replace("eth1", "lhw0").replace("eth2", "lhe0")
    (path := tmp_path / "guide.yaml").write_text(text)
    with longhaul.up(path, runs=tmp_path / "runs"):
        assert 40 <= min(rtts_ms(inside("w", "ping", "-n", "-c", "4", "-i", "0.1", "192.168.7.2"))) < 55


@pytest.mark.quiet
def test_tcp_between_bridged_interfaces_has_the_rate_of_the_link(network: longhaul.Network) -> None:
    network.set("wan", rate="200Mbit", delay="2ms")
    server = ["ip", "netns", "exec", "lhbe", "iperf3", "-s", "-1"]
    with subprocess.Popen(server, stdout=subprocess.DEVNULL):
        wait_until(lambda: "5201" in inside("e", "ss", "-ltn"))
        told = json.loads(inside("w", "iperf3", "-c", "192.168.7.2", "--json", "-t", "4"))
    # Headers take 5 % of a packet; slow start a part of the first second.
    assert 0.75 * 200e6 < told["end"]["sum_received"]["bits_per_second"] < 200e6
    network.down()
    require_no_unintended_drops(network)
    port = results(network, "fidelity.json")["engine"]["ports"]["west"]
    assert port["read_packets"] > 4 * 200e6 / 8 / 1500 * 0.7


# Sends frames, or prints those that come, in hexadecimal notation.
SEND = """
import socket, sys, time
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as device:
    device.bind(("eth0", 0))
    count, pause_s = int(sys.argv[1]), float(sys.argv[2])
    for number in range(count):
        for frame in sys.argv[3:]:
            device.send(bytes.fromhex(frame.replace("COUNT", f"{number:08x}")))
        time.sleep(pause_s)
"""
RECEIVE = """
import socket, struct, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as device:
    device.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    device.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
    device.bind(("eth0", 3))
    device.settimeout(float(sys.argv[1]))
    print("listening", flush=True)
    try:
        while True:
            frame, control, _, _ = device.recvmsg(2048, 256)
            auxiliary = next(data for level, kind, data in control if (level, kind) == (263, 8))
            status, _, _, _, _, identifier, kind = struct.unpack("IIIHHHH", auxiliary)
            if status & 16:
                frame = frame[:12] + struct.pack("!HH", kind, identifier) + frame[12:]
            if frame[6:12] == bytes.fromhex(sys.argv[2]):
                print(frame.hex())
    except TimeoutError:
        pass
"""
UNKNOWN = "0200000000ff"
"""A station that nothing is known of."""
SENDER = "0200000000aa"


def received(frames: list[str], *, count: int = 1, pause_s: float = 0.0, wait_s: float = 1.0) -> list[str]:
    """What of frames that a program sends in the west comes to the east."""
    words = [sys.executable, "-I", "-c", RECEIVE, str(wait_s), SENDER]
    with subprocess.Popen(
        ["ip", "netns", "exec", "lhbe", *words], stdout=subprocess.PIPE, text=True
    ) as receiver:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening\n"
        inside("w", sys.executable, "-I", "-c", SEND, str(count), str(pause_s), *frames)
        return receiver.stdout.read().split()


def checksum(data: bytes) -> bytes:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", 0xFFFF - ((total & 0xFFFF) + (total >> 16)))


def datagram() -> str:
    """A UDP datagram over IPv4, without a UDP checksum."""
    payload = bytes(range(40))
    udp = struct.pack("!HHHH", 1000, 2000, 8 + len(payload), 0) + payload
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0)
    addresses = socket.inet_aton("192.168.7.1") + socket.inet_aton("192.168.7.2")
    head = head[:10] + checksum(head + addresses) + addresses
    return (head + udp).hex()


FRAMES = {
    "the largest of an unknown kind": f"{UNKNOWN}{SENDER}88b5" + "5a" * 1500,
    "the shortest of an unknown kind": f"{UNKNOWN}{SENDER}88b5",
    "IEEE 802.3 with its length": f"0180c2000000{SENDER}0026" + "424203" + "00" * 43,
    "LLDP": f"0180c200000e{SENDER}88cc" + "0207" + "11" * 44,
    "broadcast": f"ffffffffffff{SENDER}88b6" + "00" * 46,
    "VLAN 100, priority 5": f"{UNKNOWN}{SENDER}8100a0640800" + datagram(),
    "VLAN 7 of a provider with VLAN 8": f"{UNKNOWN}{SENDER}88a8000781000008" + "0800" + datagram(),
    "three tags": f"{UNKNOWN}{SENDER}88a8000781000008" + "81000009" + "0800" + datagram(),
    "a tag before an unknown kind": f"{UNKNOWN}{SENDER}8100000a88b5" + "77" * 46,
    "what is not the IP that it is said to be": f"{UNKNOWN}{SENDER}0800" + "00" * 46,
    "half an IP packet": f"{UNKNOWN}{SENDER}0800" + datagram()[:60],
    "MPLS": f"{UNKNOWN}{SENDER}8847" + "00010140" + datagram(),
    "IP": f"{UNKNOWN}{SENDER}0800" + datagram(),
}


@pytest.mark.quiet
def test_every_frame_passes_unchanged(network: longhaul.Network) -> None:
    frames = list(FRAMES.values())
    came = received(frames, pause_s=0.1)
    missing = [name for name, frame in FRAMES.items() if came.count(frame) != 1]
    assert not missing, came
    assert len(came) == len(frames)
    # Padding behind an IP packet is not a part of it.
    assert received([FRAMES["IP"] + "00" * 4]) == [FRAMES["IP"]]
    result = network.down()
    require_no_unintended_drops(network)
    # Each is in the records, with the bytes that are behind its Ethernet header and its tags.
    table = result.table("packets")
    sizes = [size for size, way in zip(table["bytes"], table["way"], strict=True) if way == "forward"]
    assert sizes.count(1500) >= 1
    assert len(sizes) >= len(frames) + 1
    capture = next((network.directory / "captures").glob("wan@w.pcapng")).read_bytes()
    for frame in frames:
        assert bytes.fromhex(frame) in capture


COUNT = 5_000


@pytest.mark.quiet
def test_bridged_interfaces_lose_exactly_what_the_link_has_dropped(network: longhaul.Network) -> None:
    network.set("wan", loss="2%", way="forward")
    # Frames of an unknown kind, and datagrams, of which each has its number.
    frames = [f"{UNKNOWN}{SENDER}88b5COUNT" + "00" * 100, f"{UNKNOWN}{SENDER}0800" + datagram()]
    came = received(frames, count=COUNT // 2, pause_s=0.0005)
    assert len(set(came)) == len([frame for frame in came if "88b5" in frame]) + 1, "none comes twice"
    network.down()
    counted = wan(network)
    # The kernels' own frames, of neighbour discovery and multicast groups, cross and are lost, too.
    others, lost_others = counted["offered"] - COUNT, counted["lost"] - (COUNT - len(came))
    assert 0 <= lost_others <= others
    assert abs(counted["lost"] - 0.02 * COUNT) < 5 * (COUNT * 0.02 * 0.98) ** 0.5
    require_no_unintended_drops(network)


def test_frames_that_do_not_fit_a_link_have_a_fate(network: longhaul.Network) -> None:
    run("ip", "link", "set", "lhw0", "mtu", "2000")
    inside("w", "ip", "link", "set", "eth0", "mtu", "2000")
    came = received([f"{UNKNOWN}{SENDER}88b5" + "5a" * size for size in (1500, 1501, 1900)])
    assert [len(each) // 2 for each in came] == [1514]
    network.down()
    assert results(network, "fidelity.json")["engine"]["packets"]["too_big"] == 2
    require_no_unintended_drops(network)


def test_a_loop_between_bridged_interfaces_is_reported_and_broken(tmp_path: Path) -> None:
    text = BRIDGED + "programs: {wait: {run: sleep 6, host: c}}\n"
    (path := tmp_path / "bridged.yaml").write_text(text)
    inside("w", "ip", "link", "add", "br0", "type", "bridge")
    inside("w", "ip", "link", "set", "br0", "up")
    inside("w", "ip", "link", "set", "eth0", "master", "br0")
    # Both interfaces lead to one switch.
    inside("e", "ip", "link", "set", "eth0", "netns", "lhbw", "name", "eth1")
    inside("w", "ip", "link", "set", "eth1", "master", "br0", "up")
    inside("w", "ip", "address", "add", "192.168.7.9/24", "dev", "br0")
    command = [sys.executable, "-m", "longhaul.cli.main", "run", str(path), "--runs", str(tmp_path / "runs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        wait_until(lambda: "longhaul-device" in run("ss", "-xl"))
        time.sleep(2)
        inside("w", "ping", "-n", "-c", "3", "-W", "1", "192.168.7.77", check=False)
        out, _ = process.communicate(timeout=60)
    out = " ".join(out.split())
    assert "it is behind east and west at once; disconnect these, they are a loop" in out
    # What the kernel's way to the engine costs is a part of the verdict.
    assert re.search(r"west: \d+ packets arrived, and were read after .* \(p99\)", out), out
    fidelity = json.loads(next((tmp_path / "runs").rglob("fidelity.json")).read_text())
    ports = fidelity["engine"]["ports"]
    assert ports["west"]["looped_frames"] + ports["east"]["looped_frames"] > 0


def interfaces() -> list[str]:
    return [run("ip", "-details", "link", "show", f"lh{side}0") for side in SIDES]


@pytest.mark.parametrize("victim", ["lh-worker", "lh-engine"])
def test_a_killed_run_leaves_bridged_interfaces_as_they_were(tmp_path: Path, victim: str) -> None:
    before = interfaces()
    (path := tmp_path / "bridged.yaml").write_text(BRIDGED)
    network = longhaul.up(path, runs=tmp_path / "runs")
    try:
        assert all("promiscuity 1" in each for each in interfaces())
        record = json.loads(next((tmp_path / "runs").rglob("run.json")).read_text())
        os.kill(process_of(int(record["processes"]["worker"]["pid"]), victim), signal.SIGKILL)
        wait_until(lambda: interfaces() == before)
    finally:
        with suppress(LonghaulError):
            network.down()
    assert interfaces() == before
