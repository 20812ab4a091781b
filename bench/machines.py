"""What a network that is divided costs: one engine, two engine threads, and two machines, in turns; medians.

The machines are network namespaces with an sshd each, on this machine's processors, so that two engines, the
programs and the coordinator share them. Writes ``bench/machines.json``.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from figures import Row, measure_all, row

from longhaul import _longhaul, json_text
from longhaul.machines.coordinator import Coordinator
from longhaul.machines.hostfile import Machine
from longhaul.machines.placement import Cut, Placement
from longhaul.machines.placement import place as place_nodes
from longhaul.scenario import load_scenario, resolve

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from machine_room import machine_room, missing  # noqa: E402

COMMAND = str(Path(sys.executable).parent / "longhaul")
SCENARIO = """\
version: 1
name: pair
duration: {duration}
nodes:
  ra: {{kind: router, place: m1}}
  rb: {{kind: router, place: m2}}
  a1: {{kind: host, attach: ra}}
  b1: {{kind: host, attach: rb}}
links:
  wan: {{endpoints: [ra, rb], rate: {rate}, delay: {delay}}}
traffic:
  {traffic}
"""
SECONDS = 5
PING = {"delay": "4ms", "rate": "1Gbit", "traffic": "rtt: {kind: ping, from: a1, to: b1, every: 10ms}"}
RTT_NS = 8_000_000
TCP = "bulk: {kind: tcp, from: a1, to: b1, cc: cubic}"
LAYOUTS = ("one engine", "two threads", "two machines")
Summary = dict[str, Any]
Measure = Callable[[str, dict[str, str]], tuple[Summary, float]]


def measure_with(work: Path, options: Mapping[str, Sequence[str]], before: Sequence[str]) -> Measure:
    """A function that runs a scenario in a layout with these options.

    It returns the summary and how much longer than the run the command took.
    """

    def measured(layout: str, scenario: dict[str, str]) -> tuple[Summary, float]:
        (work / "pair.yaml").write_text(SCENARIO.format(duration=f"{SECONDS}s", **scenario))
        argv = [*before, COMMAND, "run", "pair.yaml", "--no-report", "--json", *options[layout]]
        began = time.monotonic()
        done = subprocess.run(argv, cwd=work, capture_output=True, text=True, check=False)
        took_s = time.monotonic() - began - SECONDS
        if done.returncode not in (0, 4):
            raise SystemExit(done.stderr)
        return json.loads(done.stdout), took_s

    return measured


def compared(rounds: int) -> list[Row]:
    """All layouts, in turns."""
    with tempfile.TemporaryDirectory() as place, machine_room(Path(place) / "room", 2) as room:
        work = Path(place) / "work"
        work.mkdir()
        on = ["--on", str(room.hostfile), "--ssh", room.ssh]
        options = {"one engine": [], "two threads": ["--shards", "2"], "two machines": on}
        measured = measure_with(work, options, room.at_switch())
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for _ in range(rounds):
            for layout in LAYOUTS:
                summary, took_s = measured(layout, PING)
                note(found, layout, summary, took_s)
                for rate in ("100Mbit", "1Gbit"):
                    flow = {"delay": "20ms", "rate": rate, "traffic": TCP}
                    summary, _ = measured(layout, flow)
                    (bulk,) = summary["flows"]
                    found[rate, layout].append(bulk["goodput_bits_per_s"] / 1e6)
                    found[f"late at {rate}", layout].append(summary["fidelity"]["lateness"]["p99_ns"] / 1e3)
    return rows({key: median(values) for key, values in found.items()})


def note(found: dict[tuple[str, str], list[float]], layout: str, summary: Summary, took_s: float) -> None:
    """What a run of pings tells."""
    (probe,) = summary["probes"]
    found["rtt", layout].append((probe["rtt_p50_ns"] - RTT_NS) / 1e3)
    found["rtt p99", layout].append((probe["rtt_p99_ns"] - RTT_NS) / 1e3)
    found["overhead", layout].append(took_s)
    if layout == "two machines":
        crossings = summary["machines"]["crossings"]
        found["bound", layout].append(max(each["clock_bound_ns"] for each in crossings) / 1e3)
        late = sum(each["late_packets"] for each in crossings) / sum(each["packets"] for each in crossings)
        found["late", layout].append(100 * late)


def on_virtual_clock(rounds: int) -> list[Row]:
    """The kernels of the hosts on one machine and on two, in turns: real time for a second of the run."""
    traffic = {
        "pings every 10 ms": PING,
        "TCP over 100 Mbit/s": {"delay": "20ms", "rate": "100Mbit", "traffic": TCP},
        "TCP over 1 Gbit/s": {"delay": "20ms", "rate": "1Gbit", "traffic": TCP},
    }
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    digests: dict[str, set[str]] = defaultdict(set)
    with tempfile.TemporaryDirectory() as place, machine_room(Path(place) / "room", 2) as room:
        work = Path(place) / "work"
        work.mkdir()
        clock = ["--clock", "virtual"]
        on = {"one machine": clock, "two machines": [*clock, "--on", str(room.hostfile), "--ssh", room.ssh]}
        measured = measure_with(work, on, room.at_switch())
        for _ in range(rounds):
            for what, scenario in traffic.items():
                for layout in on:
                    summary, _ = measured(layout, scenario)
                    found[what, layout].append(summary["virtual_clock"]["wall_s_per_s"])
                    digests[what].add(summary["virtual_clock"]["digest"])
    assert all(len(each) == 1 for each in digests.values()), digests
    made = []
    for what in traffic:
        one, two = (median(found[what, layout]) for layout in on)
        made.append(row(f"virtual clock, {what}: real time for a second", one, "s", "", True))
        made.append(row(f"virtual clock, {what}: the same on two machines", two, "s", "", True))
    return made


def many_agents(rounds: int) -> list[Row]:
    """What agents on this machine cost the process that starts them and measures paths between neighbours."""
    made = []
    for count in (4, 16):
        taken, busy = [], []
        machines = [Machine(f"m{number}", (), "127.0.0.1") for number in range(count)]
        cuts = [Cut(f"l{number}", (number, number + 1), 10_000_000) for number in range(count - 1)]
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as place:
                began, used = time.monotonic(), time.process_time()
                placement = Placement(machines, list(range(count)), cuts)
                coordinator = Coordinator(placement, scratch=Path(place))
                try:
                    coordinator.connect()
                finally:
                    taken.append(time.monotonic() - began)
                    busy.append(time.process_time() - used)
                    coordinator.close()
        made.append(row(f"{count} agents are started and measured", median(taken), "s", "", True))
        each = 1_000 * median(busy) / count
        made.append(row(f"{count} agents: CPU time of the coordinator for each", each, "ms", "", True))
    return made


def large_network(rounds: int) -> list[Row]:
    """10,000 hosts at 100 sites in a ring: what comes before each machine builds its own part."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "grid.yaml"
        path.write_text(grid(sites=100, hosts=100))
        began = time.monotonic()
        resolved = resolve(load_scenario(path))
        resolve_s = time.monotonic() - began
        text = json_text.compact(resolved.plan).decode()
        taken = []
        for _ in range(rounds):
            began = time.monotonic()
            _longhaul.live_cuts(text)
            taken.append(time.monotonic() - began)
        machines = [Machine(f"m{number}", (), "") for number in range(100)]
        began = time.monotonic()
        placed = place_nodes(resolved, resolved.plan, machines)
        place_s = time.monotonic() - began
        archive = gzip.compress(text.encode(), 1)
    return [
        row("10,000 hosts, 100 sites: scenario read and resolved", resolve_s, "s", "", True),
        row("10,000 hosts, 100 sites: placed on 100 machines", place_s, "s", "", True),
        row("10,000 hosts, 100 sites: least delay of a cut", placed.cuts[0].delay_ns / 1e6, "ms", "", True),
        row("10,000 hosts, 100 sites: network with its routes", median(taken), "s", "", True),
        row("10,000 hosts, 100 sites: plan, compressed", len(archive) / 1e6, "MB", "", True),
    ]


def grid(*, sites: int, hosts: int) -> str:
    """A scenario with a router for each site, in a ring."""
    nodes = [f"  r{site}: {{kind: router}}" for site in range(sites)]
    nodes += [f"  h{site}-1..{hosts}: {{kind: host, attach: r{site}}}" for site in range(sites)]
    links = [
        f"  l{site}: {{endpoints: [r{site}, r{(site + 1) % sites}], rate: 10Gbit, delay: 10ms}}"
        for site in range(sites)
    ]
    lines = ["version: 1", "name: grid", "duration: 60s", "nodes:", *nodes, "links:", *links]
    return "\n".join(lines) + "\n"


def rows(found: dict[tuple[str, str], float]) -> list[Row]:
    """The figures, with targets."""
    one, threads, machines = LAYOUTS
    bound = found["bound", machines]
    made = [row("RTT over 8 ms beyond the arithmetic, p50, one engine", found["rtt", one], "µs", "", True)]
    made += [
        row(
            f"RTT over 8 ms beyond the arithmetic, p50, {layout}",
            found["rtt", layout],
            "µs",
            f"at most {most:.0f}",
            abs(found["rtt", layout]) <= most,
        )
        for layout, most in (
            (threads, 25.0 + found["rtt", one]),
            (machines, 25.0 + found["rtt", one] + bound),
        )
    ]
    made += [
        row(f"RTT over 8 ms beyond the arithmetic, p99, {layout}", found["rtt p99", layout], "µs", "", True)
        for layout in LAYOUTS
    ]
    made.append(row("clocks of two machines, bound", bound, "µs", "", True))
    made.append(row("pings that crossed late, two machines", found["late", machines], "%", "", True))
    for rate, name in (("100Mbit", "100 Mbit/s"), ("1Gbit", "1 Gbit/s")):
        made.append(row(f"TCP over {name}, one engine", found[rate, one], "Mbit/s", "", True))
        for layout in (threads, machines):
            ratio = found[rate, layout] / found[rate, one]
            what = f"TCP over {name}, {layout}: of one engine"
            made.append(row(what, ratio, "", "at least 0.95", ratio >= 0.95))
        made += [
            row(f"TCP over {name}, lateness p99, {layout}", found[f"late at {rate}", layout], "µs", "", True)
            for layout in LAYOUTS
        ]
    made += [
        row(f"time of the command beyond the run, {layout}", found["overhead", layout], "s", "", True)
        for layout in LAYOUTS
    ]
    return made


if __name__ == "__main__":
    if reason := missing():
        raise SystemExit(f"bench/machines.py: {reason}")
    parts = {"compared": compared, "virtual": on_virtual_clock, "agents": many_agents, "large": large_network}
    measure_all(__doc__ or "", parts, ROOT / "bench" / "machines.json")
