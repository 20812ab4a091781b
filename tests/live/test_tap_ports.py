"""TAP devices as ports: programs and virtual machines behind them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from guest_machine import GuestMachine, require_guest_machines
from live_ports import require_no_unintended_drops, results, run

import longhaul

pytestmark = [
    pytest.mark.waiting,
    pytest.mark.skipif(os.geteuid() != 0, reason="ports that are not the run's own need root"),
]

TAP = "lhtap0"
BESIDE = f"""
version: 1
name: beside
nodes:
  r: {{kind: router}}
  vm: {{kind: host, attach: r, profile: wan, port: {{tap: {TAP}, subnets: 192.168.3.0/24}}}}
  b: {{kind: host, attach: r}}
profiles: {{wan: {{delay: 10ms}}}}
"""


@pytest.fixture(params=[()])
def tap(request: pytest.FixtureRequest) -> Iterator[str]:
    """A persistent TAP device."""
    run("ip", "tuntap", "add", "dev", TAP, "mode", "tap", *request.param)
    try:
        run("ip", "link", "set", TAP, "up")
        yield TAP
    finally:
        run("ip", "link", "delete", TAP)


@pytest.fixture
def network(tap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[longhaul.Network]:
    """A network that is up, with the TAP as the port of its host ``vm``."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = tmp_path / "beside.yaml"
    path.write_text(BESIDE)
    before = run("ip", "-details", "link", "show", tap)
    with longhaul.up(path, runs=tmp_path / "runs") as up:
        yield up
    assert run("ip", "-details", "link", "show", tap) == before


def lost_packets(network: longhaul.Network, link: str) -> int:
    links = results(network, "summary.json")["links"]
    return sum(each["packets"]["lost"] for each in links if each["name"] == link)


def answered(text: str) -> tuple[int, int, float]:
    """Packets of a ping that were sent and answered, and their least round-trip time in milliseconds."""
    counts = re.search(r"(\d+) packets transmitted, (\d+) (?:packets )?received", text)
    assert counts, text
    return int(counts[1]), int(counts[2]), min(float(each) for each in re.findall(r"time=([\d.]+)", text))


# A host of a few lines on a TAP: it answers for its address, as ARP (RFC 826) and ICMP (RFC 792) have it.
PROGRAM = """
import fcntl, os, struct, sys
MAC, ADDRESS = bytes.fromhex("020000000301"), bytes([192, 168, 3, 2])
tap = os.open("/dev/net/tun", os.O_RDWR)
# TUNSETIFF: IFF_TAP, IFF_NO_PI
fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", sys.argv[1].encode(), 0x1002))
print("attached", flush=True)
while True:
    frame = os.read(tap, 2048)
    kind, packet = frame[12:14], frame[14:]
    if kind == b"\\x08\\x06" and packet[24:28] == ADDRESS and packet[7] == 1:
        reply = packet[:7] + b"\\x02" + MAC + ADDRESS + packet[8:18]
        os.write(tap, frame[6:12] + MAC + kind + reply)
    elif kind == b"\\x08\\x00" and packet[16:20] == ADDRESS and packet[9] == 1 and packet[20] == 8:
        # The checksum has no type 8 any more.
        total = struct.unpack("!H", packet[22:24])[0] + 0x0800
        total = (total & 0xFFFF) + (total >> 16)
        icmp = b"\\0\\0" + struct.pack("!H", total) + packet[24:]
        os.write(tap, frame[6:12] + MAC + kind + packet[:12] + packet[16:20] + packet[12:16] + icmp)
"""


@pytest.fixture
def program(tap: str) -> Iterator[None]:
    words = [sys.executable, "-I", "-c", PROGRAM, tap]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "attached\n"
            yield
        finally:
            process.kill()


@pytest.mark.usefixtures("program")
def test_a_program_on_a_tap_is_a_host_of_the_network(network: longhaul.Network) -> None:
    ping = ["ping", "-n", "-q", "-c", "1", "-W", "2", "192.168.3.2"]
    network.run("b", ping)  # The first packet waits for the answer to ARP.
    out = network.run("b", ["ping", "-n", "-c", "10", "-i", "0.05", "192.168.3.2"]).stdout
    sent, received, rtt_ms = answered(out)
    assert sent == received
    assert 20 <= rtt_ms < 35
    network.set("vm-r", loss="10%")
    out = network.run(
        "b", ["ping", "-n", "-c", "300", "-i", "0.005", "-W", "1", "192.168.3.2"], check=False
    ).stdout
    sent, received, _ = answered(out)
    assert 0 < sent - received < 150
    network.down()
    assert sent - received == lost_packets(network, "vm-r")
    require_no_unintended_drops(network)
    port = results(network, "fidelity.json")["engine"]["ports"]["vm"]
    assert port["unresolved_packets"] == port["receive_dropped_packets"] == 0
    assert port["read_delay"]["count"] > 0


@pytest.fixture
def guest(request: pytest.FixtureRequest, tap: str, tmp_path: Path) -> Iterator[GuestMachine]:
    """A virtual machine of Debian's kernel on the TAP."""
    require_guest_machines()
    (folder := tmp_path / "guest").mkdir()
    machine = GuestMachine(folder, tap, queues=getattr(request, "param", 1))
    try:
        machine.run("ip address add 192.168.3.2/24 dev eth0 && ip link set eth0 up")
        machine.run("ip route add default via 192.168.3.1")
        yield machine
    finally:
        machine.stop()


MEGABYTES = 4
SERVE = f"""
import socket
with socket.create_server(("", 5001)) as server:
    for _ in range(2):
        connection, _ = server.accept()
        with connection:
            if connection.recv(4) == b"get\\n":
                connection.sendall(bytes({MEGABYTES} << 20))
                continue
            count = 4
            while part := connection.recv(1 << 16):
                count += len(part)
            print(count, flush=True)
"""


def transfers(guest: GuestMachine, network: longhaul.Network, host: str) -> None:
    """A TCP connection in each direction brings all bytes."""
    with network.start("b", [sys.executable, "-I", "-c", SERVE], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        while ":5001 " not in network.run("b", ["ss", "-ltn"]).stdout:
            time.sleep(0.05)
        assert int(guest.run(f"echo get | nc {host} 5001 | wc -c")) == MEGABYTES << 20
        guest.run(f"head -c {MEGABYTES << 20} /dev/zero | nc {host} 5001")
        assert int(server.stdout.read()) == MEGABYTES << 20


@pytest.mark.parametrize(
    ("tap", "guest"),
    [(("vnet_hdr",), 1), (("vnet_hdr", "multi_queue"), 2)],
    indirect=True,
    ids=["1 queue", "2 queues"],
)
def test_a_virtual_machine_on_a_tap_is_a_host_of_the_network(
    network: longhaul.Network, guest: GuestMachine
) -> None:
    host = network.run("b", ["getent", "ahostsv4", "b"]).stdout.split()[0]
    guest.run(f"ping -c 1 -W 2 {host}")  # The first packet waits for the answer to ARP.
    sent, received, rtt_ms = answered(guest.run(f"ping -c 10 -i 0.1 {host}"))
    assert sent == received
    assert 20 <= rtt_ms < 40
    transfers(guest, network, host)
    network.set("vm-r", loss="10%")
    sent, received, _ = answered(guest.run(f"ping -c 100 -i 0.01 -W 2 {host} || true"))
    assert 0 < sent - received < 50
    network.down()
    assert sent - received == lost_packets(network, "vm-r")
    require_no_unintended_drops(network)
    port = results(network, "fidelity.json")["engine"]["ports"]["vm"]
    assert port["unresolved_packets"] == port["receive_dropped_packets"] == 0
    # What is due at once is one super-packet, by the virtio header.
    assert port["writes"] < port["written_packets"] / 2
