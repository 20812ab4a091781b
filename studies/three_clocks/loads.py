"""What other work on the machine changes on the real and on the virtual clock."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import longhaul
from longhaul.report.mpl import Figure
from longhaul.studies import Study, holds_if

SCENARIO = """version: 1
name: loads
seed: 1
duration: 5s
addresses: ipv4
tcp: {congestion_control: reno}
nodes:
  a: {kind: host}
  b: {kind: host}
  probe1: {kind: host}
  probe2: {kind: host}
links:
  wan:
    endpoints: [a, b]
    delay: {base: 10ms, jitter: {dist: normal, sd: 1ms}}
    rate: 100Mbit
    queue: 1bdp
    loss: 0.1%
  idle: {endpoints: [probe1, probe2], delay: 400us, rate: 100Mbit}
traffic:
  copy: {kind: tcp, from: a, to: b, cc: cubic, stop: 4.5s}
  probe: {kind: ping, from: probe1, to: probe2, every: 5ms, size: 56B}
"""
RTT_MS = int(2e3 * (0.4 + (20 + 8 + 56) * 8 / 100e3)) / 1e3
"""Of the ping: two delays, and twice the time of 84 bytes at 100 Mbit/s. ping(8) cuts it to microseconds."""


@contextmanager
def load(processes: int) -> Iterator[None]:
    """So many processes compute within the block."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


@contextmanager
def processors(count: int) -> Iterator[None]:
    """Runs within the block have at most so many processors."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def run(study: Study, clock: str, beside: int, cpus: int) -> dict[str, Any]:
    """One run and its measures."""
    path = study.runs / "loads.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    with processors(cpus), load(beside):
        more = {"clock": "virtual"} if clock == "virtual" else {}
        result = longhaul.run_live(path, runs=study.runs, report=False, **more)
    if result.summary["ended"] != "duration":
        raise RuntimeError(f"the run was {result.summary['ended']}")
    study.ran(result)
    virtual = result.summary["virtual_clock"]
    probe = result.probe("probe")
    row = {
        "clock": clock,
        "load": beside,
        "cpus": cpus,
        "verdict": result.verdict,
        "digest": str(virtual["digest"]) if virtual else "",
        "rtt_p50_ms": round(probe["rtt_p50_ns"] / 1e6, 6),
        "rtt_p99_ms": round(probe["rtt_p99_ns"] / 1e6, 6),
        "goodput_mbit": round(result.summary["flows"][0]["goodput_bits_per_s"] / 1e6, 3),
        "wall_s_per_s": round(virtual["wall_s_per_s"], 3) if virtual else 1.0,
    }
    print(f"  {row}", flush=True)
    return row


def study_loads(study: Study) -> None:
    """One scenario beside more and more other work, on the virtual clock twice more beside the most."""
    loads = range(int(study.numbers("equal-bit-by-bit")["most_processes"]) + 1)
    most = len(os.sched_getaffinity(0))
    plan = [("real", beside, most) for beside in loads]
    plan += [("virtual", beside, cpus) for beside in loads for cpus in (most, 1)]
    plan += [("virtual", loads[-1], most)] * 2
    rows = [run(study, *each) for each in plan]
    study.table("loads", rows)
    virtual = [row for row in rows if row["clock"] == "virtual"]
    digests = {row["digest"] for row in virtual}
    study.evaluate(
        "equal-bit-by-bit",
        holds_if("", len(digests) == 1, f"{len(digests)} digest{'s' if len(digests) > 1 else ''}"),
    )
    study.figure(figure(rows), "loads", data=["loads"])


def figure(rows: list[dict[str, Any]]) -> Figure:
    """Round trips and goodput over the load, on both clocks."""
    made = Figure(figsize=(9, 3.4), layout="constrained")
    errors, goodputs = made.subplots(1, 2)
    for clock, colour, marker in (("real", "#c2410c", "s"), ("virtual", "#1d4ed8", "o")):
        mine = [row for row in rows if row["clock"] == clock]
        loads = [int(row["load"]) for row in mine]
        error_us = [abs(float(row["rtt_p99_ms"]) - RTT_MS) * 1e3 for row in mine]
        errors.plot(loads, error_us, marker, color=colour, label=f"{clock} clock", clip_on=False)
        goodputs.plot(loads, [float(row["goodput_mbit"]) for row in mine], marker, color=colour)
    errors.set_yscale("symlog", linthresh=0.1)
    errors.set_ylim(bottom=0)
    errors.set_ylabel("99th percentile of RTT\nless the arithmetic, µs")
    goodputs.set_ylabel("goodput of TCP, Mbit/s")
    goodputs.set_ylim(0, 1.2 * max(float(row["goodput_mbit"]) for row in rows))
    for axes in (errors, goodputs):
        axes.set_xlabel("processes that compute beside the run")
        axes.grid(alpha=0.3)
    errors.legend(frameon=False)
    return made
