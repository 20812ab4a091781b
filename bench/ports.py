"""The cost of ports: two clusters behind Ethernet interfaces, routed and bridged, beside hosts of the run.

Each cluster is a switch with two hosts, of veth pairs, which know nothing of the run. All three kinds of
hosts are at the ends of the same link, interleaved. Writes ``bench/ports.json``; needs root.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from figures import Row, measure_all, row

import longhaul

SCENARIO = """
version: 1
name: ports
addresses: ipv4
nodes:
  w: {kind: router}
  e: {kind: router}
ENDS
links:
  wan: {endpoints: [w, e], MODEL}
"""
ENDS = {
    "hosts of the run": "  w1..2: {kind: host, attach: w}\n  e1..2: {kind: host, attach: e}",
    "routed interfaces": (
        "  west: {kind: host, attach: w, port: {nic: lhbw0, subnets: [192.168.1.0/24]}}\n"
        "  east: {kind: host, attach: e, port: {nic: lhbe0, subnets: [192.168.2.0/24]}}"
    ),
    "bridged interfaces": (
        "  west: {kind: host, attach: w, port: {nic: lhbw0, mode: bridge}}\n"
        "  east: {kind: host, attach: e, port: {nic: lhbe0, mode: bridge}}"
    ),
}
SIDES = {"w": 1, "e": 2}
RATE = 10**9
DELAY_MS = 10
PING_DELAY_US = 400
"""ping prints round trips below 1 ms to the microsecond."""
PINGS = 400
SECONDS = 6
PAYLOAD = 1_472
UDP_BITS_PER_S = 900_000_000
FAST = UDP_BITS_PER_S // (8 * 1_500)
"""Datagrams of a second."""
DATAGRAMS = 20_000
RECEIVE = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
    stream.setsockopt(socket.SOL_SOCKET, 33, 500 << 20)  # SO_RCVBUFFORCE: what is not read in time waits.
    stream.bind(("", 5001))
    stream.settimeout(2)
    count, buffer = 0, bytearray(2048)
    print("listening", flush=True)
    try:
        while stream.recv_into(buffer):
            count += 1
    except TimeoutError:
        print(count, flush=True)
"""
SEND = """
import socket, sys, time
address, count, payload, a_second = sys.argv[1], *map(int, sys.argv[2:])
data = bytes(payload)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
    stream.connect((address, 5001))
    due = time.monotonic()
    for number in range(count):
        stream.send(data)
        if number % 20 == 19:
            # A sender that was held up sends no burst, which the queue of the link would drop.
            due = max(due + 20 / a_second, time.monotonic())
            while time.monotonic() < due:
                pass
"""


def run(*words: str, check: bool = True) -> str:
    """A command's output."""
    return subprocess.run(words, capture_output=True, text=True, check=check).stdout


def inside(namespace: str, *words: str) -> list[str]:
    """The command line that runs ``words`` in a namespace."""
    return ["ip", "netns", "exec", namespace, *words]


@contextmanager
def clusters() -> Iterator[None]:
    """The interfaces ``lhbw0`` and ``lhbe0``, and behind each a switch with two hosts.

    Hosts have one address in a network of their cluster, for routed interfaces, and one in a network that
    both clusters share, for bridged ones.
    """
    names = [f"lhb{side}{which}" for side in SIDES for which in ("s", "1", "2")]
    try:
        for side, number in SIDES.items():
            switch = f"lhb{side}s"
            for which in ("s", "1", "2"):
                run("ip", "netns", "add", f"lhb{side}{which}")
                run(*inside(f"lhb{side}{which}", "ip", "link", "set", "lo", "up"))
            run(*inside(switch, "ip", "link", "add", "br0", "up", "type", "bridge"))
            run("ip", "link", "add", f"lhb{side}0", "type", "veth", "peer", "name", "up0", "netns", switch)
            run("ip", "link", "set", f"lhb{side}0", "up")
            run(*inside(switch, "ip", "link", "set", "up0", "master", "br0", "up"))
            for which in ("1", "2"):
                host = f"lhb{side}{which}"
                pair = ("type", "veth", "peer", "name", "eth0", "netns", host)
                run(*inside(switch, "ip", "link", "add", host, *pair))
                run(*inside(switch, "ip", "link", "set", host, "master", "br0", "up"))
                for address in (f"192.168.{number}.1{which}/24", f"10.9.0.{number}{which}/24"):
                    run(*inside(host, "ip", "address", "add", address, "dev", "eth0"))
                run(*inside(host, "ip", "link", "set", "eth0", "up"))
                run(*inside(host, "ip", "route", "add", "default", "via", f"192.168.{number}.1"))
        yield
    finally:
        for side in SIDES:
            run("ip", "link", "delete", f"lhb{side}0", check=False)
        for name in names:
            run("ip", "netns", "delete", name, check=False)


@dataclass
class Ends:
    """Hosts at both ends of a network of a kind."""

    kind: str
    network: longhaul.Network
    lost: int = 0
    """Packets that the link has lost on the way there, once the network is down."""

    def start(self, host: str, *words: str) -> "subprocess.Popen[str]":
        """Start a program on ``w1``, ``w2``, ``e1`` or ``e2``."""
        if self.kind == "hosts of the run":
            process: subprocess.Popen[str] = self.network.start(host, words, stdout=subprocess.PIPE)
            return process
        return subprocess.Popen(inside(f"lhb{host}", *words), stdout=subprocess.PIPE, text=True)

    def output(self, host: str, *words: str) -> str:
        """What a program prints."""
        process = self.start(host, *words)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, (words, out)
        return out

    def address(self, host: str) -> str:
        """The address at which the others find a host."""
        if self.kind == "hosts of the run":
            return self.network.run("w1", ["getent", "ahostsv4", host]).stdout.split()[0]
        number, which = SIDES[host[0]], host[1]
        routed = self.kind == "routed interfaces"
        return f"192.168.{number}.1{which}" if routed else f"10.9.0.{number}{which}"

    def iperf(self, *words: str) -> Any:
        """iperf3 from w1 to e1."""
        server = self.start("e1", "iperf3", "-s", "-1")
        deadline = time.monotonic() + 10
        while "5201" not in self.output("e1", "ss", "-ltn"):
            assert time.monotonic() < deadline, "iperf3 does not listen"
            time.sleep(0.05)
        found = json.loads(self.output("w1", "iperf3", "-c", self.address("e1"), "--json", *words))
        server.communicate(timeout=30)
        return found


@contextmanager
def up(kind: str, model: str) -> Iterator[Ends]:
    """A network with ends of this kind, and a link of this model in between."""
    with tempfile.TemporaryDirectory(prefix="longhaul-ports-") as directory:
        path = Path(directory) / "ports.yaml"
        path.write_text(SCENARIO.replace("ENDS", ENDS[kind]).replace("MODEL", model), encoding="utf-8")
        with longhaul.up(path, name="bench-ports", runs=Path(directory) / "runs") as network:
            ends = Ends(kind, network)
            # Addresses are found before anything is measured.
            ends.output("w1", "ping", "-n", "-c", "3", "-i", "0.2", ends.address("e1"))
            yield ends
        links = json.loads((network.directory / "summary.json").read_text(encoding="utf-8"))["links"]
        ends.lost = next(
            each["packets"]["lost"] for each in links if (each["name"], each["way"]) == ("wan", "forward")
        )


def round_trips_us(text: str) -> list[float]:
    """The round trips that ping prints, in us."""
    found = [float(found) * 1e3 for found in re.findall(r"time=([\d.]+)", text)]
    assert len(found) == PINGS
    return found


def pings(kind: str) -> list[float]:
    """Round trips beyond twice the delay of the link, in us."""
    with up(kind, f"delay: {PING_DELAY_US}us") as ends:
        text = ends.output("w1", "ping", "-n", "-c", str(PINGS), "-i", "0.005", ends.address("e1"))
    return [rtt - 2 * PING_DELAY_US for rtt in round_trips_us(text)]


def direct_pings() -> list[float]:
    """Round trips in us between two hosts of a cluster, over its switch alone."""
    return round_trips_us(
        run(*inside("lhbw1", "ping", "-n", "-c", str(PINGS), "-i", "0.005", "192.168.1.12"))
    )


def tcp(kind: str) -> float:
    """Goodput of one flow at 1 Gbit/s without its first 2 s, as a share of the payload's rate."""
    with up(kind, f"delay: {DELAY_MS}ms, rate: {RATE // 10**9}Gbit") as ends:
        report = ends.iperf("-t", str(SECONDS), "-C", "cubic")
    rates = [each["sum"]["bits_per_second"] for each in report["intervals"][2:-1]]
    return sum(rates) / len(rates) / (RATE * 1448 / 1500)


def datagrams(kind: str, model: str, *, count: int, a_second: int, loss: str = "") -> tuple[int, int]:
    """How many datagrams are missing at e1, and how many the link says it has lost."""
    with up(kind, model) as ends:
        receiver = ends.start("e1", sys.executable, "-c", RECEIVE)
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening\n"
        if loss:
            ends.network.set("wan", loss=loss, way="forward")
        words = [str(each) for each in (count, PAYLOAD, a_second)]
        ends.output("w1", sys.executable, "-c", SEND, ends.address("e1"), *words)
        arrived = int(receiver.communicate(timeout=60)[0])
    return count - arrived, ends.lost


def ports(rounds: int) -> list[Row]:
    """Each kind in each round; medians, but sums of what was lost."""
    excess: dict[str, list[list[float]]] = {kind: [] for kind in ENDS}
    goodput: dict[str, list[float]] = {kind: [] for kind in ENDS}
    missing = dict.fromkeys(ENDS, 0)
    uncounted = dict.fromkeys(ENDS, 0)
    direct: list[float] = []
    delay = f"delay: {DELAY_MS}ms"
    with clusters():
        for _ in range(rounds):
            direct.append(median(direct_pings()))
            for kind in ENDS:
                excess[kind].append(pings(kind))
                goodput[kind].append(tcp(kind))
                missing[kind] += datagrams(kind, f"{delay}, rate: 1Gbit", count=FAST, a_second=FAST)[0]
                lost, counted = datagrams(kind, delay, count=DATAGRAMS, a_second=10_000, loss="1%")
                uncounted[kind] += abs(lost - counted)
    rows = [row("two hosts of a cluster over their switch, RTT", median(direct), "us", "", True)]
    rtt = f"RTT over 2 x {PING_DELAY_US} us"
    for kind in ENDS:
        p50, p99 = (median(float(np.percentile(each, q)) for each in excess[kind]) for q in (50, 99))
        share = median(goodput[kind])
        rows += [
            row(f"{kind}: {rtt}, p50", p50, "us", "within 150", abs(p50) <= 150),
            row(f"{kind}: {rtt}, p99", p99, "us", "", True),
            row(f"{kind}: TCP at 1 Gbit/s, of the payload's rate", share, "", "at least 0.99", share >= 0.99),
            row(f"{kind}: UDP at 900 Mbit/s, lost", missing[kind], "packets", "0", missing[kind] == 0),
            row(
                f"{kind}: 1 % loss, lost and not counted",
                uncounted[kind],
                "packets",
                "0",
                uncounted[kind] == 0,
            ),
        ]
    return rows


if __name__ == "__main__":
    measure_all(__doc__, {"ports": ports}, Path(__file__).parent / "ports.json")
