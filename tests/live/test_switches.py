"""Switches: hosts with real kernels on one Ethernet segment, and routers of the model at it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_ports import least_rtt_ms, require_no_unintended_drops, results, run, wait_until

import longhaul
from longhaul.results.growing_captures import packet_of
from longhaul.results.packet_headers import Dissector
from longhaul.run import link_captures, sockets

pytestmark = [pytest.mark.waiting, pytest.mark.usefixtures("private_directories")]

SEGMENT = """
version: 1
name: segment
nodes:
  s: {kind: switch}
  t: {kind: switch}
  a: {kind: host, attach: s, profile: cable}
  b: {kind: host, attach: s, profile: cable}
  c: {kind: host, attach: t, profile: cable}
  d: {kind: host, attach: t, profile: cable}
  r: {kind: router}
  far: {kind: host, attach: r}
profiles: {cable: {delay: 1ms, rate: 1Gbit}}
links:
  trunk: {endpoints: [s, t], delay: 3ms, rate: 1Gbit}
  uplink: {endpoints: [s, r], delay: 2ms}
measure: {packets: {links: [trunk], snaplen: 2000B, window: 1s}, journal: true}
"""
LISTEN = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
    server.bind(("", 7000))
    server.settimeout(20)
    print("listening", flush=True)
    print(server.recv(100).decode(), flush=True)
"""
BROADCAST = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sender.sendto(b"to everyone", (sys.argv[1], 7000))
"""
# Frames of a kind that no protocol has, and how many of them come to a host.
KIND = 0x88B5
SEND = """
import socket, sys, time
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as device:
    device.bind(("eth0", 0))
    for number in range(int(sys.argv[1])):
        device.send(bytes.fromhex(sys.argv[2]) + number.to_bytes(4, "big") + bytes(60))
        time.sleep(0.002)  # No more than the queues of links take at once.
"""
COUNT = """
import socket, sys
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5)) as device:
    device.bind(("eth0", 0x88B5))
    print("listening", flush=True)
    device.settimeout(8)
    came = []
    try:
        while True:
            came.append(device.recv(2048)[14:18])
    except TimeoutError:
        print(len(came), len(set(came)), flush=True)
"""

# The tags and kinds of the frames that come, which the kernel has partly taken out of them.
TAGGED = """
import socket, struct
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as device:
    device.setsockopt(263, 8, 1)  # SOL_PACKET, PACKET_AUXDATA
    device.bind(("eth0", 3))
    print("listening", flush=True)
    device.settimeout(8)
    try:
        while True:
            frame, control, _, _ = device.recvmsg(2048, 256)
            status, _, _, _, _, identifier, kind = struct.unpack("IIIHHHH", control[0][2])
            if status & 16:
                frame = frame[:12] + struct.pack("!HH", kind, identifier) + frame[12:]
            if bytes.fromhex("88b5") in frame[12:22]:
                print(frame[12 : frame.index(bytes.fromhex("88b5")) + 2].hex(), flush=True)
    except TimeoutError:
        pass
"""


def has_vlans() -> bool:
    """Whether this kernel makes interfaces of VLANs."""
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
    command.append("ip link set lo up; ip link add link lo name v type vlan id 7")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def network(tmp_path: Path) -> Iterator[longhaul.Network]:
    (tmp_path / "segment.yaml").write_text(SEGMENT)
    with longhaul.up(tmp_path / "segment.yaml", runs=tmp_path / "runs") as network:
        yield network


def output(network: longhaul.Network, host: str, *argv: str) -> str:
    return network.run(host, [*argv]).stdout


def mac_of(network: longhaul.Network, host: str) -> str:
    return str(interface(network, host)["address"])


def interface(network: longhaul.Network, host: str) -> dict[str, Any]:
    """What the kernel of a host says of its interface."""
    found: list[dict[str, Any]] = json.loads(
        output(network, host, "ip", "-json", "-s", "link", "show", "eth0")
    )
    return found[0]


def address_of(network: longhaul.Network, host: str, family: str = "4") -> str:
    return output(network, "a", "getent", f"ahostsv{family}", host).split()[0]


def listening(network: longhaul.Network, host: str, program: str) -> "subprocess.Popen[str]":
    """A program in a host, which has printed its first line."""
    process = network.start(host, [sys.executable, "-I", "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "listening\n"
    return process


def packets(network: longhaul.Network) -> dict[str, int]:
    found: dict[str, int] = results(network, "fidelity.json")["engine"]["packets"]
    return found


def test_hosts_at_switches_find_each_other_by_arp_and_neighbour_discovery(network: longhaul.Network) -> None:
    for family in ("4", "6"):
        out = output(network, "a", "ping", f"-{family}", "-n", "-c", "4", "-i", "0.2", "d")
        times = [float(each) for each in re.findall(r"time=([\d.]+)", out)]
        # 1 + 3 + 1 ms, there and back; the first packet waits for one more round trip.
        assert 10 <= min(times) < 14
        assert times[0] >= 20
        assert "ttl=64" in out
        neighbours = output(
            network, "a", "ip", f"-{family}", "neighbour", "show", address_of(network, "d", family)
        )
        assert mac_of(network, "d") in neighbours
    network.down()
    require_no_unintended_drops(network)
    assert packets(network)["copied"] > 0
    # The simulator sends the same frames the same ways.
    replayed = subprocess.run(
        [sys.executable, "-m", "longhaul.cli.main", "compare", "--replay", str(network.directory)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


def test_routers_of_the_model_answer_for_their_addresses_and_forward(network: longhaul.Network) -> None:
    route = output(network, "c", "ip", "-4", "route", "show", "default")
    assert address_of(network, "r") in route
    for family in ("4", "6"):
        out = output(network, "c", "ping", f"-{family}", "-n", "-c", "10", "-i", "0.1", "far")
        assert 12 <= least_rtt_ms(out) < 16
        assert "ttl=63" in out, "one router, and switches do not count"
        out = output(network, "c", "ping", f"-{family}", "-n", "-c", "10", "-i", "0.1", "r")
        assert 12 <= least_rtt_ms(out) < 20
        # The other way round, the host behind the router begins.
        assert (
            least_rtt_ms(output(network, "far", "ping", f"-{family}", "-n", "-c", "10", "-i", "0.1", "b"))
            < 10
        )
    refused = network.run("a", ["ping", "-4", "-n", "-c", "1", "-W", "2", "198.51.100.7"], check=False)
    assert "Destination Net Unreachable" in refused.stdout or "Destination Host Unreachable" in refused.stdout
    network.down()
    require_no_unintended_drops(network)


def test_a_broadcast_reaches_all_stations_of_the_segment_once(network: longhaul.Network) -> None:
    listeners = [listening(network, host, LISTEN) for host in "bcd"]
    text = output(network, "a", "ip", "-4", "-json", "address", "show", "dev", "eth0")
    broadcast = json.loads(text)[0]["addr_info"][0]["broadcast"]
    output(network, "a", sys.executable, "-I", "-c", BROADCAST, broadcast)
    for listener in listeners:
        out, _ = listener.communicate(timeout=30)
        assert out.strip() == "to everyone"
    network.down()
    require_no_unintended_drops(network)


@pytest.mark.quiet
def test_frames_of_any_kind_come_to_their_station_alone(network: longhaul.Network) -> None:
    output(network, "a", "ping", "-4", "-n", "-c", "1", "d")
    to_d = mac_of(network, "d").replace(":", "")
    from_a = mac_of(network, "a").replace(":", "")
    counting = {host: listening(network, host, COUNT) for host in "bcd"}
    frames = 300
    output(network, "a", sys.executable, "-I", "-c", SEND, str(frames), f"{to_d}{from_a}{KIND:04x}")
    came = {host: process.communicate(timeout=60)[0].split() for host, process in counting.items()}
    assert came == {"b": ["0", "0"], "c": ["0", "0"], "d": [str(frames)] * 2}
    # What the kernels of the hosts count at their interfaces is what the network counts.
    sent, received = (
        interface(network, host)["stats64"][way]["packets"] for host, way in (("a", "tx"), ("d", "rx"))
    )
    network.down()
    require_no_unintended_drops(network)
    ports = results(network, "fidelity.json")["engine"]["ports"]
    assert sent - 5 <= ports["a"]["read_packets"] <= sent + 5
    assert received - 5 <= ports["d"]["written_packets"] <= received + 5


def test_vlan_tags_cross_switches(network: longhaul.Network) -> None:
    output(network, "a", "ping", "-4", "-n", "-c", "1", "d")
    ends = (mac_of(network, "d") + mac_of(network, "a")).replace(":", "")
    counting = listening(network, "d", TAGGED)
    # VLAN 7 with priority 5, and VLAN 9 of a provider with VLAN 7.
    for tags in ("8100a007", "88a8000981000007"):
        output(network, "a", sys.executable, "-I", "-c", SEND, "3", f"{ends}{tags}{KIND:04x}")
    out, _ = counting.communicate(timeout=60)
    network.down()
    # The kernel of d counts them as dropped, as it has no interface of these VLANs.
    assert out.split() == ["8100a00788b5"] * 3 + ["88a800098100000788b5"] * 3
    capture = next((network.directory / "captures").glob("trunk@s.pcapng")).read_bytes()
    assert capture.count(bytes.fromhex("8100a00788b5")) >= 3


@pytest.mark.skipif(not has_vlans(), reason="this kernel has no VLAN interfaces")
def test_hosts_of_a_virtual_lan_are_neighbours(network: longhaul.Network) -> None:
    for host, number in (("a", 1), ("d", 2)):
        commands = (
            "ip link add link eth0 name eth0.7 type vlan id 7",
            f"ip address add 192.168.7.{number}/24 dev eth0.7",
            "ip link set eth0.7 up",
        )
        for command in commands:
            output(network, host, *command.split())
    assert 10 <= least_rtt_ms(output(network, "a", "ping", "-n", "-c", "3", "192.168.7.2")) < 14
    network.down()
    require_no_unintended_drops(network)


@pytest.mark.quiet
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_captures_of_links_at_switches_have_frames(network: longhaul.Network) -> None:
    begun = link_captures.begin(sockets.find(None), "a-s")
    output(network, "a", "ping", "-4", "-n", "-c", "3", "-i", "0.2", "d")
    begun.end()
    time.sleep(0.3)
    packets = [packet_of(block) for block in begun.files["a"].blocks()]
    dissector = Dissector(link_captures.host_names(begun.plan))
    read = [dissector.read(each.content, is_frame=each.is_frame, length=each.length) for each in packets]
    assert any(each.protocol == "ARP" and "who has d? tell a" in each.info for each in read)
    assert sum(each.info.startswith("echo") for each in read) == 6
    planned = Path(network.directory) / "captures/trunk@s.pcapng"
    network.down()
    for path, least in ((begun.path("a"), 8), (planned, 8)):
        found = subprocess.run(
            ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.protocols"],
            capture_output=True,
            text=True,
            check=True,
        )
        kinds = found.stdout.split()
        assert sum(each == "eth:ethertype:arp" for each in kinds) >= 2
        assert len(kinds) >= least


def test_super_packets_cross_switches(network: longhaul.Network) -> None:
    network.start("d", ["iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
    wait_until(lambda: ":5201" in output(network, "d", "ss", "-Hltn"))
    told = json.loads(output(network, "a", "iperf3", "--client", "d", "--time", "3", "--json"))
    assert told["end"]["sum_received"]["bits_per_second"] > 100e6
    network.down()
    require_no_unintended_drops(network)
    counted = packets(network)
    assert counted["injected"] > 3 * 100e6 / 8 / 1500


def test_a_host_that_bridges_two_interfaces_makes_a_loop_which_is_reported(tmp_path: Path) -> None:
    text = """
version: 1
name: looped
nodes:
  s: {kind: switch}
  a: {kind: host, attach: s}
  b: {kind: host, attach: s}
  x: {kind: host}
links:
  one: {endpoints: [x, s], delay: 1ms}
  two: {endpoints: [x, s], delay: 1ms}
programs:
  bridge:
    run: >-
      sh -c 'ip link add br0 type bridge && ip link set br0 up && ip link set eth0 master br0 &&
      ip link set eth1 master br0 && sleep 6'
    host: x
    service: true
  call: {run: sh -c 'sleep 2; ping -4 -n -c 2 -W 1 b || true', host: a}
"""
    (tmp_path / "looped.yaml").write_text(text)
    result = longhaul.run_live(tmp_path / "looped.yaml", runs=tmp_path / "runs", report=False)
    record = json.loads((result.directory / "run.json").read_text())
    warnings = " ".join(record.get("warnings", ()))
    assert "at once; disconnect these, they are a loop" in warnings, record
    fidelity = json.loads((result.directory / "fidelity.json").read_text())
    assert fidelity["engine"]["packets"]["looped"] > 0


def test_a_host_that_forwards_routes_between_two_segments(tmp_path: Path) -> None:
    text = """
version: 1
name: two-segments
nodes:
  s: {kind: switch}
  t: {kind: switch}
  a: {kind: host, attach: s}
  b: {kind: host, attach: t}
  gate: {kind: host, forward: true}
links:
  one: {endpoints: [gate, s], delay: 1ms}
  two: {endpoints: [gate, t], delay: 2ms}
"""
    (tmp_path / "two.yaml").write_text(text)
    with longhaul.up(tmp_path / "two.yaml", runs=tmp_path / "runs") as network:
        for family in ("4", "6"):
            out = output(network, "a", "ping", f"-{family}", "-n", "-c", "3", "-i", "0.2", "b")
            assert 6 <= least_rtt_ms(out) < 10
            assert "ttl=63" in out
        network.down()
        require_no_unintended_drops(network)


@pytest.mark.skipif(os.geteuid() != 0, reason="ports that are not the run's own need root")
def test_bridged_interfaces_and_namespaces_are_stations_of_a_switch(tmp_path: Path) -> None:
    text = """
version: 1
name: attached
nodes:
  s: {kind: switch}
  a: {kind: host, attach: s, profile: cable}
  cluster: {kind: host, attach: s, profile: cable, port: {nic: lhsw0, mode: bridge}}
  box: {kind: host, attach: s, profile: cable, port: {netns: lhswbox}}
profiles: {cable: {delay: 1ms}}
"""
    (tmp_path / "attached.yaml").write_text(text)
    try:
        for name in ("lhswc", "lhswbox"):
            run("ip", "netns", "add", name)
        run("ip", "link", "add", "lhsw0", "type", "veth", "peer", "name", "eth0", "netns", "lhswc")
        run("ip", "link", "set", "lhsw0", "up")
        run("ip", "-n", "lhswc", "link", "set", "eth0", "up")
        with longhaul.up(tmp_path / "attached.yaml", runs=tmp_path / "runs") as network:
            own = address_of(network, "a")
            near = own.rsplit(".", 1)[0]
            run("ip", "-n", "lhswc", "address", "add", f"{near}.200/16", "dev", "eth0")
            for namespace in ("lhswc", "lhswbox"):
                out = run("ip", "netns", "exec", namespace, "ping", "-n", "-c", "3", "-i", "0.2", own)
                assert 4 <= least_rtt_ms(out) < 8
            assert least_rtt_ms(output(network, "a", "ping", "-4", "-n", "-c", "3", "-i", "0.2", "box")) < 8
            assert least_rtt_ms(output(network, "a", "ping", "-n", "-c", "3", "-i", "0.2", f"{near}.200")) < 8
            network.down()
            require_no_unintended_drops(network)
    finally:
        for name in ("lhswc", "lhswbox"):
            run("ip", "netns", "delete", name, check=False)


def test_traffic_between_hosts_at_switches_simulates_as_it_runs(tmp_path: Path) -> None:
    text = (
        SEGMENT
        + """
duration: 2s
traffic:
  within: {kind: ping, from: a, to: d, every: 50ms}
  outside: {kind: ping, from: far, to: c, every: 50ms}
expect:
  - {metric: probes.within.d.rtt.min, min: 10ms, max: 12ms}
  - {metric: probes.outside.c.rtt.min, min: 12ms, max: 14ms}
"""
    )
    (tmp_path / "segment.yaml").write_text(text)
    live = longhaul.run_live(tmp_path / "segment.yaml", runs=tmp_path / "runs", report=False)
    simulated = longhaul.run_sim(tmp_path / "segment.yaml", runs=tmp_path / "runs", report=False)
    for each in (live, simulated):
        assert each.failed == ()


def test_the_guide_has_commands_for_a_segment(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/how-to/routers.md").read_text()
    block = re.search(r'^```console title="switch.sh"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert block
    (tmp_path / "scenarios").symlink_to(root / "scenarios")
    commands = block[1].replace("# longhaul", f"{sys.executable} -m longhaul.cli.main")
    done = subprocess.run(
        ["bash", "-ec", commands], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 received") == 2
    # The guide's hosts are in one network, with the router as their way out.
    assert "10.1.0.0/16 dev eth0" in done.stdout
    assert "default via 10.3.255.254 dev eth0" in done.stdout
    assert "lladdr 02:4c:48:" in done.stdout
