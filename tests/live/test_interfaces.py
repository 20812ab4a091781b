"""Hosts with several links: each address has its own path, and multipath TCP uses all of them."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import longhaul

TWO_PATHS = """
version: 1
name: two-paths
nodes: {a: {kind: host}, b: {kind: host}, c: {kind: host, attach: r2}, r1: {kind: router}, r2: {kind: router}}
links:
  a-r1: {endpoints: [a, r1], delay: 5ms, rate: 50Mbit}
  r1-b: {endpoints: [r1, b], delay: 5ms, rate: 50Mbit}
  a-r2: {endpoints: [a, r2], delay: 10ms, rate: 20Mbit}
  r2-b: {endpoints: [r2, b], delay: 10ms, rate: 20Mbit}
"""
MPTCP = 262
"""IPPROTO_MPTCP (linux/in.h)."""
RECEIVE = f"""
import socket, sys, time
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {MPTCP})
listener.bind(("", 5001))
listener.listen()
print("listening", flush=True)
connection, _ = listener.accept()
counts = [0, 0]
began = time.monotonic()
while data := connection.recv(1 << 20):
    counts[time.monotonic() - began > float(sys.argv[1])] += len(data)
print(*counts, time.monotonic() - began - float(sys.argv[1]), flush=True)
"""
SEND = f"""
import socket, sys, time
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, {MPTCP})
connection.connect(("b", 5001))
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    connection.sendall(bytes(1 << 18))
connection.close()
"""
SLOWER_BITS_PER_S, FASTER_BITS_PER_S = 20e6, 50e6


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "two.yaml").write_text(TWO_PATHS)
    with longhaul.up(tmp_path / "two.yaml", runs=tmp_path / "runs") as network:
        yield network


def least_rtt_ms(network: longhaul.Network, *arguments: str, host: str = "a") -> float:
    out = network.run(host, ["ping", "-n", "-c", "6", "-i", "0.05", *arguments]).stdout
    return min(float(found) for found in re.findall(r"time=([\d.]+)", out))


@pytest.mark.waiting
def test_each_address_has_the_path_of_its_interface(network: longhaul.Network) -> None:
    # A busy machine only adds.
    assert 20 <= least_rtt_ms(network, "b") < 35
    assert 40 <= least_rtt_ms(network, "b.r2") < 70
    # No path leads from eth0 of a to c, so that the answer follows the main table.
    assert 20 <= least_rtt_ms(network, "a", host="c") < 35
    # There by the interface that the source address belongs to, and back by the one that it was sent to.
    own = network.run("a", ["getent", "hosts", "a.r2"]).stdout.split()[0]
    assert ":" in own
    assert 30 <= least_rtt_ms(network, "-6", "-I", own, "b") < 60


@pytest.mark.waiting
def test_interfaces_and_their_routing_tables(network: longhaul.Network) -> None:
    devices = network.run("a", ["ip", "-brief", "-4", "address"]).stdout
    mine = dict(re.findall(r"(eth\d) .*? ([\d.]+)/32", devices))
    assert mine.keys() == {"eth0", "eth1"}
    first, second = mine.values()
    for name, device in (("b", "eth0"), ("b.r2", "eth1")):
        far = network.run("a", ["getent", "ahostsv4", name]).stdout.split()[0]
        route = network.run("a", ["ip", "route", "get", far]).stdout.split()
        assert route[1:5] == ["dev", device, "src", mine[device]]
    rules = network.run("a", ["ip", "rule"]).stdout
    assert f"from {first} lookup 100" in rules
    assert f"from {second} lookup 101" in rules


def has_mptcp() -> bool:
    if not Path("/proc/sys/net/mptcp/enabled").exists():
        return False
    told = subprocess.run(["ip", "mptcp", "help"], capture_output=True, text=True, check=False)
    return "endpoint" in told.stdout + told.stderr


def transfer(network: longhaul.Network, seconds: float, warm_up: float) -> "subprocess.Popen[str]":
    receiver = network.start("b", ["python3", "-c", RECEIVE, str(warm_up)], stdout=subprocess.PIPE)
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "listening\n"
    network.start("a", ["python3", "-c", SEND, str(seconds)], stdout=subprocess.DEVNULL)
    return receiver


@pytest.mark.waiting
@pytest.mark.skipif(not has_mptcp(), reason="this kernel has no multipath TCP")
def test_the_path_manager_knows_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    limits = "{subflows: 2, add_addr_accepted: 1, endpoints: {a: signal, a.r2: [subflow, backup]}}"
    text = TWO_PATHS.replace("a: {kind: host}", f"a: {{kind: host, tcp: {{mptcp: {limits}}}}}", 1)
    (tmp_path / "two.yaml").write_text(text)
    with longhaul.up(tmp_path / "two.yaml", runs=tmp_path / "runs") as network:
        told = network.run("a", ["ip", "mptcp", "limits", "show"]).stdout
        assert "add_addr_accepted 1 subflows 2" in told
        flags = sorted(
            (line.split(" dev ")[1].split()[0], "backup" in line, "signal" in line, "subflow" in line)
            for line in network.run("a", ["ip", "mptcp", "endpoint", "show"]).stdout.splitlines()
        )
        # IPv4 and IPv6.
        assert flags == [("eth0", False, True, False)] * 2 + [("eth1", True, False, True)] * 2
        # What it is by itself: further addresses are announced.
        told = network.run("b", ["ip", "mptcp", "endpoint", "show"]).stdout
        assert len(re.findall("signal dev eth1", told)) == 2
        assert "eth0" not in told


@pytest.mark.waiting
@pytest.mark.skipif(not has_mptcp(), reason="this kernel has no multipath TCP")
def test_a_host_with_more_addresses_than_the_path_manager_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    routers = range(10)
    lines = ["version: 1", "name: star", "nodes:", "  a: {kind: host}", "  b: {kind: host, attach: r0}"]
    lines += [f"  r{each}: {{kind: router}}" for each in routers]
    lines += ["links:", *(f"  a-r{each}: {{endpoints: [a, r{each}], delay: 1ms}}" for each in routers)]
    (tmp_path / "star.yaml").write_text("\n".join([*lines, ""]))
    with longhaul.up(tmp_path / "star.yaml", runs=tmp_path / "runs") as network:
        told = network.run("a", ["ip", "mptcp", "endpoint", "show"]).stdout
        assert len(re.findall("signal dev eth[1-4]", told)) == len(told.splitlines()) == 8
        assert network.run("a", ["ping", "-c", "1", "b"]).returncode == 0


@pytest.mark.waiting
def test_traffic_goes_to_the_interface_that_it_names(tmp_path: Path) -> None:
    """Every kind of generator: ping, iperf3, our datagrams and requests."""
    traffic = """
duration: 6s
traffic:
  echo: {kind: ping, from: a, to: [b, b.r2], every: 100ms}
  bulk: {kind: tcp, from: a, to: b.r2, cc: cubic, stop: 4s}
  data: {kind: udp, from: a, to: b.r2, rate: 1Mbit, size: 1000B, stop: 5s}
  asks: {kind: requests, from: a, to: b.r2, size: 1kB, gap: 100ms, cc: cubic, stop: 4s}
"""
    (tmp_path / "two.yaml").write_text(TWO_PATHS + traffic)
    result = longhaul.run_live(tmp_path / "two.yaml", runs=tmp_path / "runs")
    rtt_ns = {each["to"]: each["rtt_min_ns"] for each in result.summary["probes"]}
    assert 20e6 <= rtt_ns["b"] < 35e6
    assert 40e6 <= rtt_ns["b.r2"] < 70e6
    counted = {flow["name"]: flow["bytes"] for flow in result.summary["flows"]}
    assert counted["bulk"] > 2e6
    assert counted["data"] == pytest.approx(5 * 1e6 / 8, rel=0.1)
    assert counted["asks"] > 10_000
    sent = {name: result.link(name)["packets"]["offered"] for name in ("a-r1", "a-r2")}
    assert sent["a-r1"] <= 60, "pings alone"
    assert sent["a-r2"] > sum(counted.values()) / 1500
    assert {row["to"] for row in result.summary["flows"]} == {"b.r2"}
    assert set(result.table("connections")["to"]) <= {"a", "b"}


@pytest.mark.skipif(not has_mptcp(), reason="this kernel has no multipath TCP")
@pytest.mark.skipif(shutil.which("mptcpize") is None, reason="mptcpize is not installed")
def test_traffic_uses_all_paths_and_is_counted_on_each(tmp_path: Path) -> None:
    traffic = "traffic: {bulk: {kind: tcp, from: a, to: b, mptcp: true, cc: cubic}}\nduration: 8s\n"
    (tmp_path / "two.yaml").write_text(TWO_PATHS + traffic)
    result = longhaul.run_live(tmp_path / "two.yaml", runs=tmp_path / "runs")
    (flow,) = result.summary["flows"]
    assert flow["goodput_bits_per_s"] > 1.05 * SLOWER_BITS_PER_S
    assert flow["algorithms"] == ["cubic"]
    (bytes_,) = flow["checked"]
    assert bytes_["counted"] == pytest.approx(bytes_["reported"], rel=0.05)
    connections = result.table("connections")
    received = zip(connections["from"], connections["new_bytes"], strict=True)
    assert sum(source == "a" and new_bytes > 1e6 for source, new_bytes in received) == 2


@pytest.mark.skipif(not has_mptcp(), reason="this kernel has no multipath TCP")
def test_multipath_tcp_adds_the_rates_of_two_paths(network: longhaul.Network) -> None:
    receiver = transfer(network, 10, 4)
    out, _ = receiver.communicate(timeout=60)
    _before, after, seconds = (float(each) for each in out.split())
    # More than the faster path could carry by itself, whose headers take a thirtieth. A quiet machine
    # comes to 0.9 of the sum; tests/virtual has the exact figure.
    assert after * 8 / seconds > FASTER_BITS_PER_S


@pytest.mark.waiting
@pytest.mark.skipif(not has_mptcp(), reason="this kernel has no multipath TCP")
def test_a_connection_of_multipath_tcp_outlives_one_of_its_paths(network: longhaul.Network) -> None:
    receiver = transfer(network, 14, 9)
    network.run("a", ["sleep", "2"])
    network.set("a-r1", up=False)
    out, _ = receiver.communicate(timeout=60)
    _before, after, seconds = (float(each) for each in out.split())
    # Linux gives a path up after some retransmission timeouts, which takes it seconds.
    assert after * 8 / seconds > 0.3 * SLOWER_BITS_PER_S
