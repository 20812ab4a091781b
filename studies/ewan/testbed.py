"""eWAN's dumbbell with other limits and flows; what the study's figures have in common."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import longhaul
from longhaul.analysis.fairness import jain
from longhaul.report.mpl import Axes
from longhaul.run.api import Result
from longhaul.studies import Figures, Study
from longhaul.studies.drawing import colour, draw_paper

SCENARIO = Path(__file__).parent / "dumbbell.yaml"
SLOW_START = "slow_start: {kind: standard, limit: 1}"
"""That of Linux 2.6: a segment for each acknowledgement, half as many again in a round trip (L = 1)."""
RENO, RENO_L2 = (f"{{algorithm: stochastic, streams: 1, phi: 2{more}}}" for more in (f", {SLOW_START}", ""))
"""Reno that counts acknowledgements, as in Linux 2.6: half a segment a round trip if every other one is
acknowledged. One virtual stream that grows by 1/phi is just that. With the slow start of Linux 2.6, and with
that of RFC 5681 and RFC 3465 (L = 2), which doubles in a round trip."""
# Linux 2.6 counted acknowledgements, so that its factor for delayed ones gave each segment its growth.
BIC_L2 = "{algorithm: bic, delayed_acks: false}"
CONTROLS: Mapping[str, str] = {
    "Reno": RENO,
    "BIC": f"{{algorithm: bic, delayed_acks: false, {SLOW_START}}}",
}
WITH_L2: Mapping[str, str] = {**CONTROLS, "Reno, L = 2": RENO_L2, "BIC, L = 2": BIC_L2}
"""The same with either slow start."""
SEGMENT, FRAME = 1448, 1538
"""Bytes of payload in a frame of 1500 bytes with timestamps; and what it takes of an Ethernet."""
RTT_S = 0.1
BURST = 15_400
"""What eWAN's scripts had in mind for the token bucket; what they said is a thousand times as much."""
LITERAL_BURST = 15_400_000
LATENCY_MS = 1
LATER_MS = 37
"""The second of two flows begins that much later, so that the two are not one and the same."""


@dataclass(frozen=True)
class Limit:
    """How fast a source may send, and how much may wait for that."""

    rate: str
    waits: str


def bucket(mbits: float, *, burst: int = BURST, line: str = "1Gbit", waits: str | None = None) -> Limit:
    """Tc's token bucket with ``latency 1ms``: rate times latency and a burst may wait."""
    room = burst + round(mbits * 1e3 * LATENCY_MS / 8)
    return Limit(f"{{bucket: {mbits:g}Mbit, burst: {burst}B, peak: {line}}}", waits or f"{room}B")


def paced(mbits: float, *, line: str = "1Gbit", waits: str = "1000p") -> Limit:
    """PSPacer's class with its own queue, as long as that of a network card was."""
    return Limit(f"{{paced: {mbits:g}Mbit, line_rate: {line}}}", waits)


@dataclass(frozen=True)
class Trial:
    """One run over the dumbbell."""

    name: str
    flows: Mapping[str, str]
    """Traffic by name, as a scenario has it."""
    limit: Limit | None = None
    """Of both sources; the port's rate without."""
    seconds: int = 60
    params: Mapping[str, str] = field(default_factory=dict)
    tcp: str = ""
    """More settings of TCP."""
    delay: str = "$wan"
    """Of the WAN, one way."""

    @property
    def text(self) -> str:
        """The scenario."""
        head, _default = SCENARIO.read_text(encoding="utf-8").split("\ntraffic:\n")
        changes = [("name: dumbbell", f"name: {self.name}"), ("duration: 60s", f"duration: {self.seconds}s")]
        changes += [("recovery: sack}", f"recovery: sack, {self.tcp}}}")] if self.tcp else []
        changes.append(("    delay: $wan", f"    delay: {self.delay}"))
        if self.limit:
            line = "  limited: {delay: $last, count: ethernet, rate: "
            new = f"{line}{self.limit.rate}, queue: {self.limit.waits}}}"
            changes.append((f"{line}$port, queue: 10000p}}", new))
        for old, new in changes:
            if head.count(old) != 1:
                raise ValueError(f"{old!r} stands {head.count(old)} times in {SCENARIO.name}")
            head = head.replace(old, new)
        flows = [f"  {name}: {{{flow}}}" for name, flow in self.flows.items()]
        return "\n".join([head, "traffic:", *flows, ""])


def one(control: str) -> dict[str, str]:
    """One flow."""
    return {"a": f"kind: tcp, from: a, to: x, cc: {control}"}


def two(control: str, *, machines: int = 2) -> dict[str, str]:
    """Two flows to two sites, from one machine or from two."""
    source = "ab"[machines - 1]
    return one(control) | {
        "b": f"kind: tcp, from: {source}, to: y, cc: {control}, start: {LATER_MS}ms",
    }


def simulate(study: Study, trials: Iterable[Trial], *, small_s: int = 2) -> Iterator[tuple[Trial, Result]]:
    """Simulate all of them, as many at once as there are processors; ``small_s``: to try the study out."""

    def run(trial: Trial) -> Result:
        return longhaul.run_sim(write(study, trial), params=trial.params, runs=runs, report=False)

    every = [replace(each, seconds=study.size(each.seconds, small=small_s)) for each in trials]
    runs = study.runs
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from zip(every, pool.map(run, every), strict=True)


def write(study: Study, trial: Trial) -> Path:
    """The trial as a scenario file."""
    folder = study.directory / "scenarios"
    folder.mkdir(exist_ok=True)
    path = folder / f"{trial.name}.yaml"
    path.write_text(trial.text, encoding="utf-8")
    return path


def mbits(result: Result, *flows: str) -> float:
    """Goodput of flows together."""
    return sum(result.flow(each)["goodput_bits_per_s"] for each in flows) / 1e6


def index(result: Result) -> float:
    """Jain's, of all flows."""
    rates = [flow["goodput_bits_per_s"] for flow in result.summary["flows"]]
    return jain([rate for rate in rates if rate is not None]) or 0.0


def series(result: Result, flow: str, column: str = "bits_per_s") -> tuple[np.ndarray, np.ndarray]:
    """A flow's samples: the ends of the intervals in s, and the values."""
    table = result.table("flows")
    rows = [
        (end, value)
        for name, end, value in zip(table["flow"], table["end_s"], table[column], strict=True)
        if name == flow and value is not None
    ]
    return tuple(np.array(rows, dtype=float).T)


def slug(text: str) -> str:
    """A control's name as part of a file's."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def per_second(result: Result, flow: str) -> tuple[np.ndarray, np.ndarray]:
    """Mbit/s in each second, at its middle."""
    ends, values = series(result, flow)
    begin = np.floor(np.nextafter(ends, 0)).astype(int)
    rates = np.bincount(begin, values) / np.maximum(np.bincount(begin), 1)
    return np.arange(len(rates)) + 0.5, rates / 1e6


def seconds_of(results: Mapping[str, Result], *flows: str) -> list[dict[str, Any]]:
    """For a CSV file: Mbit/s of flows in each second, of several runs."""
    return [
        {"run": name, "flow": flow, "t_s": float(time), "mbits": round(float(rate), 2)}
        for name, result in results.items()
        for flow in flows
        for time, rate in zip(*per_second(result, flow), strict=True)
    ]


def draw_flows(
    axes: Axes, rows: Sequence[Mapping[str, Any]], labels: Mapping[str, str], *, total: bool = True
) -> None:
    """Rates of flows over time, and of all together; rows of one run, as :func:`seconds_of` has them."""
    found = {name: {row["t_s"]: row["mbits"] for row in rows if row["flow"] == name} for name in labels}
    if total:
        times = sorted({time for rates in found.values() for time in rates})
        whole = [sum(rates.get(time, 0) for rates in found.values()) for time in times]
        axes.plot(times, whole, color="0.55", label="together")
    for number, (name, label) in enumerate(labels.items()):
        axes.plot(
            list(found[name]),
            list(found[name].values()),
            ("-", "--")[number],
            color=colour(number),
            label=label,
        )


def draw_jain(figures: Figures, axes: Axes, figure: str, found: Mapping[str, float]) -> None:
    """Jain's index of each run, and the paper's."""
    places = range(len(found))[::-1]
    axes.plot(
        list(found.values()), places, "o", color=colour(3), markersize=5, label="Jain's index, simulated"
    )
    draw_paper(axes, figures.paper.values(figure, "Jain's index"), across=True)
    axes.set_yticks(places, list(found), fontsize=7.5)
    axes.set(xlim=(0.45, 1.03), ylim=(-0.6, len(found) - 0.4), xlabel="Jain's index")


def row_of(trial: Trial, result: Result, **more: Any) -> dict[str, Any]:
    """For a CSV file: what a run was, and its results."""
    rates = {f"{name}_mbits": round(mbits(result, name), 2) for name in trial.flows}
    again = sum(result.flow(each)["retransmits"] for each in trial.flows)
    fair = {"jain": round(index(result), 4)} if len(trial.flows) > 1 else {}
    model = (
        {"limit": trial.limit.rate, "waits": trial.limit.waits} if trial.limit else {"limit": "", "waits": ""}
    )
    return {
        "trial": trial.name,
        **more,
        **model,
        "seconds": trial.seconds,
        **rates,
        "retransmits": again,
        **fair,
    }
