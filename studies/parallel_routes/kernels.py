"""Figures 5 and 7: kernels of the NAS parallel benchmarks over parallel routes.

Simulated and on the virtual clock as in the paper, 32 ranks on eight hosts with 10 GbE; and live with eight
ranks, everything twenty times slower: routes of 50 Mbit/s, and computing that takes twenty times as long.
"""

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from skeletons import Program, one_rank_s

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Case, Figures, Measurement, Study, at_least, at_most, exact, holds_if, measured
from longhaul.studies.drawing import MARKERS, colour, draw_measured, draw_paper, legend_below

SCENARIO = Path(__file__).parent / "kernels.yaml"
ROUTES = (2, 4, 8)
RTTS_MS = (0, 5, 10)
BIC = "{algorithm: bic, delayed_acks: false}"
"""Linux 2.6 counted acknowledgements, so that its factor for delayed ones gave each segment its growth."""
SLOWER = (1, 2.5, 5)
"""A core of 2006 against one that the shipped costs were measured on. The paper has no times: all of these
are assumed, and claims are evaluated under each."""
USUAL = 2.5
SIMULATED = {"ft": "B", "mg": "B", "cg": "A"}
SMALLEST = {"mg": "S"}
"""To try the study out."""
LIVE = {"ft": "W", "mg": "W", "cg": "W"}
SLOT_RANKS, LIVE_RANKS = 32, 8
LIVE_SCALE = 20
SERIAL, ALL_ON_ONE = "serial", "all flows on one route"
DELAYED, DELAYED_WAYS = "mg", (SERIAL, *(f"round robin {n}" for n in ROUTES), "flow-based 8")
"""The kernel of figure 7, and its ways."""
TIMEOUT_S = "120"

Seconds = Mapping[tuple[str, str, int], list[float]]
"""Of a kernel over a way at a round trip in ms, one for each round."""


def ways() -> Iterator[tuple[str, str]]:
    """What is between the clusters: its name, and its algorithms at the paper's rates."""
    yield SERIAL, "rate: 10Gbit"
    yield ALL_ON_ONE, "rate: 1Gbit"
    for routes in ROUTES:
        yield f"round robin {routes}", f"rate: 1Gbit, routes: {{policy: round-robin, count: {routes}}}"
    for routes in ROUTES:
        yield (
            f"flow-based {routes}",
            f"rate: 1Gbit, routes: {{policy: flow-hash, key: hosts, count: {routes}}}",
        )


def scenario(name: str, algorithms: str, folder: Path, *, program: str = "") -> Path:
    """The two clusters with ``algorithms`` between them, and perhaps a program."""
    text = SCENARIO.read_text(encoding="utf-8").replace("name: kernels", f"name: {name}")
    lines = algorithms.replace(", routes:", "\n    routes:")
    path = folder / f"{name}.yaml"
    path.write_text(f"{text}    {lines}\n{program}", encoding="utf-8")
    return path


def one_way(rtt_ms: int) -> str:
    """The delay of the backbone; never less than 10 us."""
    return f"{rtt_ms * 500 or 10}us"


def study_simulated(study: Study) -> None:
    """Every kernel over every way at every round trip, as in the paper; and with other computing."""
    every: dict[str, Seconds] = {}
    sizes = study.size(SIMULATED, small=SMALLEST)
    for slower in study.size(SLOWER, small=(USUAL,)):
        rtts = RTTS_MS if slower == USUAL else (0,)
        found = study.measured(f"kernels/{slower:g}", lambda s=slower, r=rtts: simulate(study, sizes, s, r))
        if found is None:
            raise RuntimeError("kernels were not simulated")
        every[f"computing {slower:g} times as long"] = {
            (each["kernel"], each["way"], each["rtt_ms"]): [each["s"]] for each in found
        }
    study.table("kernels-simulated", rows_of(every))
    evaluate(study, every, usual=f"computing {USUAL:g} times as long")


def simulate(
    study: Study, sizes: Mapping[str, str], slower: float, rtts: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Seconds of every kernel, of its class, over every way."""
    folder = study.runs / f"kernels-{slower:g}"
    folder.mkdir(exist_ok=True)
    cases = []
    for name, problem in sizes.items():
        program = Program(name, problem, slower * one_rank_s(name, problem))
        program.record(SLOT_RANKS, folder / f"{name}.csv")
        what = f"{{kind: recorded, file: {name}.csv, slots: 4, cc: {BIC}}}"
        block = f"programs:\n  app: {{simulate: {what}, hosts: [a1..4, b1..4]}}\n"
        for way, algorithms in ways():
            path = scenario(f"{name}-{way.replace(' ', '-')}", algorithms, folder, program=block)
            cases += [(name, way, rtt, path) for rtt in rtts]

    def run(case: tuple[str, str, int, Path]) -> dict[str, Any]:
        name, way, rtt, path = case
        result = longhaul.run_sim(path, params={"delay": one_way(rtt)}, runs=folder, report=False)
        seconds = result.summary["programs"][0]["wall_ns"] / 1e9
        return {"kernel": name, "way": way, "rtt_ms": rtt, "s": round(seconds, 6)}

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(run, cases))


def study_live(study: Study, *, rounds: int) -> None:
    """The same with real messages, a rank on each host, everything slower."""
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for number in range(rounds):
        for way, algorithms in ways():
            found = study.measured(
                f"kernels-live/{way}/{number}", lambda algorithms=algorithms: run_live(study, algorithms)
            )
            for each in found or []:
                seconds.setdefault((each["kernel"], way, each["rtt_ms"]), []).append(each["s"])
    # Rounds in which every way was measured can be compared.
    whole = min(map(len, seconds.values()))
    every = {"live": {key: values[:whole] for key, values in seconds.items()}}
    study.table("kernels-live", rows_of(every))
    evaluate(study, every, usual="live", end="-live")


def live_scenario(algorithms: str, folder: Path) -> Path:
    """The two clusters at a twentieth of all rates, for real hosts."""
    slower = algorithms.replace("10Gbit", f"{10_000 // LIVE_SCALE}Mbit").replace(
        "1Gbit", f"{1000 // LIVE_SCALE}Mbit"
    )
    path = scenario("kernels-live", slower, folder)
    # How a real host finds losses cannot be set.
    text = path.read_text(encoding="utf-8").replace("recovery: sack-adaptive", "congestion_control: reno")
    path.write_text(text, encoding="utf-8")
    return path


def run_live(study: Study, algorithms: str) -> list[dict[str, Any]]:
    """Seconds of every kernel over one way."""
    path = live_scenario(algorithms, study.runs)
    found = []
    with study.network(path, {"port": f"{10_000 // LIVE_SCALE}Mbit"}) as network:
        for rtt in RTTS_MS:
            network.set("wan", delay=one_way(rtt))
            for name, problem in LIVE.items():
                if rtt and name != DELAYED:
                    continue
                compute_s = USUAL * LIVE_SCALE * one_rank_s(name, problem) * LIVE_RANKS / SLOT_RANKS
                argv = Program(name, problem, compute_s).argv
                command = ["timeout", TIMEOUT_S, "mpirun", "-n", str(LIVE_RANKS), *argv]
                ended = network.run("a1", command)
                wall_s = json.loads(ended.stdout.splitlines()[-1])["wall_s"]
                found.append({"kernel": name, "rtt_ms": rtt, "s": round(wall_s, 4)})
    return found


def rows_of(every: Mapping[str, Seconds]) -> list[dict[str, Any]]:
    """A row for each time."""
    return [
        {"how": how, "kernel": name, "way": way, "rtt_ms": rtt, "round": number, "s": value}
        for how, seconds in every.items()
        for (name, way, rtt), values in seconds.items()
        for number, value in enumerate(values)
    ]


class Speeds:
    """Speeds of kernels, as shares of one another."""

    def __init__(self, seconds: Seconds, *, live: bool) -> None:
        self._seconds, self._live = seconds, live

    def over(
        self, kernel: str, way: str, other: str, rtt_ms: int = 0, other_ms: int | None = None
    ) -> Measurement:
        """How many times as fast a kernel is over one way as over another."""
        ours = self._seconds[kernel, way, rtt_ms]
        theirs = self._seconds[kernel, other, rtt_ms if other_ms is None else other_ms]
        pairs = [b / a for a, b in zip(ours, theirs, strict=True)]
        return measured(pairs) if self._live else exact(pairs[0])

    def relative(self, kernel: str, way: str, rtt_ms: int = 0) -> Measurement:
        """Figure 5's relative performance: that of the serial route without delay is 1."""
        return self.over(kernel, way, SERIAL, rtt_ms, 0)

    @property
    def kernels(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(name for name, _way, _rtt in self._seconds))

    def rtts(self, kernel: str) -> list[int]:
        """Round trips with which a kernel was run."""
        return sorted({rtt for name, _way, rtt in self._seconds if name == kernel})

    def ways(self, kernel: str) -> list[str]:
        """Ways over which a kernel was run with every round trip."""
        return [way for way, _ in ways() if all((kernel, way, rtt) in self._seconds for rtt in RTTS_MS)]


def evaluate(study: Study, every: Mapping[str, Seconds], *, usual: str, end: str = "") -> None:
    """The words on figures 5 and 7, with delays of ``usual``. ``end`` is that of the claims' names."""
    speeds = {how: Speeds(seconds, live=end == "-live") for how, seconds in every.items()}
    ideal = study.numbers("ideal-4")["ideal"]
    spread = study.numbers("spread")["spread"]

    def named(kernel: str, how: str, more: str = "") -> str:
        return ", ".join(each for each in (f"{kernel.upper()}{more}", how if len(speeds) > 1 else "") if each)

    for routes in (4, 8):
        study.evaluate(
            f"ideal-{routes}{end}",
            [
                at_least(named(name, how), each.relative(name, f"round robin {routes}"), ideal)
                for how, each in speeds.items()
                for name in each.kernels
            ],
        )
    study.evaluate(
        f"more-routes-faster{end}",
        [
            at_least(
                named(name, how, f", {b} over {a}"),
                each.over(name, f"round robin {b}", f"round robin {a}"),
                1,
            )
            for how, each in speeds.items()
            for name in each.kernels
            for a, b in ((2, 4), (4, 8))
        ],
    )
    study.evaluate(
        f"beats-flow-based{end}",
        [
            at_least(
                named(name, how, f", {n} routes"), each.over(name, f"round robin {n}", f"flow-based {n}"), 1
            )
            for how, each in speeds.items()
            for name in each.kernels
            for n in ROUTES
        ],
    )
    study.evaluate(
        f"spread{end}",
        [
            at_least(named(name, how, f" against {other}"), each.over(name, "round robin 8", other), spread)
            for other in ("flow-based 8", ALL_ON_ONE)
            for how, each in speeds.items()
            for name in each.kernels
        ],
    )
    _evaluate_delays(study, speeds[usual], end)


def _evaluate_delays(study: Study, speeds: Speeds, end: str) -> None:
    almost = study.numbers("almost-serial")["almost"]
    kernels = [name for name in speeds.kernels if len(speeds.rtts(name)) > 1]
    study.evaluate(
        f"degrades-with-delay{end}",
        [
            at_most(f"{name.upper()}, {way}, {b} over {a} ms", speeds.over(name, way, way, b, a), 1)
            for name in kernels
            for way in speeds.ways(name)
            for a, b in ((0, 5), (5, 10))
        ],
    )
    study.evaluate(
        f"almost-serial{end}",
        [
            at_least(
                f"{name.upper()}, {rtt} ms",
                speeds.over(name, "round robin 8", SERIAL, rtt),
                almost,
                percent=True,
            )
            for name in kernels
            for rtt in RTTS_MS[1:]
        ],
    )
    if end == "-live":
        return
    study.evaluate(
        f"more-routes-with-delay{end}",
        [_ordered(speeds, name, rtt) for name in kernels for rtt in RTTS_MS[1:]],
    )


def _ordered(speeds: Speeds, kernel: str, rtt_ms: int) -> Case:
    found = [speeds.relative(kernel, f"round robin {n}", rtt_ms) for n in ROUTES]
    text = ", ".join(each.shown() for each in found)
    return holds_if(
        f"{kernel.upper()}, {rtt_ms} ms", found[0].value <= found[1].value <= found[2].value, text
    )


def draw_simulated(figures: Figures) -> None:
    """Figures 5 and 7 with the usual length of computing."""
    draw_kernels(figures, f"computing {USUAL:g} times as long", "", "kernels-simulated", "simulated")


def draw_live(figures: Figures) -> None:
    """Figures 5 and 7 live."""
    draw_kernels(figures, "live", "-live", "kernels-live", "live, a twentieth of all rates")


def draw_kernels(figures: Figures, how: str, end: str, table: str, title: str) -> None:
    """Speeds over routes, and of MG over delays, from the rows of a table."""
    seconds: dict[tuple[str, str, int], list[float]] = {}
    for row in figures.rows(table):
        if row["how"] == how:
            seconds.setdefault((row["kernel"], row["way"], row["rtt_ms"]), []).append(row["s"])
    speeds = Speeds(seconds, live=end == "-live")
    with paper():
        _draw_routes(figures, speeds, f"figure-5{end}", f"figure 5, {title}", table)
        if DELAYED in speeds.kernels and len(speeds.rtts(DELAYED)) > 1:
            _draw_delays(figures, speeds, f"figure-7{end}", f"figure 7: MG, {title}", table)


def _draw_routes(figures: Figures, speeds: Speeds, name: str, title: str, table: str) -> None:
    """Speed against the number of routes, and how many times as fast round robin is."""
    made = figure(3.6, width_in=9)
    left, right = made.subplots(1, 2, width_ratios=[3, 2])
    kernels = sorted(speeds.kernels)
    for number, kernel in enumerate(kernels):
        for kind, line, fill in (("round robin", "-", "full"), ("flow-based", "--", "none")):
            at = [(1, ALL_ON_ONE), *((n, f"{kind} {n}") for n in ROUTES)]
            draw_measured(
                left,
                [n for n, _way in at],
                [speeds.relative(kernel, way) for _n, way in at],
                marker=MARKERS[number],
                line=line,
                fillstyle=fill,
                color=colour(number),
                label=f"{kernel.upper()}, {kind}",
            )
    draw_paper(left, figures.paper.values("5", "one 10 GbE route", "round robin"))
    left.set(ylabel="speed over that of one 10 GbE route", xlabel="routes", xticks=[1, *ROUTES])
    left.set(ylim=(0, 1.2))
    left.set_title(title)
    for number, other in enumerate(("flow-based 8", ALL_ON_ONE)):
        draw_measured(
            right,
            [place + 0.24 * (number - 0.5) for place in range(len(kernels))],
            [speeds.over(kernel, "round robin 8", other) for kernel in kernels],
            marker="sD"[number],
            line="",
            color=colour(number + 4),
            label=f"over {other}",
        )
    draw_paper(right, figures.paper.values("5", "round robin compared with flow-based"))
    right.set_xticks(range(len(kernels)), [kernel.upper() for kernel in kernels])
    right.margins(y=0.2)
    right.set(xlim=(-0.5, len(kernels) - 0.5), ylim=(0, None))
    right.set_ylabel("round robin over 8 routes,\ntimes as fast")
    right.set_title("how far the two spread")
    legend_below(made, ncols=4, size=7.5)
    figures.add(made, name, data=[table])


def _draw_delays(figures: Figures, speeds: Speeds, name: str, title: str, table: str) -> None:
    """Speed of MG against the delay."""
    made = figure(3.6, width_in=6.5)
    axes = made.subplots()
    rtts = speeds.rtts(DELAYED)
    for number, way in enumerate(DELAYED_WAYS):
        draw_measured(
            axes,
            rtts,
            [speeds.relative(DELAYED, way, rtt) for rtt in rtts],
            marker=MARKERS[number],
            line="--" if way.startswith("flow") else "-",
            color=colour(number),
            label="one 10 GbE route" if way == SERIAL else way,
        )
    draw_paper(axes, figures.paper.values("7"))
    axes.set(xlabel="round trip [ms]", xticks=rtts, ylim=(0, 1.15))
    axes.set_ylabel("speed over that of one 10 GbE route\nwithout delay")
    axes.set_title(title)
    legend_below(made, ncols=4)
    figures.add(made, name, data=[table])
