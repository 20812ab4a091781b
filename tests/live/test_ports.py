"""Ports: namespaces and containers that exist, and network interfaces with hosts behind them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from live_ports import BESIDE, address_of, least_rtt_ms, process_of, run, scenario, started, wait_until

import longhaul
from longhaul.errors import LonghaulError
from longhaul.report.markdown import write_run
from longhaul.scenario import load_scenario, resolve
from longhaul.subprocesses import python_command

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(os.geteuid() != 0, reason="ports that are not the run's own need root"),
]

ROOT = Path(__file__).parents[2]


def inside(namespace: str, *words: str, check: bool = True) -> str:
    return run("ip", "netns", "exec", namespace, *words, check=check)


def state_of(namespace: str) -> str:
    """All of a namespace's network that a run could leave something in."""
    out = [
        inside(namespace, "ip", "-o", "address"),
        *(inside(namespace, "ip", f"-{family}", "route", "show", "table", "all") for family in (4, 6)),
        *(inside(namespace, "ip", f"-{family}", "rule") for family in (4, 6)),
        inside(
            namespace,
            "sh",
            "-c",
            "grep -r . /proc/sys/net/ipv4/conf /proc/sys/net/ipv4/tcp_* 2>/dev/null | sort",
        ),
    ]
    return "\n".join(out)


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with a default route of its own, by an interface that is not the run's."""
    name = f"lh-test-{os.getpid()}"
    run("ip", "netns", "add", name)
    try:
        inside(name, "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
        inside(name, "ip", "link", "set", "lo", "up")
        inside(name, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "beyond")
        inside(name, "ip", "link", "set", "beyond", "up")
        inside(name, "ip", "address", "add", "192.0.2.1/24", "dev", "eth0")
        inside(name, "ip", "link", "set", "eth0", "up")
        inside(name, "ip", "route", "add", "default", "via", "192.0.2.254")
        # The kernel adds it as soon as it has noticed the carrier.
        wait_until(lambda: "inet6 fe80" in inside(name, "ip", "address", "show", "dev", "eth0"))
        yield name
    finally:
        run("ip", "netns", "delete", name, check=False)


@pytest.fixture(autouse=True)
def _private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_an_interface_appears_in_a_namespace_and_is_gone_without_a_trace(
    namespace: str, tmp_path: Path
) -> None:
    before = state_of(namespace)
    path = scenario(tmp_path, f"netns:{namespace}")
    with longhaul.up(path, runs=tmp_path / "runs") as network:
        there = address_of(network, "b")
        # The first free name, since eth0 is taken, and no change of the default route.
        devices = inside(namespace, "ip", "-brief", "-4", "address")
        assert re.search(rf"eth1 .* {re.escape(address_of(network, 'a'))}/32", devices)
        assert "via 192.0.2.254 dev eth0" in inside(namespace, "ip", "route", "get", "198.51.100.1")
        # From a program that knows nothing of the run, and from the scenario's own.
        assert 20 <= least_rtt_ms(inside(namespace, "ping", "-n", "-c", "4", "-i", "0.05", there)) < 35
        assert 20 <= least_rtt_ms(network.run("a", ["ping", "-n", "-c", "4", "-i", "0.05", "b"]).stdout) < 35
        assert 20 <= least_rtt_ms(network.run("b", ["ping", "-n", "-c", "4", "-i", "0.05", "a"]).stdout) < 35
    wait_until(lambda: state_of(namespace) == before)


def test_a_port_takes_name_addresses_and_default_route(namespace: str, tmp_path: Path) -> None:
    port = f"{{netns: {namespace}, interface: wan0, address: [10.9.0.7, 'fd00:9::7'], default_route: true}}"
    before = state_of(namespace)
    with longhaul.up(scenario(tmp_path, port), runs=tmp_path / "runs") as network:
        devices = inside(namespace, "ip", "-brief", "address", "show", "dev", "wan0")
        assert "10.9.0.7/32" in devices
        assert "fd00:9::7/128" in devices
        for other in ("198.51.100.1", "2001:db8::1"):
            assert "dev wan0" in inside(namespace, "ip", "route", "get", other)
        assert "default via 192.0.2.254 dev eth0" in inside(namespace, "ip", "route")
        assert address_of(network, "a") == "10.9.0.7"
        out = network.run("b", ["ping", "-n", "-c", "2", "-i", "0.05", "10.9.0.7"]).stdout
        assert 20 <= least_rtt_ms(out) < 35
    wait_until(lambda: state_of(namespace) == before)


def worker_of(folder: Path) -> int:
    """The PID of the worker of the run in ``folder``."""
    record = json.loads(next(folder.rglob("run.json")).read_text())
    return int(record["processes"]["worker"]["pid"])


@pytest.mark.parametrize("victim", ["lh-worker", "lh-supervisor", "lh-engine"])
def test_a_killed_run_leaves_nothing_in_a_namespace(namespace: str, tmp_path: Path, victim: str) -> None:
    before = state_of(namespace)
    network = longhaul.up(scenario(tmp_path, f"netns:{namespace}"), runs=tmp_path / "runs")
    try:
        assert "eth1" in inside(namespace, "ip", "link")
        os.kill(process_of(worker_of(tmp_path / "runs"), victim), signal.SIGKILL)
        wait_until(lambda: state_of(namespace) == before)
    finally:
        with suppress(LonghaulError):
            network.down()


def test_a_run_says_that_its_namespace_was_removed(namespace: str, tmp_path: Path) -> None:
    text = BESIDE + "duration: 30s\nprograms: {wait: {run: sleep 30, host: a}}\n"
    path = scenario(tmp_path, f"netns:{namespace}", text)
    process = started(path, tmp_path)
    wait_until(lambda: "eth1" in inside(namespace, "ip", "link"))
    run("ip", "netns", "delete", namespace)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode in (1, 4)
    assert f"the network namespace netns:{namespace} was removed" in errors


BETWEEN = """
version: 1
name: between
nodes:
  w: {kind: router}
  e: {kind: router}
  west: {kind: host, attach: w, port: {nic: lhw0, subnets: [192.168.1.0/24, "fd00:1::/64"]}}
  east: {kind: host, attach: e, port: {nic: lhe0, subnets: [192.168.2.0/24, "fd00:2::/64"]}}
  c: {kind: host, attach: w}
links:
  wan: {endpoints: [w, e], delay: 20ms, rate: 1Gbit}
"""
CLUSTERS = {"w": 1, "e": 2}


@pytest.fixture
def clusters() -> Iterator[None]:
    """Two interfaces of this machine, with two hosts behind each that know nothing of a run.

    A bridge is the switch of each cluster.
    """
    names = [f"lh{side}{kind}" for side in CLUSTERS for kind in ("s", "1", "2")]
    try:
        for side, number in CLUSTERS.items():
            switch, *hosts = (f"lh{side}{kind}" for kind in ("s", "1", "2"))
            for each in (switch, *hosts):
                run("ip", "netns", "add", each)
                inside(each, "sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
                inside(each, "ip", "link", "set", "lo", "up")
            inside(switch, "ip", "link", "add", "br0", "type", "bridge")
            inside(switch, "ip", "link", "set", "br0", "up")
            run("ip", "link", "add", f"lh{side}0", "type", "veth", "peer", "name", "up0", "netns", switch)
            run("ip", "link", "set", f"lh{side}0", "up")
            inside(switch, "ip", "link", "set", "up0", "master", "br0", "up")
            for place, host in enumerate(hosts, 11):
                inside(
                    switch, "ip", "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", host
                )
                inside(switch, "ip", "link", "set", host, "master", "br0", "up")
                inside(host, "ip", "address", "add", f"192.168.{number}.{place}/24", "dev", "eth0")
                inside(host, "ip", "address", "add", f"fd00:{number}::{place}/64", "dev", "eth0")
                inside(host, "ip", "link", "set", "eth0", "up")
                inside(host, "ip", "route", "add", "default", "via", f"192.168.{number}.1")
                inside(host, "ip", "route", "add", "default", "via", f"fd00:{number}::1")
        yield
    finally:
        for side in CLUSTERS:
            run("ip", "link", "delete", f"lh{side}0", check=False)
        for each in names:
            run("ip", "netns", "delete", each, check=False)


def all_links() -> str:
    """The interfaces of this machine with their settings; timers of bridges, which others have, run on."""
    return re.sub(r"_timer +[\d.]+", "", run("ip", "-details", "link"))


def pinged(namespace: str, address: str, *options: str) -> str:
    return inside(namespace, "ping", "-n", "-c", "4", "-i", "0.05", *options, address)


@pytest.mark.usefixtures("clusters")
def test_clusters_behind_interfaces_reach_each_other_over_the_network(tmp_path: Path) -> None:
    links = all_links()
    with longhaul.up(scenario(tmp_path, "", BETWEEN), runs=tmp_path / "runs") as network:
        # The first packet waits for the address of its host.
        assert 40 <= least_rtt_ms(pinged("lhw1", "192.168.2.11")) < 55
        assert 40 <= least_rtt_ms(pinged("lhe2", "fd00:1::12")) < 55
        # The gateway answers for itself; hosts of the run are reached as others are.
        assert least_rtt_ms(pinged("lhw1", "192.168.1.1")) < 15
        assert least_rtt_ms(pinged("lhw1", "fd00:1::1")) < 15
        assert 40 <= least_rtt_ms(network.run("c", ["ping", "-n", "-c", "4", "192.168.2.12"]).stdout) < 55
        c = network.run("c", ["getent", "ahostsv4", "c"]).stdout.split()[0]
        assert 40 <= least_rtt_ms(pinged("lhe1", c)) < 55
        # Routers of the model are hops of the path.
        route = inside("lhw1", "traceroute", "-n", "-q", "1", "-w", "1", "192.168.2.11", check=False)
        assert not route or re.findall(r"^ *\d+  ([\d.]+) ", route, re.MULTILINE)[-1] == "192.168.2.11"
    assert network.result is not None
    ports = json.loads((network.directory / "fidelity.json").read_text())["engine"]["ports"]
    assert ports["west"]["unresolved_packets"] == ports["west"]["receive_dropped_packets"] == 0
    assert ports["west"]["read_delay"]["count"] > 0
    assert all_links() == links
    text = write_run(network.directory).read_text()
    table = text.partition("## Interfaces of the machine\n\n")[2].partition("\n\n")[0]
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| east", "| west"], text
    assert ">Interfaces of the machine</h2>" in (network.directory / "report.html").read_text()


@pytest.mark.usefixtures("clusters")
def test_a_host_that_forwards_has_routes_to_networks_behind_interfaces(tmp_path: Path) -> None:
    behind = BETWEEN.replace(
        "  c: {kind: host, attach: w}", "  gate: {kind: host, forward: true}\n  c: {kind: host, attach: gate}"
    )
    text = behind + "  uplink: {endpoints: [gate, w], delay: 1ms}\n"
    with longhaul.up(scenario(tmp_path, "", text), runs=tmp_path / "runs") as network:
        assert 42 <= least_rtt_ms(network.run("c", ["ping", "-n", "-c", "4", "192.168.2.12"]).stdout) < 60
        c = network.run("c", ["getent", "ahostsv4", "c"]).stdout.split()[0]
        assert 42 <= least_rtt_ms(pinged("lhe1", c)) < 60


@pytest.mark.usefixtures("clusters")
def test_networks_behind_an_interface_are_learnt_from_addresses_and_routes_of_the_machine(
    tmp_path: Path,
) -> None:
    # Other routes of this machine come first.
    run("ip", "address", "add", "192.168.1.1/24", "dev", "lhw0", "metric", "4000")
    run("ip", "-6", "address", "add", "fd00:1::1/64", "dev", "lhw0", "nodad")
    run("ip", "route", "add", "10.77.0.0/16", "via", "192.168.1.12", "dev", "lhw0", "metric", "4000")
    inside("lhw2", "ip", "address", "add", "10.77.0.1/32", "dev", "lo")
    listed = '{nic: lhw0, subnets: [192.168.1.0/24, "fd00:1::/64"]}'
    assert listed in BETWEEN
    path = scenario(tmp_path, "", BETWEEN.replace(listed, "nic:lhw0"))
    with longhaul.up(path, runs=tmp_path / "runs") as network:
        for address in ("192.168.1.11", "10.77.0.1", "fd00:1::11"):
            assert 40 <= least_rtt_ms(pinged("lhe1", address)) < 55
        assert least_rtt_ms(pinged("lhw1", "192.168.1.1")) < 15
        assert network.run("c", ["getent", "ahostsv4", "west"]).stdout.split()[0] == "192.168.1.1"
    plan = json.loads((network.directory / "plan.json").read_text())
    (west,) = [node for node in plan["nodes"] if node["name"] == "west"]
    assert west["port"]["subnets"] == [
        {"address": "10.77.0.0", "bits": 16, "via": "192.168.1.12"},
        {"address": "192.168.1.0", "bits": 24, "via": None},
        {"address": "fd00:1::", "bits": 64, "via": None},
    ]


RECEIVE = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
    stream.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    stream.bind(("", 5001))
    stream.settimeout(2)
    count = 0
    print("listening", flush=True)
    try:
        while True:
            stream.recv(2048)
            count += 1
    except TimeoutError:
        print(count, flush=True)
"""
SEND = """
import socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
    stream.connect(("192.168.2.11", 5001))
    for _ in range(100):
        for _ in range(100):
            stream.send(bytes(1200))
        time.sleep(0.01)
"""
DATAGRAMS = 10_000


def received_datagrams() -> int:
    """How many of the datagrams that one cluster sends come to the other."""
    receive = ["ip", "netns", "exec", "lhe1", "python3", "-c", RECEIVE]
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening\n"
        inside("lhw1", "python3", "-c", SEND)
        return int(receiver.stdout.readline())


@pytest.mark.quiet
@pytest.mark.usefixtures("clusters")
def test_clusters_lose_exactly_what_the_network_has_dropped(tmp_path: Path) -> None:
    with longhaul.up(scenario(tmp_path, "", BETWEEN), runs=tmp_path / "runs") as network:
        # The kernel holds about 90 datagrams for an address that it does not know yet, and drops the rest.
        inside("lhw1", "ping", "-c", "1", "-w", "10", "192.168.2.11")
        assert received_datagrams() == DATAGRAMS
        network.set("wan", loss="2%", way="forward")
        arrived = received_datagrams()
    links = json.loads((network.directory / "summary.json").read_text())["links"]
    forward = next(each for each in links if (each["name"], each["way"]) == ("wan", "forward"))
    assert DATAGRAMS - arrived == forward["packets"]["lost"]
    assert abs(DATAGRAMS - arrived - 200) < 5 * (DATAGRAMS * 0.02 * 0.98) ** 0.5
    fidelity = json.loads((network.directory / "fidelity.json").read_text())
    assert not [each for each in fidelity["reasons"] if "unintended drops" in each["what"]]


@pytest.mark.quiet
@pytest.mark.usefixtures("clusters")
def test_tcp_between_clusters_has_the_rate_of_the_link(tmp_path: Path) -> None:
    text = BETWEEN.replace("rate: 1Gbit", "rate: 200Mbit").replace("delay: 20ms", "delay: 2ms")
    server = ["ip", "netns", "exec", "lhe1", "iperf3", "-s", "-1"]
    with (
        longhaul.up(scenario(tmp_path, "", text), runs=tmp_path / "runs"),
        subprocess.Popen(server, stdout=subprocess.DEVNULL),
    ):
        wait_until(lambda: "5201" in inside("lhe1", "ss", "-ltn"))
        told = json.loads(inside("lhw1", "iperf3", "-c", "192.168.2.11", "--json", "-t", "5"))
    # Headers take 5 % of a packet; slow start a part of the first second.
    assert 0.75 * 200e6 < told["end"]["sum_received"]["bits_per_second"] < 200e6


FLOOD = """
import socket, sys
frames, count = [bytes.fromhex(each) for each in sys.argv[2:]], int(sys.argv[1])
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as stream:
    stream.bind(("eth0", 0))
    for frame in frames:
        sent = 0
        while sent < count:
            try:
                stream.send(frame)
            except OSError:  # The queue of the interface is full.
                continue
            sent += 1
"""
FLOODED = 5_000
ECHO = "0800f7ff00000000" + "00" * 18
"""ICMP echo request with a right checksum."""


def flood_of(to_mac: str, own_mac: str) -> list[str]:
    """Frames in hex: for the other cluster, for the gateway, of an unknown protocol, and an ARP request."""
    to, own = (each.replace(":", "") for each in (to_mac, own_mac))

    def echo(address: str) -> str:
        header = bytes.fromhex("4500002e000000004001") + bytes(2)
        header += bytes([192, 168, 1, 11, *(int(each) for each in address.split("."))])
        total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, 20, 2))
        total = (total & 0xFFFF) + (total >> 16)
        checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
        return f"{to}{own}0800{header[:10].hex()}{checksum:04x}{header[12:].hex()}{ECHO}"

    request = f"0001080006040001{own}c0a8010b000000000000c0a80101" + "00" * 18
    return [
        echo("192.168.2.11"),
        echo("192.168.1.1"),
        f"ffffffffffff{own}88b5" + "5a" * 46,
        f"ffffffffffff{own}0806{request}",
    ]


@pytest.mark.usefixtures("clusters")
def test_a_host_that_floods_an_interface_stops_nobody_and_all_of_its_frames_are_counted(
    tmp_path: Path,
) -> None:
    text = BETWEEN.replace("rate: 1Gbit", "rate: 1Mbit").replace(
        "  c: {kind: host, attach: w}", "  c: {kind: host, attach: w}\n  d: {kind: host, attach: w}"
    )
    macs = (
        Path("/sys/class/net/lhw0/address").read_text(),
        inside("lhw1", "cat", "/sys/class/net/eth0/address"),
    )
    frames = flood_of(*(each.strip() for each in macs))
    command = ["ip", "netns", "exec", "lhw1", sys.executable, "-I", "-c", FLOOD, str(FLOODED), *frames]
    with longhaul.up(scenario(tmp_path, "", text), runs=tmp_path / "runs") as network:
        with subprocess.Popen(command) as flood:
            out = network.run("c", ["ping", "-n", "-c", "5", "-i", "0.1", "d"]).stdout
            assert "5 packets transmitted, 5 received" in out
            assert flood.wait(60) == 0
        time.sleep(1)
    port = json.loads((network.directory / "fidelity.json").read_text())["engine"]["ports"]["west"]
    dropped = port["receive_dropped_packets"]
    # Of the segment itself there are a few more.
    assert FLOODED - dropped <= port["read_packets"] < FLOODED + 100
    assert FLOODED - dropped <= port["discovery_frames"] < FLOODED + 100
    assert FLOODED - dropped <= port["ignored_frames"] < FLOODED + 100
    links = json.loads((network.directory / "summary.json").read_text())["links"]
    forward = next(each for each in links if (each["name"], each["way"]) == ("wan", "forward"))
    assert forward["packets"]["overflowed"] > 0


@pytest.mark.usefixtures("clusters")
def test_an_interface_without_carrier_is_told_and_one_that_is_removed_ends_the_run(tmp_path: Path) -> None:
    text = BETWEEN + "programs: {wait: {run: sleep 60, host: c}}\n"
    process = started(scenario(tmp_path, "", text), tmp_path)
    wait_until(lambda: "longhaul-device" in run("ss", "-xl"))
    time.sleep(2)
    inside("lhws", "ip", "link", "set", "up0", "down")
    time.sleep(1)
    run("ip", "link", "delete", "lhe0")
    out, errors = process.communicate(timeout=60)
    assert process.returncode in (1, 4)
    assert "lhw0 has no carrier" in out + errors
    assert "the network interface lhe0 was removed" in errors


def looped(folder: Path, text: str, cause: Callable[[], object]) -> tuple[str, dict[str, int]]:
    """What a run says, and frames that came back in at each interface, if ``cause`` happens meanwhile."""
    process = started(scenario(folder, "", text + "programs: {wait: {run: sleep 5, host: c}}\n"), folder)
    wait_until(lambda: "longhaul-device" in run("ss", "-xl"))
    time.sleep(2)
    cause()
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, out + errors
    (found,) = (folder / "runs").rglob("fidelity.json")
    ports = json.loads(found.read_text())["engine"]["ports"]
    report = write_run(found.parent).read_text()
    assert "looped frames" in report
    counted = {name: ports[name]["looped_frames"] for name in ("west", "east")}
    for name, count in counted.items():
        row = next((line for line in report.splitlines() if line.startswith(f"| {name} |")), None)
        assert row is None or row.split("|")[-2].strip() == str(count), row
    return " ".join((out + errors).split()), counted


@pytest.mark.usefixtures("clusters")
def test_packets_that_a_router_returns_to_its_gateway_are_a_loop_that_is_reported_and_ended(
    tmp_path: Path,
) -> None:
    inside("lhw1", "sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.conf.all.send_redirects=0")
    # The scenario has 10.9.0.0/16 behind the router lhw1, whose only route is the one to its gateway.
    text = BETWEEN.replace("[192.168.1.0/24,", '[192.168.1.0/24, "10.9.0.0/16 via 192.168.1.11",')
    ping = ("ping", "-n", "-c", "5", "-i", "0.1", "-W", "1", "10.9.0.1")
    said, counted = looped(tmp_path, text, lambda: inside("lhe1", *ping, check=False))
    assert "packets from 192.168.2.11 to 10.9.0.1 are lost: a router behind west returns them" in said
    assert said.count("a router behind west returns them") == 1
    # Each of them came back once.
    assert counted == {"west": 5, "east": 0}


@pytest.mark.usefixtures("clusters")
def test_two_routed_interfaces_of_one_ethernet_segment_are_reported(tmp_path: Path) -> None:
    join = ("ip", "link", "add", "loop0", "type", "veth", "peer", "name", "loop0", "netns", "lhes")
    inside("lhws", *join)
    for switch in ("lhws", "lhes"):
        inside(switch, "ip", "link", "set", "loop0", "master", "br0", "up")
    said, counted = looped(tmp_path, BETWEEN, lambda: pinged("lhw1", "192.168.2.11"))
    assert "east and west are on one Ethernet segment" in said
    # The question for the address of 192.168.2.11 is for all of the segment.
    assert counted["west"] > 0


@pytest.mark.usefixtures("clusters")
def test_frames_that_come_back_to_their_interface_are_reported(tmp_path: Path) -> None:
    # The switch sends frames for all also where they came from.
    inside("lhws", "ip", "link", "set", "up0", "type", "bridge_slave", "hairpin", "on")
    said, counted = looped(tmp_path, BETWEEN, lambda: pinged("lhe1", "192.168.1.11"))
    assert "frames that west sent come back to it: the Ethernet behind it has a loop" in said
    assert counted["west"] > 0
    assert counted["east"] == 0


@pytest.mark.usefixtures("clusters")
def test_packets_that_go_around_the_network_are_reported_and_arrive(tmp_path: Path) -> None:
    inside("lhe1", "ip", "link", "add", "x0", "type", "veth", "peer", "name", "x0", "netns", "lhw1")
    for host, number in (("lhe1", 2), ("lhw1", 1)):
        inside(host, "ip", "address", "add", f"10.99.0.{number}/24", "dev", "x0")
        inside(host, "ip", "link", "set", "x0", "up")
    inside("lhw1", "sysctl", "-qw", "net.ipv4.ip_forward=1")
    inside("lhe1", "ip", "route", "add", "10.1.0.0/16", "via", "10.99.0.1")
    text = BETWEEN.replace("version: 1", "version: 1\naddresses: ipv4").replace(', "fd00:1::/64"', "")
    text = text.replace(', "fd00:2::/64"', "")
    out: list[str] = []
    resolved = resolve(load_scenario(scenario(tmp_path, "", text)))
    address = next(node["ipv4"] for node in resolved.plan["nodes"] if node["name"] == "c")
    assert address is not None
    ping = ("ping", "-n", "-c", "4", "-i", "0.1", "-I", "192.168.2.11", address)
    said, counted = looped(tmp_path, text, lambda: out.append(inside("lhe1", *ping, check=False)))
    assert "packets from 192.168.2.11 come in at west, and that address is at east" in said
    assert counted["west"] == 4
    # There by lhw1, and back by the network.
    assert 20 <= least_rtt_ms(out[0]) < 35


WRONG = {
    "{nic: lhnone0, subnets: [192.168.1.0/24]}": 'there is no network interface "lhnone0"',
    "{nic: lo, subnets: [192.168.1.0/24]}": "lo is not an Ethernet interface",
    "nic:lhnone0": 'there is no network interface "lhnone0"',
    "{tap: lhtap0, subnets: [192.168.1.0/24]}": 'lhtap0"; sudo ip tuntap add',
    "netns:lh-none": 'there is no network namespace "lh-none"; sudo ip netns add lh-none',
    "{netns: 999999999}": "there is no process 999999999",
    "{netns: PID}": "uses the network of this machine",
}


@pytest.mark.parametrize("port", WRONG)
def test_a_port_that_this_machine_does_not_have_is_one_error_with_its_place(
    tmp_path: Path, port: str
) -> None:
    # Processes that collect tests name them alike, and so without a number of their own.
    path = scenario(tmp_path, port.replace("PID", str(os.getpid())))
    with pytest.raises(LonghaulError) as refused:
        longhaul.run_live(path, runs=tmp_path / "runs")
    assert refused.value.exit_code == 3
    assert len(refused.value.diagnostics) == 1
    assert WRONG[port] in str(refused.value)
    assert f"{path}:6:" in str(refused.value)
    assert not list(tmp_path.rglob("run.json"))


def test_the_interface_of_the_default_route_is_refused_unless_forced(namespace: str, tmp_path: Path) -> None:
    def attempted(port: str) -> "subprocess.CompletedProcess[str]":
        text = BESIDE + "programs: {ready: {run: 'true', host: b}}\n"
        run_it = ["run", str(scenario(tmp_path, port, text)), "--runs", str(tmp_path / "runs"), "--no-report"]
        # In the namespace, whose default route is by eth0.
        command = ["ip", "netns", "exec", namespace, *python_command("longhaul.cli.main", *run_it)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = attempted("{nic: eth0, subnets: [192.0.2.0/24]}")
    assert done.returncode == 3
    assert "eth0 carries the default route of this machine" in done.stderr
    assert "write force: true beside nic" in done.stderr
    before = state_of(namespace)
    done = attempted("{nic: eth0, subnets: [192.0.2.0/24], force: true}")
    assert done.returncode in (0, 4), done.stderr
    assert json.loads(next((tmp_path / "runs").rglob("summary.json")).read_text())["links"]
    assert state_of(namespace) == before


def test_the_interface_of_the_ssh_connection_or_of_another_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("ip", "link", "add", "lhd0", "type", "veth", "peer", "name", "lhd1")
    try:
        run("ip", "link", "set", "lhd1", "up")
        port = "{nic: lhd0, subnets: [192.168.1.0/24]}"
        with pytest.raises(LonghaulError, match="lhd0 is down; sudo ip link set lhd0 up"):
            longhaul.run_live(scenario(tmp_path, port), runs=tmp_path / "runs")
        run("ip", "link", "set", "lhd0", "up")
        with pytest.raises(
            LonghaulError, match="lhd0 has no address from which the networks behind it"
        ) as refused:
            longhaul.run_live(scenario(tmp_path, "nic:lhd0"), runs=tmp_path / "runs")
        assert refused.value.exit_code == 3
        run("ip", "address", "add", "198.51.100.1/24", "dev", "lhd0")
        monkeypatch.setenv("SSH_CONNECTION", "198.51.100.7 50000 198.51.100.1 22")
        with pytest.raises(LonghaulError, match="lhd0 carries the ssh connection of this session"):
            longhaul.run_live(scenario(tmp_path, port), runs=tmp_path / "runs")
        monkeypatch.delenv("SSH_CONNECTION")
        with (
            longhaul.up(scenario(tmp_path, port), runs=tmp_path / "runs"),
            pytest.raises(LonghaulError, match="lhd0 is in use by another run"),
        ):
            longhaul.run_live(scenario(tmp_path, port), runs=tmp_path / "runs")
    finally:
        run("ip", "link", "delete", "lhd0")


@pytest.mark.usefixtures("clusters")
def test_the_commands_of_the_guide_put_a_wan_between_two_clusters(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/real-clusters.md").read_text()
    block = re.findall(r"^```console\n(# longhaul up .*?)^```", page, re.MULTILINE | re.DOTALL)[0]
    up, change, *others = (line.removeprefix("# longhaul ").split() for line in block.splitlines())
    up += ["--set", "nic_a=lhw0", "--set", "nic_b=lhe0", "--runs", str(tmp_path / "runs")]

    def execute(words: list[str]) -> None:
        command = python_command("longhaul.cli.main", *words)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    execute(up)
    try:
        assert 40 <= least_rtt_ms(pinged("lhw1", "192.168.2.11")) < 55
        execute(change)
        assert 120 <= least_rtt_ms(pinged("lhe2", "192.168.1.12")) < 140
    finally:
        for words in others:
            execute(words)
