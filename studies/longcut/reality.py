"""Figure 4 with a reality that is not Longhaul's: netem and tbf of Linux, on the virtual clock.

Linux's queueing disciplines play EventSpace's trace, a change each second. EventSpace's benchmark
measures that path; Longhaul plays what it measured.
The virtual clock makes both independent of the machine's load.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pingpong import SIZES
from playing import PROGRAM, Curve, drawn
from precision import ENDS

import longhaul
from longhaul.oracle import api
from longhaul.report.plotting import paper
from longhaul.run.virtual_clock import virtual_clock
from longhaul.scenario import load_scenario, resolve
from longhaul.scenario.traces.files import read_traces
from longhaul.studies import Figures, Study, exact, near

SECONDS = 60
START_S = 2
SCENARIO = """version: 1
name: {name}
seed: 1
duration: {duration}s
addresses: ipv4
tcp: {{congestion_control: reno, buffers: 4MiB}}
nodes: {{a: {{kind: host}}, b: {{kind: host}}}}
links:
  wan: {{endpoints: [a, b], {link}}}
programs:
  server: {{run: python3 {program} serve 0.0.0.0 7000, host: b, service: true, ready: "tcp:7000"}}
  client: {{run: python3 {program} {action} b 7000 {options}, host: a, start: {start}s}}
{events}"""


def study_reality(study: Study) -> None:
    """Measure Linux's path, play what was measured, and compare."""
    found = study.measured("reality", lambda: one_round(study, seconds=study.size(SECONDS, small=6)))
    if found is None:
        return
    study.table("figure4-reality", found["rows"])
    for name, unit in (("rtt_ms", "ms"), ("there_mbit", "Mbit/s"), ("back_mbit", "Mbit/s")):
        study.value(f"netem's path, probed {name}", exact(found["probed"][name]), unit)
    middle = {(row["path"], row["bytes"]): row["median_ms"] for row in found["rows"]}
    within = study.numbers("emulated-as-netem")["within"]
    study.evaluate(
        "emulated-as-netem",
        [
            near(f"{size} bytes", exact(middle["emulated", size] / middle["netem", size]), 1, within)
            for size in SIZES
        ],
    )


def one_round(study: Study, *, seconds: int) -> dict[str, Any]:
    """PingPong over Linux's path, EventSpace's benchmark of it, and PingPong over what that found."""
    pingpong = f"--spans 0:{seconds}"
    real = Curve.of(by_linux(study, "pingpong", pingpong, seconds=seconds))
    probes = by_linux(study, "probe", pingpong, seconds=seconds)
    emulated = Curve.of(by_longhaul(study, collected(study, probes), "pingpong", pingpong, seconds=seconds))
    latency, there, back = (fmean(probe[column] for probe in probes) for column in (1, 2, 3))
    return {
        "probed": {"rtt_ms": latency, "there_mbit": there, "back_mbit": back},
        "rows": [
            {
                "path": path,
                "bytes": size,
                "mean_ms": round(took * 1e3, 4),
                "median_ms": round(curve.middle[size] * 1e3, 4),
            }
            for path, curve in (("netem", real), ("emulated", emulated))
            for size, took in curve.mean.items()
        ],
    }


def scenario(
    study: Study, action: str, options: str, *, link: str, seconds: int, events: Sequence[str] = ()
) -> Path:
    """Two hosts, a link and ``pingpong.py`` between them, written into the study's runs."""
    path = study.runs / f"reality-{action}.yaml"
    text = SCENARIO.format(
        name=f"reality-{action}",
        duration=START_S + seconds + 5,
        link=link,
        program=PROGRAM,
        action=action,
        options=options,
        start=START_S,
        events="events:\n" + "".join(f"  - {each}\n" for each in events) if events else "",
    )
    path.write_text(text, encoding="utf-8")
    return path


def changes(seconds: int) -> tuple[str, list[str]]:
    """The link of EventSpace's trace as it begins, and an event for each later second and direction."""
    traces = {trace.way.ends: trace for trace in read_traces("longcut:eventspace").traces if trace.way}
    here, there = ENDS["here"], ENDS["there"]
    begun, events = [], []
    for direction, ends in (("forward", (here, there)), ("reverse", (there, here))):
        for at_s, (rtt_ms, rate_mbit) in traces[ends].rows():
            assert rtt_ms is not None
            assert rate_mbit is not None
            # netem's grain is 8 us: a whole multiple is not rounded.
            values = f"delay: {round(rtt_ms / 2 / 0.008) * 8}us, rate: {rate_mbit * 1e3:.0f}kbit"
            if at_s == 0:
                begun.append(f"{direction}: {{{values}, queue: 2000p}}")
            elif at_s < START_S + seconds:
                events.append(f"{{at: {at_s:g}s, link: wan, direction: {direction}, set: {{{values}}}}}")
    return ", ".join(begun), events


def by_linux(study: Study, action: str, options: str, *, seconds: int) -> list[Any]:
    """What the program prints over the queueing disciplines of Linux."""
    link, events = changes(seconds)
    path = scenario(study, action, options, link=link, seconds=seconds, events=events)
    resolved = resolve(load_scenario(path))
    accepted = api.accept(resolved)
    result = longhaul.run_live(path, runs=study.runs, report=False, clock="virtual")
    kernel = virtual_clock(resolved.scenario, None).kernel
    directory = Path(result.directory)
    api.consult(accepted, directory, result.summary, kernel)
    return printed(directory / "oracle")


def by_longhaul(study: Study, trace: Path, action: str, options: str, *, seconds: int) -> list[Any]:
    """What the program prints over a link of Longhaul that plays the trace."""
    link = f"measured: {{trace: {trace.name}, from: near, to: far}}, queue: 2000p"
    path = scenario(study, action, options, link=link, seconds=seconds)
    result = longhaul.run_live(path, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    return printed(Path(result.directory))


def printed(directory: Path) -> list[Any]:
    """The JSON that the client wrote to its log."""
    (log,) = (directory / "logs").glob("*client*.out*")
    return list(json.loads(log.read_text(encoding="utf-8").splitlines()[-1]))


def collected(study: Study, probes: Sequence[Sequence[float]]) -> Path:
    """The trace file of what EventSpace's benchmark found; a way's delay is half of both."""
    path = study.runs / "reality.csv"
    with path.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["t_s", "src", "dst", "rtt_ms", "rate_mbit"])
        for at, latency, *rates in probes:
            for ends, rate in zip((("near", "far"), ("far", "near")), rates, strict=True):
                writer.writerow([f"{at - probes[0][0]:.3f}", *ends, f"{latency:.4f}", f"{rate:.4f}"])
    return path


def draw(figures: Figures) -> None:
    """Figure 4 beside netem."""
    curves: dict[str, dict[int, list[float]]] = {}
    for row in figures.rows("figure4-reality"):
        curves.setdefault(row["path"], {})[row["bytes"]] = [row["mean_ms"]]
    with paper():
        made = drawn("figure 4, netem as the real path", curves)
        figures.add(made, "figure-4-netem", data=["figure4-reality"])
