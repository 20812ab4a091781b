"""One scenario played live, through a relay, and simulated: where a ping-pong runs in each."""

import csv
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pingpong import SIZES, Sample

import longhaul
from longhaul.report.mpl import Figure
from longhaul.report.plotting import figure
from longhaul.studies import Study, measured
from longhaul.studies.drawing import MARKERS, colour, draw_measured, legend_below

SCENARIO = Path(__file__).parent / "path.yaml"
PROGRAM = Path(__file__).parent / "pingpong.py"
KINDS = ("nws", "eventspace", "constant")
SAMPLED = "another minute's mean"
EVERY_KIND = (*KINDS, SAMPLED)
"""``constant`` are the very means that ``eventspace`` is drawn from: derived from the answer. The last one is
independent: constants too, but the means of one minute of another draw whose values are correlated."""
KIB = 1024
SAMPLED_S, CORRELATED_S = 60, 30
LARGEST_SMALL = 16 * KIB
"""Bytes; the time of larger ones shows the bandwidth."""

Client = Callable[..., list[Any]]
"""Runs ``pingpong.py`` from the near site to the far one, with an action and options; returns its output."""


@dataclass(frozen=True)
class Curve:
    """Half round trips by size, in seconds."""

    mean: dict[int, float]
    middle: dict[int, float]

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Curve":
        """Of what a ping-pong measured."""
        found: dict[int, list[float]] = {}
        for _at, size, took in samples:
            found.setdefault(size, []).append(took / 2)
        return cls(
            {size: fmean(times) for size, times in found.items()},
            {size: median(times) for size, times in found.items()},
        )

    def megabits_per_s(self) -> dict[int, float]:
        """By mean times, as the Pallas benchmarks divide."""
        return {size: size * 8e-6 / took for size, took in self.mean.items()}


def drawn(title: str, curves: Mapping[str, Mapping[int, Sequence[float]]]) -> Figure:
    """Latency of small messages, and bandwidth.

    ``curves``: by label the half round trips in ms, by size and for each round.
    """
    made = figure(3.7, width_in=9)
    latency, bandwidth = made.subplots(1, 2)
    for number, (label, times) in enumerate(curves.items()):
        style: dict[str, Any] = {"marker": MARKERS[number], "color": colour(number), "label": label}
        small = [size for size in times if size <= LARGEST_SMALL]
        draw_measured(latency, small, [measured(times[size]) for size in small], **style)
        rates = [measured([size * 8e-3 / each for each in values]) for size, values in times.items()]
        draw_measured(bandwidth, list(times), rates, **style)
    latency.set(xscale="log", ylim=(0, None), xlabel="bytes", ylabel="half a round trip, mean [ms]")
    bandwidth.set(xscale="log", ylim=(0, None), xlabel="bytes", ylabel="bandwidth [Mbit/s]")
    latency.set_title(title)
    legend_below(made)
    return made


def by_round(rows: Iterable[Mapping[str, Any]], column: str) -> dict[str, dict[int, list[float]]]:
    """Mean half round trips in ms by what ``column`` says, by size, and in every round."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        found.setdefault(row[column], {}).setdefault(row["bytes"], []).append(row["mean_ms"])
    return found


@contextmanager
def live(study: Study, scenario: Path = SCENARIO, **params: str) -> Iterator[Client]:
    """In a live network, between hosts ``a`` and ``b``."""
    with study.network(scenario, params) as network:
        origin = time.monotonic() - network.status()["engine"]["t_ns"] / 1e9
        server = network.start(
            "b",
            [sys.executable, str(PROGRAM), "serve", "0.0.0.0", "7000"],
            stdout=subprocess.DEVNULL,
        )

        def client(action: str, *options: str) -> list[Any]:
            done = network.run("a", [*_words(action, "b", "7000", origin), *options])
            return list(json.loads(done.stdout))

        yield client
        server.terminate()
        server.wait(timeout=20)


@contextmanager
def relayed(study: Study, scenario: Path = SCENARIO, **params: str) -> Iterator[Client]:
    """Through a relay in this process, between loopback addresses."""
    with served("127.32.0.11") as port:
        settings = {**params, "target": str(port)}
        with longhaul.relay.running(scenario, params=settings, runs=study.runs) as relay:
            origin = time.monotonic()
            forward = next(each for each in relay.listening if each.kind == "forward")
            host, near_port = forward.place

            def client(action: str, *options: str) -> list[Any]:
                words = [*_words(action, host, str(near_port), origin), *options]
                done = subprocess.run(words, capture_output=True, text=True, check=True)
                return list(json.loads(done.stdout))

            yield client
    study.ran(relay.stop())


@contextmanager
def served(address: str) -> Iterator[int]:
    """A server of answers on this machine, in a process of its own; gives its port."""
    words = [sys.executable, str(PROGRAM), "serve", address, "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def pingpong(client: Client, seconds: float, *, sizes: Sequence[int] = SIZES) -> Curve:
    """A curve from all sizes in turn for so long, from now on."""
    options = [
        "--sizes",
        ",".join(map(str, sizes)),
        "--spans",
        f"0:{seconds}",
        "--origin",
        f"{time.monotonic()}",
    ]
    return Curve.of([tuple(each) for each in client("pingpong", *options)])


def sampled(study: Study) -> Path:
    """A file of constants: the means of one minute of correlated draws with EventSpace's figures."""
    drawn_s = ["--duration", f"{SAMPLED_S}s", "--correlation", f"{CORRELATED_S}s", "--seed", "2"]
    program = [sys.executable, "-m", "longhaul.cli.main", "trace", "synthesise"]
    table = [*program, "--table", "longcut:eventspace"]
    text = subprocess.run([*table, *drawn_s], check=True, capture_output=True, text=True).stdout
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
        found.setdefault((row["src"], row["dst"]), []).append(row)
    path = study.runs / "sampled.csv"
    lines = ["t_s,src,dst,rtt_ms,rate_mbit"]
    for (here, there), rows in found.items():
        rtt, rate = (fmean(float(row[key]) for row in rows) for key in ("rtt_ms", "rate_mbit"))
        lines.append(f"0,{here},{there},{rtt:.4f},{rate:.4f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def of_kind(study: Study, text: str, kind: str) -> str:
    """A scenario that plays the shipped set, with another kind of it or with the constants of a minute."""
    if kind != SAMPLED:
        return text.replace("kind: eventspace", f"kind: {kind}")
    played = "set: longcut, kind: $kind"
    assert text.count(played) == 1
    return (
        text.replace(played, f"trace: {sampled(study).name}")
        .replace("kind: eventspace, ", "")
        .replace("kind: eventspace", "unused: 0")
    )


def simulated(study: Study, sizes: Sequence[int] = SIZES, *, seconds: float) -> dict[str, Curve]:
    """The curve of each kind, each size for about so many simulated seconds."""
    block = (
        "\nprograms:\n  app: {simulate: {kind: ping-pong, bytes: $bytes, repeat: $repeat}, hosts: [a, b]}\n"
    )
    text = SCENARIO.read_text(encoding="utf-8").replace("params: {", "params: {bytes: 8B, repeat: 1, ", 1)
    path = study.runs / "simulated.yaml"
    found: dict[str, dict[int, float]] = {}
    for kind in EVERY_KIND:
        whole = of_kind(study, text.replace("name: path", "name: simulated"), kind)
        path.write_text(whole + block, encoding="utf-8")
        found[kind] = {}
        for size in sizes:
            repeat = max(5, round(seconds / (2 * (0.006 + size * 8 / 8e6))))
            took = simulated_s(study, path, bytes=f"{size}B", repeat=repeat)
            found[kind][size] = took / repeat / 2
    return {kind: Curve(times, times) for kind, times in found.items()}


def simulated_s(study: Study, path: Path, **params: Any) -> float:
    """Seconds that program ``app`` takes in a simulation."""
    result = longhaul.run_sim(path, params=params, runs=study.runs, report=False)
    return float(next(each["wall_ns"] for each in result.summary["programs"] if each["name"] == "app") / 1e9)


def _words(action: str, host: str, port: str, origin: float) -> list[str]:
    return [sys.executable, str(PROGRAM), action, host, port, "--origin", f"{origin}"]
