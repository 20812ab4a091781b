"""How fast the simulator is on one core: against targets, against ns-3 and ns-2, and with many flows.

A chain S -1G- r1 -10G- ... r6 -1G- D of 60 ms with packets of 9000 bytes; one flow, or six with cross
traffic; TCP with SACK and Reno's growth, windows of at most 1,000 segments. ``line rate``: nothing is lost,
every other segment is acknowledged. ``loss``: each flow's every 10,000th packet is lost on the link to its
sink, and every segment is acknowledged, so that all simulators open the window by one segment a round trip.

CPU seconds are user and system time of the whole process, start included, per 1,000 simulated seconds. A hop
is one packet through one link, acknowledgements included: ours are counted, the peers' are ours for as
many delivered bytes. ns-3 runs without its traffic-control layer and with deterministic loss of our own;
Debian builds it with logging, which costs it a factor of 1.5 to 2. ns-2 runs Sack1, as it comes and tuned:
with the packet headers that TCP needs and no others, and with the splay tree, the fastest of its schedulers
here. The target is for ns-2 as it comes. Neither is installed from here:
``apt-get install ns2 libns3-dev g++``.

Writes ``bench/sim.json`` and prints one line for each figure with its target.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import median

import simulators
from figures import Row, measure_all, row
from networks import PAYLOAD, Chain, chain, fat_tree, quiet_star, torus
from simulators import Ours

EVERY = 10_000
VARIANTS = {
    "line rate, 1 flow": Chain(1, 1000, 0, 2),
    "line rate, 6 flows": Chain(6, 500, 0, 2),
    "loss, 1 flow": Chain(1, 1000, EVERY, 1),
    "loss, 6 flows": Chain(6, 500, EVERY, 1),
}
PEER_SECONDS = {
    "ns-3": (20, 4, 60, 8),
    "ns-2": (200, 50, 1000, 50),
    "ns-2 tuned": (400, 100, 1000, 100),
}
"""Simulated by peers in each variant, for some seconds of CPU."""
LEAST_RATIO = {"ns-3": 200, "ns-2": 8}
"""Of CPU times, with six flows."""
MOST_CPU_S = {"line rate, 1 flow": 1.5, "line rate, 6 flows": 10}
"""For 1,000 simulated seconds."""
FLOWS = (10, 100, 1_000, 10_000)
MOST_HOSTS_S, MOST_HOSTS_GB = 60, 4
"""Of a run with a hundred thousand hosts."""


def speed(rounds: int) -> list[Row]:
    """Ours on the chain, against targets."""
    runs: dict[str, list[Ours]] = defaultdict(list)
    general: dict[str, list[Ours]] = defaultdict(list)
    for _ in range(rounds):
        for name, what in VARIANTS.items():
            runs[name].append(simulators.longhaul(chain(what)))
            general[name].append(simulators.longhaul(chain(what), scheduler="calendar"))
    rows = []
    for name, what in VARIANTS.items():
        same = len({each.counted["digest"] for each in runs[name] + general[name]}) == 1
        rows.append(row(f"{name}, digests of both schedulers", int(same), "", "equal: 1", same))
        cpu = median(each.run.cpu_s for each in runs[name]) / what.seconds * 1000
        most = MOST_CPU_S.get(name)
        target = f"at most {most}" if most else ""
        rows.append(row(f"{name}, 1,000 s", cpu, "CPU s", target, most is None or cpu <= most))
        for scheduler, many, least in (("calendar", general, 20), ("lookahead", runs, 60)):
            hops = median(each.counted["hops"] / each.ran_s for each in many[name]) / 1e6
            title = f"{name}, packet-hops, {scheduler}"
            rows.append(row(title, hops, "M/s", f"at least {least}", hops >= least))
    peak = max(each.run.peak_bytes for many in runs.values() for each in many) / 1e6
    rows.append(row("peak memory, with Python", peak, "MB", "below 64", peak < 64))
    rows.append(closed_form(runs["loss, 1 flow"][0], VARIANTS["loss, 1 flow"].seconds))
    return rows


def closed_form(ours: Ours, seconds: float) -> Row:
    """Every Nth packet lost: a mean window of 3/4 sqrt(8 N / 3) segments (Mathis et al. 1997)."""
    bits_per_s = 0.75 * sqrt(8 * EVERY / 3) * PAYLOAD * 8 / round_trip_s()
    off = (ours.delivered[0] * 8 / seconds / bits_per_s - 1) * 100
    return row("loss, 1 flow, off the closed form", off, "%", "within 3", abs(off) <= 3)


def round_trip_s() -> float:
    """Of a full packet and its acknowledgement with empty queues."""
    delays = 2 * (5 * 6e-3 + 2 * 1e-6)
    return delays + sum(bytes_ * 8 * (2 / 1e9 + 5 / 10e9) for bytes_ in (9000, 52))


def peers(rounds: int) -> list[Row]:
    """Theirs in turns with ours, on the same chain for as long as suits each."""
    ns3 = simulators.build_ns3()
    theirs: dict[str, Callable[[Chain], simulators.Run]] = {}
    if ns3:
        theirs["ns-3"] = lambda what: simulators.ns3(ns3, what)
    if simulators.find_ns2():
        theirs["ns-2"] = lambda what: simulators.ns2(what, tuned=False)
        theirs["ns-2 tuned"] = lambda what: simulators.ns2(what, tuned=True)
    if not theirs:
        return []
    rows = []
    same: dict[Chain, Ours] = {}
    for place, (name, what) in enumerate(VARIANTS.items()):
        shorter = {peer: replace(what, seconds=PEER_SECONDS[peer][place]) for peer in theirs}
        ours: list[Ours] = []
        runs: dict[str, list[simulators.Run]] = defaultdict(list)
        for _ in range(rounds):
            ours.append(simulators.longhaul(chain(what)))
            for peer, start in theirs.items():
                runs[peer].append(start(shorter[peer]))
        cpu = median(each.run.cpu_s for each in ours) / what.seconds
        for peer in theirs:
            shown = shorter[peer]
            if shown not in same:
                same[shown] = simulators.longhaul(chain(shown))
            rows += against(name, peer, shown, cpu, runs[peer], same[shown])
    return rows


def against(
    name: str, peer: str, what: Chain, our_cpu: float, runs: list[simulators.Run], same: Ours
) -> list[Row]:
    """What a peer took and delivered; ``same`` is our run of the same simulated time."""
    label = f"{peer}, {name}"
    cpu = median(each.cpu_s for each in runs)
    delivered = [int(line) for line in runs[0].output.split()]
    hops = same.counted["hops"] * sum(delivered) / sum(same.delivered)
    ratio = cpu / what.seconds / our_cpu
    least = LEAST_RATIO.get(peer) if what.flows > 1 else None
    rows = [
        row(f"{label}, 1,000 s", cpu / what.seconds * 1000, "CPU s", "", True),
        row("  packet-hops", hops / cpu / 1e6, "M/s", "", True),
        row("  peak memory", max(each.peak_bytes for each in runs) / 1e6, "MB", "", True),
        row(
            "  CPU time, times ours",
            ratio,
            "",
            f"at least {least}" if least else "",
            not least or ratio >= least,
        ),
    ]
    theirs, ours = (
        [bytes_ * 8 / what.seconds / 1e6 for bytes_ in flows] for flows in (delivered, same.delivered)
    )
    off = max((b / a - 1 for a, b in zip(theirs, ours, strict=True)), key=abs) * 100
    goodput = row("  goodput, ours off by", off, "%", "within 10", abs(off) <= 10)
    return [*rows, goodput | {"mbit_per_s": {"theirs": theirs, "ours": ours}, "simulated_s": what.seconds}]


def samples(rounds: int) -> list[Row]:
    """What it costs to record every link and flow ten times a second."""
    plan = chain(replace(VARIANTS["line rate, 6 flows"], seconds=100))
    plan["measure"]["every_ns"] = 100_000_000
    with_records, without = [], []
    for _ in range(max(rounds, 3)):
        without.append(simulators.longhaul(plan).ran_s)
        with tempfile.TemporaryDirectory() as directory:
            with_records.append(simulators.longhaul(plan, directory=Path(directory)).ran_s)
    more = (median(with_records) / median(without) - 1) * 100
    return [row("samples every 100 ms cost", more, "%", "at most 30", more <= 30)]


def scaling(rounds: int) -> list[Row]:
    """Ten to ten thousand flows on a torus of a thousand links."""
    runs: dict[int, list[Ours]] = defaultdict(list)
    for _ in range(rounds):
        for flows in FLOWS:
            seconds = max(2, min(100, 4000 / flows))
            runs[flows].append(simulators.longhaul(torus(flows, seconds, starts_s=(0, 0.2))))
    rates = {flows: median(each.counted["events"] / each.ran_s for each in runs[flows]) for flows in FLOWS}
    rows = []
    for flows, rate in rates.items():
        hops = median(each.counted["hops"] / each.ran_s for each in runs[flows])
        part = rate / rates[FLOWS[0]]
        rows += [
            row(f"{flows:,} flows on 1,000 links, events", rate / 1e6, "M/s", "", True),
            row("  packet-hops", hops / 1e6, "M/s", "", True),
            row(f"  events, of those at {FLOWS[0]} flows", part, "", "at least 0.7", part >= 0.7),
        ]
    return rows


def many_flows(rounds: int) -> list[Row]:
    """Ten flows and ten thousand on a fat tree: events per second, and what a flow takes while it sends."""
    few, most = FLOWS[0], FLOWS[-1]
    runs: dict[int, list[Ours]] = defaultdict(list)
    for _ in range(rounds):
        for flows, seconds in ((few, 100), (most, 0.3)):
            runs[flows].append(simulators.longhaul(fat_tree(flows, seconds, starts_s=(0, 0.1))))
    rates = {flows: median(each.counted["events"] / each.ran_s for each in runs[flows]) for flows in runs}
    held = {flows: median(each.memory["ended"] for each in runs[flows]) for flows in runs}
    part = rates[most] / rates[few]
    each = (held[most] - held[few]) / (most - few)
    return [
        row(f"{few} flows on a fat tree, events", rates[few] / 1e6, "M/s", "", True),
        row(f"{most:,} flows on a fat tree, events", rates[most] / 1e6, "M/s", "", True),
        row(f"  events, of those at {few} flows", part, "", "at least 0.5", part >= 0.5),
        row("  memory of a flow, both ends, while it sends", each, "bytes", "below 2000", each < 2000),
    ]


def hosts(rounds: int) -> list[Row]:
    """A hundred thousand hosts, of which a hundred send, from a plan to results."""
    runs = [simulators.longhaul(quiet_star(1_000)).run for _ in range(rounds)]
    cpu_s, gb = median(each.cpu_s for each in runs), max(each.peak_bytes for each in runs) / 1e9
    title = "100,000 hosts, 100 active, 1,000 s"
    return [
        row(title, cpu_s, "CPU s", f"at most {MOST_HOSTS_S}", cpu_s <= MOST_HOSTS_S),
        row("  peak memory", gb, "GB", f"at most {MOST_HOSTS_GB}", gb <= MOST_HOSTS_GB),
    ]


def memory(_rounds: int) -> list[Row]:
    """What a flow takes that does nothing: before it begins, and when it has begun and waits."""
    rows = []
    for what, starts_s, bits_per_s in (
        ("not begun", (10.0, 11.0), None),
        ("begun, one segment sent", (0.0, 1.0), 1000),
    ):
        held = []
        for flows in (FLOWS[0], FLOWS[-1]):
            ours = simulators.longhaul(torus(flows, 3, starts_s=starts_s, bits_per_s=bits_per_s))
            held.append(ours.memory["ended"])
        each = (held[1] - held[0]) / (FLOWS[-1] - FLOWS[0])
        rows.append(row(f"memory of a flow, {what}", each, "bytes", "below 2000", each < 2000))
    return rows


if __name__ == "__main__":
    measure_all(
        __doc__,
        {
            "speed": speed,
            "peers": peers,
            "samples": samples,
            "scaling": scaling,
            "many flows": many_flows,
            "hosts": hosts,
            "memory": memory,
        },
        Path(__file__).parent / "sim.json",
        rounds=1,
    )
