"""Hosts that forward: static routes, and a gateway with NAT, a firewall, a proxy and tunnels."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import longhaul

pytestmark = pytest.mark.waiting

CHAIN = """
version: 1
name: chain
duration: 2s
nodes:
  left: {kind: host, forward: true}
  right: {kind: host, forward: true}
  core: {kind: router}
  a1..2: {kind: host, attach: left}
  b: {kind: host, attach: right}
links:
  left-core: {endpoints: [left, core], delay: 5ms}
  core-right: {endpoints: [core, right], delay: 5ms}
traffic:
  echo: {kind: ping, from: a1, to: b, every: 20ms}
expect:
  - {metric: probes.echo.b.rtt.min, min: 20ms, max: 40ms}
  - {metric: links.core-right.forward.lost, equals: 0}
"""
GATEWAY = """
version: 1
name: gateway
nodes:
  inside: {kind: host, attach: gate}
  gate: {kind: host, forward: true}
  core: {kind: router}
  server: {kind: host, attach: core}
links:
  uplink: {endpoints: [gate, core], delay: 2ms}
"""
ECHO = """
import socket
server = socket.create_server(("", 7000))
while True:
    connection, peer = server.accept()
    connection.sendall(peer[0].encode())
    connection.close()
"""
IP_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
CONNECT = """
import socket, sys
print(socket.create_connection(("server", int(sys.argv[1])), timeout=2).recv(100).decode())
"""


@pytest.fixture(autouse=True)
def _own_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[longhaul.Network]:
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    with longhaul.up(tmp_path / "gateway.yaml", runs=tmp_path / "runs") as network:
        yield network


@pytest.fixture
def forwarding_machine() -> Iterator[None]:
    """The machine forwards packets, as Docker sets it; new network namespaces inherit that."""
    before = IP_FORWARD.read_text()
    try:
        IP_FORWARD.write_text("1")
    except OSError:
        pytest.skip("sysctls of the machine are read-only")
    yield
    IP_FORWARD.write_text(before)


def test_hosts_do_not_inherit_forwarding_from_the_machine(forwarding_machine: None, tmp_path: Path) -> None:
    assert forwarding_machine is None
    (tmp_path / "gateway.yaml").write_text(GATEWAY)
    with longhaul.up(tmp_path / "gateway.yaml", runs=tmp_path / "runs") as network:
        values = {host: network.run(host, ["cat", str(IP_FORWARD)]).stdout for host in ("gate", "server")}
    assert values == {"gate": "1\n", "server": "0\n"}


def needs(*programs: str) -> pytest.MarkDecorator:
    absent = [
        program for program in programs if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None
    ]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed")


def output(network: longhaul.Network, host: str, *argv: str) -> str:
    return network.run(host, [*argv]).stdout


def address(network: longhaul.Network, name: str) -> str:
    return output(network, "gate", "getent", "ahostsv4", name).split()[0]


def wait_for_port(network: longhaul.Network, host: str, port: int) -> None:
    script = f"until ss -Hltn 'sport = :{port}' | grep -q .; do sleep 0.1; done"
    output(network, host, "timeout", "20", "sh", "-c", script)


def serve_peer_address(network: longhaul.Network) -> None:
    """Let the server tell everyone who connects the address that it sees."""
    network.start("server", ["python3", "-c", ECHO], stdout=subprocess.DEVNULL)
    wait_for_port(network, "server", 7000)


def seen_by_server(network: longhaul.Network, host: str) -> str:
    return output(network, host, "python3", "-c", CONNECT, "7000").strip()


def test_kernels_of_hosts_forward_along_the_shortest_paths_live_as_simulated(tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN)
    live = longhaul.run_live(tmp_path / "chain.yaml", runs=tmp_path / "runs", report=False)
    simulated = longhaul.run_sim(tmp_path / "chain.yaml", runs=tmp_path / "runs", report=False)
    for run in (live, simulated):
        assert run.failed == ()


def test_a_forwarding_host_counts_as_a_hop_and_answers_for_itself(tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text(CHAIN.partition("traffic:")[0].replace("duration: 2s\n", ""))
    with longhaul.up(tmp_path / "chain.yaml", runs=tmp_path / "runs") as network:
        for version in ("-4", "-6"):
            pinged = output(network, "a1", "ping", version, "-n", "-c", "3", "-i", "0.1", "b")
            assert "ttl=61" in pinged, "two kernels and the router of the model"
            assert min(float(each) for each in re.findall(r"time=([\d.]+)", pinged)) >= 20
        assert "ttl=63" in output(network, "a1", "ping", "-n", "-c", "1", "a2")
        expired = network.run("a1", ["ping", "-4", "-n", "-c", "1", "-t", "1", "b"], check=False).stdout
        left = output(network, "left", "hostname", "-I").split()
        assert "Time to live exceeded" in expired
        assert any(f"From {each}" in expired for each in left)
        expired = network.run("a1", ["ping", "-4", "-c", "1", "-t", "2", "b"], check=False).stdout
        assert "From core" in expired
        # Unknown destinations end at the first router, whose kernel has no route to them.
        unknown = network.run("a1", ["ping", "-n", "-c", "1", "192.0.2.1"], check=False).stdout
        assert "Destination Net Unreachable" in unknown
        # A neighbour of the wire hears multicast of link-local scope.
        groups = output(network, "left", "ping", "-6", "-n", "-c", "2", "-i", "0.2", "ff02::1%eth0")
        assert "2 received" in groups


@needs("nft")
def test_a_gateway_translates_addresses_and_filters(gateway: longhaul.Network) -> None:
    serve_peer_address(gateway)
    assert seen_by_server(gateway, "inside").endswith(address(gateway, "inside"))
    output(
        gateway,
        "gate",
        "nft",
        "table ip nat { chain out { type nat hook postrouting priority srcnat; oifname eth1 masquerade; }; };"
        "table ip filter { chain pass { type filter hook forward priority filter;"
        " tcp dport 7001 reject with tcp reset; }; }",
    )
    outside = address(gateway, "gate.core")
    assert seen_by_server(gateway, "inside").endswith(outside)
    pinged = output(gateway, "inside", "ping", "-4", "-n", "-c", "3", "-i", "0.1", "server")
    assert "3 received" in pinged
    gateway.start("server", ["python3", "-c", ECHO.replace("7000", "7001")], stdout=subprocess.DEVNULL)
    wait_for_port(gateway, "server", 7001)
    refused = gateway.run("inside", ["python3", "-c", CONNECT, "7001"], check=False)
    assert refused.returncode == 1
    assert "ConnectionRefusedError" in refused.stderr
    assert outside in output(gateway, "gate", "python3", "-c", CONNECT, "7001"), "the gate's own packets pass"


@needs("nft")
def test_the_guide_translates_addresses_with_its_own_commands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/routers.md").read_text()
    nodes = re.search(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    block = re.search(r'^```console title="gate.sh"\n(.*?)^```', page, re.MULTILINE | re.DOTALL)
    assert nodes
    assert block
    (tmp_path / "gate.yaml").write_text(f"version: 1\nname: gate\n{nodes[1]}")
    commands = block[1].replace("# longhaul", f"{sys.executable} -m longhaul.cli.main")
    done = subprocess.run(
        ["bash", "-ec", commands], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("3 received") == 2
    assert "masquerade" in done.stdout


@needs("tinyproxy", "curl")
def test_a_proxy_on_a_gateway_connects_for_its_clients(gateway: longhaul.Network, tmp_path: Path) -> None:
    configuration = tmp_path / "proxy.conf"
    configuration.write_text("Port 8888\nTimeout 60\nMaxClients 10\n")
    (tmp_path / "page.html").write_text("hello from afar\n")
    web = ["python3", "-m", "http.server", "80", "--directory", str(tmp_path)]
    gateway.start("server", web, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    gateway.start("gate", ["tinyproxy", "-d", "-c", str(configuration)], stdout=subprocess.DEVNULL)
    wait_for_port(gateway, "server", 80)
    wait_for_port(gateway, "gate", 8888)
    fetched = output(
        gateway, "inside", "curl", "-sS", "-i", "-x", "http://gate:8888", "http://server/page.html"
    )
    assert "hello from afar" in fetched
    assert "tinyproxy" in fetched


@needs("wireguard-go", "wg")
def test_wireguard_in_user_space_carries_a_tunnel_through_a_gateway(
    gateway: longhaul.Network, tmp_path: Path
) -> None:
    keys = {}
    for host in ("inside", "server"):
        make = f"wg genkey | tee {tmp_path / host} | wg pubkey"
        keys[host] = output(gateway, host, "sh", "-c", make).strip()
        argv = ["wireguard-go", "-f", f"wg-{host}"]
        gateway.start(host, argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for host, other, own in (("inside", "server", 1), ("server", "inside", 2)):
        name = f"wg-{host}"
        script = f"""
        until ip link show {name} >/dev/null 2>&1 && [ -S /run/wireguard/{name}.sock ]; do sleep 0.1; done
        wg set {name} listen-port 51820 private-key {tmp_path / host} peer {keys[other]} \\
            endpoint {address(gateway, other)}:51820 allowed-ips 172.16.0.0/24
        ip address add 172.16.0.{own}/24 dev {name}
        ip link set {name} up mtu 1420
        """
        output(gateway, host, "timeout", "20", "sh", "-ec", script)
    pinged = output(gateway, "inside", "ping", "-n", "-c", "5", "-i", "0.2", "172.16.0.2")
    received = [float(each) for each in re.findall(r"time=([\d.]+)", pinged)]
    assert len(received) >= 4
    assert min(received) >= 4


@needs("openvpn")
def test_openvpn_carries_a_tunnel_through_a_gateway(gateway: longhaul.Network, tmp_path: Path) -> None:
    key = tmp_path / "key"
    output(gateway, "gate", "openvpn", "--genkey", "secret", str(key))
    common = [
        "--dev",
        "tun9",
        "--cipher",
        "AES-256-CBC",
        "--secret",
        str(key),
        "--proto",
        "udp",
        "--ping",
        "1",
    ]
    for host, own, far, others in (
        ("server", "172.17.0.2", "172.17.0.1", []),
        ("inside", "172.17.0.1", "172.17.0.2", ["--remote", address(gateway, "server"), "--nobind"]),
    ):
        argv = ["openvpn", *common, "--ifconfig", own, far, *others]
        gateway.start(host, argv, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while True:
        tried = gateway.run(
            "inside", ["ping", "-n", "-c", "2", "-i", "0.2", "-W", "1", "172.17.0.2"], check=False
        )
        if tried.returncode == 0:
            break
        assert time.monotonic() < deadline, tried.stdout + tried.stderr
    assert min(float(each) for each in re.findall(r"time=([\d.]+)", tried.stdout)) >= 4
