"""The deviation of each packet's delay from the delay that was configured.

Datagrams over a link with a constant delay: on the virtual clock with Longhaul's link and with Linux's netem,
on the real clock with Longhaul's link, and over a pair of veth devices, which shows what the machine itself
adds. The times are those of the hosts' kernels and of the programs, never those of the emulator.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import veth_pair
from deviations import PLACES, delays_ns, deviations

import longhaul
from longhaul.oracle import api
from longhaul.run.virtual_clock import virtual_clock
from longhaul.scenario import load_scenario, resolve
from longhaul.studies import Part, Study, at_most, exact, holds_if, measured, run_study

Rows = list[dict[str, Any]]

LOADS = {100: 1_000, 1_000: 5_000, 10_000: 20_000}
"""Packets of a run by packets/s."""
DELAYS_US = (10_000, 10_003)
"""The second is not a whole number of netem's ticks."""
PORT = 9000
SCENARIO = """version: 1
name: delay-deviation
addresses: ipv4
nodes:
  a: {{kind: host}}
  b: {{kind: host}}
links:
  wan: {{endpoints: [a, b], delay: {delay_us}us}}
programs:
  sink: {{run: "{program} sink 0.0.0.0 {port}", host: b, service: true}}
  source: {{run: "{program} source b {port} {packets} {packets_per_s}", host: a, start: 1s}}
"""


def scenario(delay_us: int, packets_per_s: int, packets: int) -> str:
    """Two hosts, a link with a constant delay, and the two programs."""
    return SCENARIO.format(
        delay_us=delay_us,
        program=f"{sys.executable} {veth_pair.PROGRAM}",
        port=PORT,
        packets=packets,
        packets_per_s=packets_per_s,
    )


def seen(logs: Path, delay_us: int, *, source: str = "source.out", sink: str = "sink.out") -> Rows:
    """A row of deviations for each place, from what the programs printed."""
    rows = []
    for place in PLACES:
        delays, sent = delays_ns(logs / source, logs / sink, place)
        rows.append({"place": place, **asdict(deviations(delays, delay_us * 1000, sent=sent))})
    return rows


def on_virtual_clock(study: Study, delay_us: int, packets_per_s: int, packets: int) -> Rows:
    """Over Longhaul's link, then over netem in the same guest kernel."""
    path = study.runs / "virtual.yaml"
    path.write_text(scenario(delay_us, packets_per_s, packets), encoding="utf-8")
    resolved = resolve(load_scenario(path))
    accepted = api.accept(resolved)
    result = longhaul.run_live(path, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    directory = Path(result.directory)
    api.consult(accepted, directory, result.summary, virtual_clock(resolved.scenario, None).kernel)
    places = {"Longhaul": directory / "logs", "netem": directory / api.DIRECTORY / "logs"}
    return [{"system": system, **row} for system, logs in places.items() for row in seen(logs, delay_us)]


def on_real_clock(study: Study, packets_per_s: int, packets: int) -> Rows:
    """Over Longhaul's link; over a pair of veth devices without and, where the kernel has it, with netem."""
    delay_us = DELAYS_US[0]
    path = study.runs / "real.yaml"
    path.write_text(scenario(delay_us, packets_per_s, packets), encoding="utf-8")
    result = longhaul.run_live(path, runs=study.runs, report=False)
    study.ran(result)
    rows = [{"system": "Longhaul", **row} for row in seen(Path(result.directory) / "logs", delay_us)]
    others = {"veth, no delay": None} | ({"netem": delay_us} if veth_pair.has_netem() else {})
    for system, netem_us in others.items():
        folder = study.directory / "veth"
        folder.mkdir(exist_ok=True)
        netem_ns = None if netem_us is None else netem_us * 1000
        veth_pair.run(folder, packets=packets, packets_per_s=packets_per_s, netem_delay_ns=netem_ns)
        rows += [
            {"system": system, **row} for row in seen(folder, netem_us or 0, source="source", sink="sink")
        ]
    return rows


def study_virtual(study: Study) -> None:
    """Both on the virtual clock, which needs no repetition."""
    rows = []
    for delay_us in study.size(DELAYS_US, small=DELAYS_US[1:]):
        for packets_per_s, packets in loads(study):
            key = f"virtual/{delay_us}/{packets_per_s}"
            made = partial(on_virtual_clock, study, delay_us, packets_per_s, packets)
            load = {"delay_us": delay_us, "packets_per_s": packets_per_s}
            rows += [{**load, **row} for row in study.measured(key, made) or []]
    study.table("virtual", rows)
    study.table("virtual-summary", summaries(rows, "system", "delay_us", "place"))
    of = {system: [row for row in rows if row["system"] == system] for system in ("Longhaul", "netem")}
    cases = [at_most(_condition(row), exact(row["worst_ns"]), 0, "ns") for row in of["Longhaul"]]
    study.evaluate("virtual-exact", cases)
    tick_ns = study.numbers("netem-within-a-tick")["tick_ns"]
    study.evaluate(
        "netem-within-a-tick",
        [
            holds_if(_condition(row), row["worst_ns"] < tick_ns, f"{row['worst_ns']} ns")
            for row in of["netem"]
        ],
    )


def study_live(study: Study, rounds: int) -> None:
    """All on the real clock, in turns."""
    rows: Rows = []
    for number in range(rounds):
        for packets_per_s, packets in loads(study):
            key = f"live/{packets_per_s}/{number}"
            found = study.measured(key, partial(on_real_clock, study, packets_per_s, packets)) or []
            rows += [{"round": number, "packets_per_s": packets_per_s, **row} for row in found]
    study.table("rounds", rows)
    shown = [{**row, "load": row["packets_per_s"]} for row in rows]
    study.table("live", summaries(shown, "system", "load", "place"))
    if not any(row["system"] == "netem" for row in rows):
        study.note("The kernel of this machine has no netem.")
    for claim, place, field, number in (
        ("live-median-ports", "ports", "median_ns", "median_us"),
        ("live-median-programs", "programs", "median_ns", "median_us"),
        ("live-worst-ports", "ports", "worst_ns", "worst_us"),
    ):
        most_us = study.numbers(claim)[number]
        cases = []
        for packets_per_s, _ in loads(study):
            values = [
                row[field] / 1e3
                for row in rows
                if (row["system"], row["place"], row["packets_per_s"]) == ("Longhaul", place, packets_per_s)
            ]
            if values:
                cases.append(at_most(f"{packets_per_s:,} packets/s", measured(values), most_us, "µs"))
        study.evaluate(claim, cases)


def loads(study: Study) -> Iterable[tuple[int, int]]:
    """Packets/s, and packets of a run."""
    return study.size(LOADS, small={1_000: 200}).items()


def summaries(rows: Rows, *keys: str) -> Rows:
    """Of rows that are equal in ``keys``: the medians of medians and p99, and the worst of all packets."""
    fields: dict[str, Callable[[list[int]], float]] = {
        "packets": sum,
        "missing": sum,
        "median_ns": median,
        "p99_ns": median,
        "worst_ns": max,
        "least_ns": min,
        "most_ns": max,
    }
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [
        {
            **dict(zip(keys, values, strict=True)),
            "packets_per_s": " to ".join(
                f"{each:,}" for each in _ends(row["packets_per_s"] for row in group)
            ),
            **{name: made([row[name] for row in group]) for name, made in fields.items()},
        }
        for values, group in groups.items()
    ]


def _ends(values: Iterable[int]) -> list[int]:
    """The least and the largest; one if they are equal."""
    ordered = sorted(set(values))
    return ordered if len(ordered) < 2 else [ordered[0], ordered[-1]]


def _condition(row: dict[str, Any]) -> str:
    return f"{row['delay_us'] / 1000:g} ms, {row['packets_per_s']:,} packets/s, {row['place']}"


PARTS = {
    "virtual": Part(lambda study, _given: study_virtual(study)),
    "live": Part(lambda study, given: study_live(study, given.rounds), rounds=5),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
