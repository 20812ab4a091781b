"""How fast and how sharp the relay is on this machine: beside plain proxies, and with many connections.

Throughputs are of iperf3 (cubic) over loopback; rounds are interleaved, and each ratio is of one round.
Latencies are by a program that reads the clock all the time and has both ends of all connections. Writes
``bench/relay.json`` and prints one line for each figure with its target. Missing
peers are left out: socat and haproxy are Debian packages, toxiproxy is built by Go's tools.
"""

import json
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

import gateways
from figures import Row, measure_all, row

# Aalborg to Odense and back: means of Longcut's authors, by the Network Weather Service (tables I and II).
AALBORG_ODENSE = "delay: 3.555ms, forward: {rate: 8.6Mbit}, reverse: {rate: 6.27Mbit}"
CONNECTIONS = {"one-thread": (2, 40, 400, 4_000), "paper": (2, 40)}
DELAYS_US = (250, 36_500)
SECONDS = 3


def throughput(rounds: int) -> list[Row]:
    """A relay without delay beside plain proxies."""
    peers = gateways.find_peers()
    ways: dict[str, gateways.Commands | None] = {"relay": gateways.ours(), "direct": None, **peers}
    rows = []
    for streams in (1, 8):
        rates: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, commands in ways.items():
                rates[name].append(goodput(commands, streams))
        label = f"{streams} connection{'s' if streams > 1 else ''}"
        for name, many in rates.items():
            rows.append(row(f"{name}, {label}", median(many) / 1e9, "Gbit/s", "", True))
        plain = [name for name in peers if name != "toxiproxy"]
        if plain:
            best = max(plain, key=lambda name: median(rates[name]))
            share = ratio(rates["relay"], rates[best])
            rows.append(row(f"  relay to {best}, the best plain", share, "", "at least 0.5", share >= 0.5))
        if "toxiproxy" in peers:
            share = ratio(rates["relay"], rates["toxiproxy"])
            rows.append(row("  relay to toxiproxy", share, "", "above 1", share > 1))
    return rows


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Of the same rounds."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def goodput(commands: gateways.Commands | None, streams: int) -> float:
    """Of iperf3 through a gateway, or straight, in bit/s."""
    target = gateways.free_port()
    with subprocess.Popen(
        ["iperf3", "-s", "-1", "-B", "127.0.0.2", "-p", str(target)], stdout=subprocess.DEVNULL
    ) as server:
        try:
            gateways.wait_for(target, server)
            if commands is None:
                return client("127.0.0.2", target, streams)
            with gateways.opened(commands, target) as (port, _):
                return client("127.0.0.1", port, streams)
        finally:
            server.terminate()


def client(host: str, port: int, streams: int) -> float:
    """One transfer."""
    argv = [
        "iperf3",
        "-c",
        host,
        "-p",
        str(port),
        "-C",
        "cubic",
        "-t",
        str(SECONDS),
        "-P",
        str(streams),
        "-J",
    ]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    report = json.loads(ended.stdout)
    if "error" in report:
        raise SystemExit(f"{' '.join(argv)}: {report['error']}")
    return float(report["end"]["sum_received"]["bits_per_second"])


def scalability(rounds: int) -> list[Row]:
    """Latency and use of the processor, for more and more connections (Longcut, figure 7).

    Other work on the machine disturbs maxima above all, and only ever for the worse: they are of the
    quietest round. All else is a median.
    """
    rows = []
    for algorithm, numbers in CONNECTIONS.items():
        runs: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
        for _ in range(rounds):
            for number in numbers:
                commands = gateways.ours(AALBORG_ODENSE, algorithm)
                runs[number].append(load(commands, number, messages_per_s(number), 4, "idle=3", "stamps"))
        spreads = {}
        for quantile, pick in (("p50", median), ("p99", median), ("max", min)):
            values = [pick(run["round_trip"][quantile] for run in runs[number]) / 1e6 for number in numbers]
            for number, value in zip(numbers, values, strict=True):
                label = f"{algorithm}, {number:,} connections, RTT {quantile}"
                rows.append(row(label, value, "ms", "", True))
            spreads[quantile] = (max(values) / min(values) - 1) * 100
        for quantile, spread in spreads.items():
            rows.append(
                row(f"{algorithm}, RTT {quantile}, most over least", spread, "%", "within 10", spread <= 10)
            )
        for number in numbers:
            rows += use(algorithm, number, runs[number])
    return rows


def messages_per_s(connections: int) -> int:
    """Of all connections: so few that each has one under way at most."""
    return min(2_000, 50 * connections)


def use(algorithm: str, connections: int, runs: list[dict[str, Any]]) -> list[Row]:
    """What the gateway used; the paper's spins for as long as a message is under way."""
    busy, idle = (median(run[key] for run in runs) * 100 for key in ("cpu_share", "idle_cpu_share"))
    label = f"{algorithm}, {connections:,} connections"
    target = "" if algorithm == "paper" else "below 95"
    missing = sum(run["missing"] for run in runs)
    return [
        row(
            f"{label}, {messages_per_s(connections):,} messages/s",
            busy,
            "% CPU",
            target,
            not target or busy < 95,
        ),
        row(f"{label}, idle", idle, "% CPU", "below 1", idle < 1),
        row(f"{label}, messages missing", missing, "", "0", missing == 0),
    ]


def precision(rounds: int) -> list[Row]:
    """Arrival at the far application - sending - wanted, at 500 messages/s of four connections."""
    rows = []
    for delay_us in DELAYS_US:
        commands = gateways.ours(f"delay: {delay_us}us")
        runs = [load(commands, 4, 500, 10, "one-way")["one_way"] for _ in range(rounds)]
        for quantile, most in (("p50", 30), ("p99", 200)):
            off = median(run[quantile] for run in runs) / 1e3 - delay_us
            what = f"one way at {delay_us / 1e3:g} ms, {quantile} off by"
            rows.append(row(what, off, "us", f"at most {most}", abs(off) <= most))
        least = min(run["least"] for run in runs) / 1e3 - delay_us
        rows.append(row("  least", least, "us", "not early: 0", least >= 0))
    return rows


def load(
    commands: gateways.Commands, connections: int, per_s: int, seconds: int, *words: str
) -> dict[str, Any]:
    """What the load generator measured through a gateway."""
    program = gateways.ROOT / "target" / "release" / "examples" / "load"
    target = gateways.free_port()
    with gateways.opened(commands, target) as (port, process):
        argv = [program, f"127.0.0.1:{port}", f"127.0.0.2:{target}", connections, per_s, seconds, *words]
        ended = subprocess.run(
            [*map(str, argv), f"gateway={process}"], stdout=subprocess.PIPE, text=True, check=True
        )
    measured: dict[str, Any] = json.loads(ended.stdout)
    return measured


if __name__ == "__main__":
    subprocess.run(
        ["cargo", "build", "--locked", "--quiet", "--release", "-p", "longhaul-relay", "--example", "load"],
        cwd=gateways.ROOT,
        check=True,
    )
    measure_all(
        __doc__,
        {"throughput": throughput, "scalability": scalability, "precision": precision},
        Path(__file__).parent / "relay.json",
    )
