"""Bursts against spacing on a long fat path: the table of PFLDnet 2005, simulated, and a smaller one live.

R. Takano et al., "Design and evaluation of precise software pacing mechanisms for fast long-distance
networks", PFLDnet 2005: one connection from GbE to GbE over a bottleneck of 62.5 MB/s, a round trip of
200 ms and tail drop, for five minutes; Scalable TCP and FAST TCP, with and without PSPacer's dynamic mode.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import longhaul
from longhaul import _longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.sim import simulated_plan
from longhaul.scenario import load_scenario, resolve
from longhaul.studies import (
    Figures,
    Part,
    Study,
    StudyFolder,
    at_least,
    between,
    exact,
    holds_if,
    measured,
    near,
    ratios,
    run_study,
)
from longhaul.studies.drawing import colour, draw_measured, draw_paper, legend_below

BUFFERS_KIB = (64, 128, 256, 512)
ALGORITHMS = {"scalable": "scalable", "fast": "{algorithm: fast, alpha: 200}"}
STATED = StudyFolder(Path(__file__).parent).paper
"""The paper's table."""
HALF, TABLE = "16.8 MB", "11.4 MB"
SECONDS = 300
WINDOWS = {
    HALF: ("32MiB", "independent: half of the paper's socket buffers of 32 MB"),
    TABLE: (
        "22840kB",
        "derived from the answer: the most that the paper's own table shows, 57.1 MB/s in 200 ms",
    ),
}


@dataclass(frozen=True)
class Case:
    """A cell of the table."""

    algorithm: str
    paced: bool
    buffer_kib: int
    window: str = TABLE
    seconds: int = SECONDS


def scenario(case: Case) -> str:
    """The paper's set-up for one cell."""
    return f"""\
version: 1
name: pfldnet-2005
duration: {case.seconds}s
addresses: ipv4
tcp: {{buffers: {WINDOWS[case.window][0]}, pacing: {"dynamic" if case.paced else "false"}}}
nodes:
  sender: {{kind: host}}
  receiver: {{kind: host}}
  near: {{kind: router}}
  far: {{kind: router}}
links:
  sender: {{endpoints: [sender, near], rate: 1Gbit, count: ethernet, queue: 64MiB}}
  wan: {{endpoints: [near, far], delay: 100ms, forward: {{rate: 500Mbit, queue: {case.buffer_kib}KiB}}}}
  receiver: {{endpoints: [far, receiver], rate: 1Gbit, count: ethernet, queue: 64MiB}}
traffic:
  bulk: {{kind: tcp, from: sender, to: receiver, cc: {ALGORITHMS[case.algorithm]}}}
"""


def simulate(cases: list[Case], folder: Path) -> list[tuple[float, int]]:
    """MB/s of payload and packets dropped at the bottleneck, of each case."""
    plans = []
    for place, case in enumerate(cases):
        path = folder / f"case-{place}.yaml"
        path.write_text(scenario(case), encoding="utf-8")
        plans.append(json.dumps(simulated_plan(resolve(load_scenario(path)))[0]))
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda plan: _longhaul.simulate_many([plan])[0], plans))
    results = []
    for case, (counted, _pings, wrong) in zip(cases, found, strict=True):
        if wrong or counted is None:
            raise RuntimeError(wrong)
        engine = json.loads(counted)
        wan = next(link["forward"] for link in engine["links"] if link["name"] == "wan")
        megabytes = sum(flow["bytes"] for flow in engine["flows"]) / 1e6
        results.append((megabytes / case.seconds, wan["overflowed_packets"]))
    return results


def study_simulated(study: Study) -> None:
    """Simulate the table under both windows, evaluate."""
    seconds = study.size(SECONDS, small=5)
    cases = [
        Case(algorithm, paced, buffer, window, seconds)
        for window in WINDOWS
        for algorithm in ALGORITHMS
        for paced in (False, True)
        for buffer in BUFFERS_KIB
    ]
    got = study.measured("pfldnet", lambda: [list(each) for each in simulate(cases, study.runs)])
    if got is None:
        raise RuntimeError("the table was not simulated")
    found = {case: (rate, drops) for case, (rate, drops) in zip(cases, got, strict=True)}
    study.table("pfldnet", [row(case, each) for case, each in found.items()])
    for window, (_buffers, what) in WINDOWS.items():
        study.note(f"window {window}: {what}")
    evaluate(study, found)


def series(algorithm: str, *, paced: bool) -> str:
    """A line of the paper's table."""
    return f"{algorithm}, {'paced' if paced else 'unpaced'}"


def stated_rate(algorithm: str, buffer_kib: int, *, paced: bool) -> float:
    """MB/s in the paper's table."""
    return STATED.value("table", series(algorithm, paced=paced), buffer_kib)


def row(case: Case, got: tuple[float, int]) -> dict[str, Any]:
    name = series(case.algorithm, paced=case.paced)
    return {
        "window": case.window,
        "algorithm": case.algorithm,
        "paced": case.paced,
        "buffer_kib": case.buffer_kib,
        "megabytes_per_s": round(got[0], 2),
        "drops": got[1],
        "paper_megabytes_per_s": STATED.value("table", name, case.buffer_kib),
        "paper_drops": STATED.value("table", f"drops of {name}", case.buffer_kib),
    }


def evaluate(study: Study, found: dict[Case, tuple[float, int]]) -> None:
    """The claims of the table, under both windows."""
    seconds = next(iter(found)).seconds

    def cell(algorithm: str, paced: bool, buffer_kib: int, window: str) -> tuple[float, int]:
        return found[Case(algorithm, paced, buffer_kib, window, seconds)]

    def named(algorithm: str, buffer_kib: int, window: str) -> str:
        return f"{algorithm}, {buffer_kib} KiB, window {window}"

    every = [
        (algorithm, buffer, window)
        for window in WINDOWS
        for algorithm in ALGORITHMS
        for buffer in BUFFERS_KIB
    ]
    least = study.numbers("paced-least")["least"]
    study.evaluate(
        "paced-least",
        [at_least(named(*each), exact(cell(each[0], True, *each[1:])[0]), least, "MB/s") for each in every],
    )
    apart = study.numbers("paced-rates")["within"]
    study.evaluate(
        "paced-rates",
        [
            between(
                named(*each), exact(cell(each[0], True, *each[1:])[0]), theirs - apart, theirs + apart, "MB/s"
            )
            for each in every
            for theirs in [stated_rate(each[0], each[1], paced=True)]
        ],
    )
    within = study.numbers("unpaced-rates")["within"]
    study.evaluate(
        "unpaced-rates",
        [
            near(named(*each), exact(cell(each[0], False, *each[1:])[0]), theirs, within, "MB/s")
            for each in every
            for theirs in [stated_rate(each[0], each[1], paced=False)]
        ],
    )
    share = study.numbers("more-buffer")["share"]
    study.evaluate(
        "more-buffer",
        [
            at_least(named(algorithm, high, window), exact(rate / less), share)
            for window in WINDOWS
            for algorithm in ALGORITHMS
            for low, high in pairwise(BUFFERS_KIB)
            for rate, less in [
                (cell(algorithm, False, high, window)[0], cell(algorithm, False, low, window)[0])
            ]
        ],
    )
    study.evaluate(
        "unpaced-fast-drops",
        [
            holds_if(
                f"window {window}",
                [drops > 0 for _rate, drops in cells] == [True, True, True, False] and cells[-1][0] >= least,
                f"{', '.join(str(drops) for _rate, drops in cells)} drops; {cells[-1][0]:.1f} MB/s",
            )
            for window in WINDOWS
            for cells in [[cell("fast", False, buffer, window) for buffer in BUFFERS_KIB]]
        ],
    )
    within = study.numbers("pacing-gain")["within"]
    study.evaluate(
        "pacing-gain",
        [
            near(
                named(algorithm, 64, window),
                exact(cell(algorithm, True, 64, window)[0] / cell(algorithm, False, 64, window)[0]),
                ratio,
                within,
            )
            for window in WINDOWS
            for algorithm in ALGORITHMS
            for ratio in [stated_rate(algorithm, 64, paced=True) / stated_rate(algorithm, 64, paced=False)]
        ],
    )


def draw(figures: Figures) -> None:
    """The table: payload and drops by the bottleneck's buffer."""
    rows = figures.rows("pfldnet")
    with paper():
        made = figure(5.6, width_in=9)
        panels = made.subplots(2, 2, sharex=True, sharey="row")
        for across, algorithm in enumerate(ALGORITHMS):
            rates, drops = panels[0][across], panels[1][across]
            for number, paced in enumerate((True, False)):
                name = series(algorithm, paced=paced)
                for window, marker in ((HALF, "s:"), (TABLE, "o-")):
                    mine = [
                        row
                        for row in rows
                        if (row["algorithm"], row["paced"], row["window"]) == (algorithm, paced, window)
                    ]
                    kind = "paced" if paced else "unpaced"
                    style = {"color": colour(number), "markersize": 4}
                    style |= {"label": f"{kind}, window {window}{' (derived)' if window == TABLE else ''}"}
                    sizes = [row["buffer_kib"] for row in mine]
                    rates.plot(sizes, [row["megabytes_per_s"] for row in mine], marker, **style)
                    drops.plot(sizes, [row["drops"] for row in mine], marker, **style)
                label = f"paper, {'paced' if paced else 'unpaced'}"
                mark = "Ds"[number]
                for axes, values in (
                    (rates, figures.paper.values("table", name)),
                    (drops, figures.paper.values("table", f"drops of {name}")),
                ):
                    draw_paper(axes, values, label=label, marker=mark)
            draw_paper(rates, figures.paper.values("table", "rate of the bottleneck"))
            rates.set(ylim=(0, 68), title="Scalable" if algorithm == "scalable" else "FAST")
            drops.set_yscale("symlog", linthresh=10)
            drops.set(ylim=(-1, None), xlabel="buffer of the bottleneck [KiB]")
            drops.set_xscale("log", base=2)
            drops.set_xticks(BUFFERS_KIB, [str(each) for each in BUFFERS_KIB])
        panels[0][0].set_ylabel("payload [MB/s]")
        panels[1][0].set_ylabel("packets dropped")
        legend_below(made, ncols=4)
        figures.add(made, "table", data=["pfldnet"])


LIVE_ALGORITHMS = ("reno", "cubic")
LIVE_KINDS = {
    "unpaced": ("", ""),
    "host paces": (
        "pacing: {line_rate: 1Gbit, count: ethernet, classes: {bulk: {rate: 45Mbit, port: 5201}}}",
        "",
    ),
    "socket paces": ("", "--fq-rate 44M"),
}


def live_scenario(kind: str, algorithm: str) -> str:
    """A tenth of the paper's rate, half of its round trip: real TCP of this kernel, 32 packets of buffer."""
    pacing, option = LIVE_KINDS[kind]
    return f"""\
version: 1
name: pacing-live
addresses: ipv4
tcp: {{congestion_control: reno, buffers: 4MiB}}
nodes:
  sender: {{kind: host{", " + pacing if pacing else ""}}}
  receiver: {{kind: host}}
  near: {{kind: router}}
  far: {{kind: router}}
links:
  sender: {{endpoints: [sender, near], rate: 1Gbit, count: ethernet, queue: 16MiB}}
  wan: {{endpoints: [near, far], delay: 50ms, forward: {{rate: 50Mbit, count: ethernet, queue: 32p}}}}
  receiver: {{endpoints: [far, receiver], rate: 1Gbit, count: ethernet, queue: 16MiB}}
programs:
  server: {{host: receiver, run: iperf3 -s -1, service: true, ready: "tcp:5201"}}
  client: {{host: sender, run: iperf3 -c receiver -t 25 -J -C {algorithm} {option}}}
"""


def study_live(study: Study, *, rounds: int) -> None:
    """Real TCP over a bottleneck of 50 Mbit/s."""
    rows = []
    for number in range(rounds):
        for algorithm in LIVE_ALGORITHMS:
            for kind in LIVE_KINDS:
                found = study.measured(
                    f"live/{algorithm}/{kind}/{number}", lambda k=kind, c=algorithm: one_live(study, k, c)
                )
                rows += [{"algorithm": algorithm, "sender": kind, "round": number, **found}] if found else []
    study.table("live", rows)

    def rates(algorithm: str, kind: str) -> list[float]:
        return [row["mbit"] for row in rows if (row["algorithm"], row["sender"]) == (algorithm, kind)]

    least_ratio = study.numbers("host-pacing-faster")["least_ratio"]
    study.evaluate(
        "host-pacing-faster",
        [
            at_least(
                algorithm, ratios(rates(algorithm, "host paces"), rates(algorithm, "unpaced")), least_ratio
            )
            for algorithm in LIVE_ALGORITHMS
        ],
    )
    study.evaluate(
        "host-pacing-no-loss",
        [
            holds_if(algorithm, not sum(drops), f"{sum(drops)} drops in {len(drops)} runs")
            for algorithm in LIVE_ALGORITHMS
            for drops in [
                [r["drops"] for r in rows if (r["algorithm"], r["sender"]) == (algorithm, "host paces")]
            ]
        ],
    )
    for algorithm in LIVE_ALGORITHMS:
        for kind in LIVE_KINDS:
            study.value(f"{algorithm}, {kind}", measured(rates(algorithm, kind)), "Mbit/s")


def one_live(study: Study, kind: str, algorithm: str) -> dict[str, Any]:
    """One transfer of 25 s."""
    path = study.runs / f"live-{algorithm}-{kind.split(maxsplit=1)[0]}.yaml"
    path.write_text(live_scenario(kind, algorithm), encoding="utf-8")
    result = longhaul.run_live(path, runs=study.runs, report=False)
    study.ran(result)
    end = json.loads((result.directory / "logs" / "client.out").read_text(encoding="utf-8"))["end"]
    wan = next(each for each in result.summary["links"] if each["name"] == "wan")
    return {
        "mbit": round(end["sum_received"]["bits_per_second"] / 1e6, 2),
        "drops": wan["packets"]["overflowed"],
        "retransmits": end["sum_sent"]["retransmits"],
        "verdict": result.verdict,
    }


def draw_live(figures: Figures) -> None:
    """Goodput by how the sender paces."""
    rows = figures.rows("live")
    with paper():
        made = figure(3.2, width_in=6)
        axes = made.subplots()
        for number, algorithm in enumerate(LIVE_ALGORITHMS):
            found = [
                measured(
                    [row["mbit"] for row in rows if (row["algorithm"], row["sender"]) == (algorithm, kind)]
                )
                for kind in LIVE_KINDS
            ]
            places = [place + 0.16 * (number - 0.5) for place in range(len(LIVE_KINDS))]
            style = {"marker": "os"[number], "line": "", "color": colour(number)}
            draw_measured(axes, places, found, label=algorithm, **style)
        axes.set_xticks(range(len(LIVE_KINDS)), list(LIVE_KINDS))
        axes.set(ylabel="goodput [Mbit/s]", ylim=(0, 50))
        axes.set_title("live, at a tenth of the rate")
        legend_below(made)
        figures.add(made, "live", data=["live"])


PARTS = {
    "table": Part(lambda study, _given: study_simulated(study), draw=draw),
    "live": Part(lambda study, given: study_live(study, rounds=given.rounds), rounds=3, draw=draw_live),
}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
