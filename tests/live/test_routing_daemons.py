"""Routing daemons on hosts that forward: OSPF and BGP converge, and reroute around a link that is down."""

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import longhaul

ROOT = Path(__file__).parents[2]
FRR = Path("/usr/lib/frr")
TRIANGLE = """
version: 1
name: triangle
addresses: ipv4
nodes:
  r1..3: {kind: host, forward: true, routing: none}
  a: {kind: host, attach: r1}
  b: {kind: host, attach: r3}
links:
  r1-r2: {endpoints: [r1, r2], delay: 5ms}
  r2-r3: {endpoints: [r2, r3], delay: 5ms}
  r1-r3: {endpoints: [r1, r3], delay: 1ms}
programs:
  zebra: {run: sh frr.sh zebra, each: [r1..3], service: true}
  DAEMON: {run: sh frr.sh DAEMON, each: [r1..3], service: true}
"""
OSPF = """
interface eth0
 ip ospf area 0
 ip ospf hello-interval 1
 ip ospf dead-interval 3
interface eth1
 ip ospf area 0
 ip ospf hello-interval 1
 ip ospf dead-interval 3
interface eth2
 ip ospf area 0
 ip ospf hello-interval 1
 ip ospf dead-interval 3
router ospf
 redistribute connected
"""
CONVERGED_S = 45

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(
        not (FRR / "zebra").exists() and shutil.which("bird", path="/usr/sbin:/usr/bin") is None,
        reason="neither FRR nor BIRD is installed",
    ),
]


def bgp(number: int, neighbours: Sequence[tuple[int, str]]) -> str:
    lines = [f"router bgp 6500{number}", " no bgp ebgp-requires-policy"]
    for other, address in neighbours:
        lines += [f" neighbor {address} remote-as 6500{other}", f" neighbor {address} timers 1 3"]
        lines += [f" neighbor {address} timers connect 1"]
    return "\n".join([*lines, " address-family ipv4 unicast", "  redistribute connected", ""])


def script() -> str:
    """The guide's own."""
    page = (ROOT / "docs/how-to/routers.md").read_text()
    found = re.search(r'^```sh title="frr.sh"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # FRR reads its files as a user of its own.
    for each in (tmp_path, *tmp_path.parents):
        if each.stat().st_mode & 0o005 != 0o005:
            each.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "frr.sh").write_text(script())
    for host in ("r1", "r2", "r3"):
        (tmp_path / f"zebra.{host}.conf").write_text("")
    return tmp_path


def path_of(network: longhaul.Network) -> int:
    """How many routers are on the path from a to b; 0 if there is none."""
    argv = ["ping", "-n", "-c", "1", "-W", "1", "b"]
    found = re.search(r"ttl=(\d+)", network.run("a", argv, check=False).stdout)
    return 64 - int(found[1]) if found else 0


def wait_for_path(network: longhaul.Network, routers: int) -> None:
    deadline = time.monotonic() + CONVERGED_S
    while (found := path_of(network)) != routers:
        assert time.monotonic() < deadline, f"{found} routers in place of {routers}"
        time.sleep(0.3)


@pytest.mark.skipif(not (FRR / "bgpd").exists(), reason="FRR is not installed")
@pytest.mark.parametrize("daemon", ["ospfd", "bgpd"])
def test_frr_converges_and_takes_the_detour_while_a_link_is_down(folder: Path, daemon: str) -> None:
    (folder / "triangle.yaml").write_text(TRIANGLE.replace("DAEMON", daemon))
    far = {
        1: [(2, "10.2.255.254"), (3, "10.3.254.2")],
        2: [(1, "10.1.254.1"), (3, "10.3.254.1")],
        3: [(2, "10.2.254.1"), (1, "10.1.254.2")],
    }
    for number, neighbours in far.items():
        text = OSPF if daemon == "ospfd" else bgp(number, neighbours)
        (folder / f"{daemon}.r{number}.conf").write_text(text)
    with longhaul.up(folder / "triangle.yaml", runs=folder / "runs") as network:
        wait_for_path(network, 2)
        # The connection survives the change of routes.
        server = network.start("b", ["python3", "-c", SERVE], stdout=subprocess.PIPE)
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        client = network.start("a", ["python3", "-c", SEND], stdout=subprocess.PIPE)
        # A router without a route refuses new connections; those that are established continue.
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        network.set("r1-r3", up=False)
        wait_for_path(network, 3)
        network.set("r1-r3", up=True)
        wait_for_path(network, 2)
        assert client.wait(timeout=60) == 0
        out, _ = server.communicate(timeout=60)
        assert int(out) == 100 * 1000


SERVE = """
import socket
server = socket.create_server(("", 5001))
print("listening", flush=True)
connection, _ = server.accept()
count = 0
while data := connection.recv(1 << 16):
    count += len(data)
print(count)
"""
SEND = """
import socket, time
connection = socket.create_connection(("b", 5001))
print("connected", flush=True)
for _ in range(100):
    connection.sendall(bytes(1000))
    time.sleep(0.1)
"""


@pytest.mark.skipif(shutil.which("bird", path="/usr/sbin:/usr/bin") is None, reason="BIRD is not installed")
def test_the_ring_of_the_guide_reroutes_while_its_link_is_down(folder: Path) -> None:
    result = longhaul.run_live(ROOT / "scenarios/ospf-ring.yaml", runs=folder / "runs", report=False)
    assert result.failed == ()
    (ping,) = result.summary["probes"]
    # The median echo went the long way round, which the shortest path by delay does not.
    assert ping["rtt_max_ns"] >= 29_000_000, ping
    # Without the detour, all of 5 s would be lost.
    assert ping["lost_down"] < 50, ping


@pytest.mark.skipif(not (FRR / "bgpd").exists(), reason="FRR is not installed")
def test_bgp_of_the_guide_takes_the_fibre_while_the_dish_is_down(folder: Path) -> None:
    result = longhaul.run_live(
        ROOT / "scenarios/bgp-over-satellites.yaml", runs=folder / "runs", report=False
    )
    assert result.failed == ()
    (ping,) = result.summary["probes"]
    # The hold time is 3 s of the 6 s; then packets leave by fibre.
    assert 0 < ping["lost_down"] < 50, ping
    probes = result.table("probes")
    rtts = [(t, rtt / 1e6) for t, rtt in zip(probes["t_s"], probes["rtt_ns"], strict=True) if rtt is not None]
    assert all(42 <= rtt < 72 for t, rtt in rtts if t < 11)
    assert sum(rtt >= 72 for t, rtt in rtts if 14 < t < 17) >= 20
    assert any(rtt < 60 for t, rtt in rtts if t > 17), "it stays with the fibre"
