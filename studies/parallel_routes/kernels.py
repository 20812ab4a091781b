"""Figures 5 and 7: kernels of the NAS parallel benchmarks over parallel routes.

Simulated as in the paper, 32 ranks on eight hosts with 10 GbE; and live with eight ranks, everything twenty
times slower: routes of 50 Mbit/s, and computing that takes twenty times as long.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from skeletons import Program, one_rank_s
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

SCENARIO = Path(__file__).parent / "kernels.yaml"
ROUTES = (2, 4, 8)
RTTS_MS = (0, 5, 10)
SLOWER = 2.5
"""A core of 2006 against one that the shipped costs were measured on: an assumption, for lack of times."""
SIMULATED = {"ft": "B", "mg": "B", "cg": "A"}
LIVE = {"ft": "W", "mg": "W", "cg": "W"}
SLOT_RANKS, LIVE_RANKS = 32, 8
LIVE_SCALE = 20
SERIAL, ALL_ON_ONE = "serial", "all flows on one route"

Seconds = Mapping[tuple[str, str, int], float]
"""Of a kernel over a way at a round trip in ms."""


def ways() -> Iterator[tuple[str, str]]:
    """What is between the clusters: its name, and its laws at the paper's rates."""
    yield SERIAL, "rate: 10Gbit"
    yield ALL_ON_ONE, "rate: 1Gbit"
    for routes in ROUTES:
        yield f"round robin {routes}", f"rate: 1Gbit, routes: {{policy: round-robin, count: {routes}}}"
    for routes in ROUTES:
        yield (
            f"flow-based {routes}",
            f"rate: 1Gbit, routes: {{policy: flow-hash, key: hosts, count: {routes}}}",
        )


def study_kernels(study: Study) -> None:
    """Simulate and run live, draw both figures, judge the claims."""
    simulated, live = simulate(study), run_live(study)
    study.table(
        "kernels",
        [
            {"how": how, "kernel": name, "way": way, "rtt_ms": rtt, "seconds": round(value, 5)}
            for how, seconds in (("simulated", simulated), ("live", live))
            for (name, way, rtt), value in seconds.items()
        ],
    )
    for how, seconds in (("simulated", simulated), ("live", live)):
        judge(study, how, seconds)
    draw(study, {"simulated": simulated, "live, a twentieth": live})


def scenario(name: str, laws: str, folder: Path, *, program: str = "") -> Path:
    """The two clusters with ``laws`` between them, and perhaps a program."""
    text = SCENARIO.read_text(encoding="utf-8").replace("name: kernels", f"name: {name}")
    lines = laws.replace(", routes:", "\n    routes:")
    path = folder / f"{name}.yaml"
    path.write_text(f"{text}    {lines}\n{program}", encoding="utf-8")
    return path


def one_way(rtt_ms: int) -> str:
    """The delay of the backbone; never less than 10 us."""
    return f"{rtt_ms * 500 or 10}us"


def simulate(study: Study) -> dict[tuple[str, str, int], float]:
    """Every kernel over every way at every round trip, as in the paper."""
    folder = study.directory / "runs"
    folder.mkdir(exist_ok=True)
    found = {}
    for name, problem in SIMULATED.items():
        program = Program(name, problem, SLOWER * one_rank_s(name, problem))
        program.record(SLOT_RANKS, folder / f"{name}.csv")
        what = f"{{kind: recorded, file: {name}.csv, slots: 4, cc: bic}}"
        block = f"programs:\n  app: {{simulate: {what}, hosts: [a1..4, b1..4]}}\n"
        for way, laws in ways():
            path = scenario("kernels", laws, folder, program=block)
            for rtt in RTTS_MS:
                result = longhaul.run_sim(path, params={"delay": one_way(rtt)}, runs=folder, report=False)
                found[name, way, rtt] = result.summary["programs"][0]["wall_ns"] / 1e9
        print(f"  {name} simulated", flush=True)
    return found


def run_live(study: Study) -> dict[tuple[str, str, int], float]:
    """The same with real messages, a rank on each host, everything slower."""
    folder = study.directory / "runs"
    found = {}
    late = []
    for way, laws in ways():
        slower = laws.replace("10Gbit", f"{10_000 // LIVE_SCALE}Mbit").replace(
            "1Gbit", f"{1000 // LIVE_SCALE}Mbit"
        )
        path = scenario("kernels-live", slower, folder)
        # A kernel learns of reordering by itself, and cannot be told how.
        text = path.read_text(encoding="utf-8").replace(", recovery: sack-adaptive", "")
        path.write_text(text, encoding="utf-8")
        with longhaul.up(path, params={"port": f"{10_000 // LIVE_SCALE}Mbit"}, runs=folder) as network:
            for rtt in RTTS_MS:
                network.set("wan", delay=one_way(rtt))
                for name, problem in LIVE.items():
                    if rtt and name != "mg":
                        continue
                    compute_s = SLOWER * LIVE_SCALE * one_rank_s(name, problem) * LIVE_RANKS / SLOT_RANKS
                    argv = Program(name, problem, compute_s).argv
                    ended = network.run("a1", ["mpirun", "-n", str(LIVE_RANKS), *argv])
                    found[name, way, rtt] = json.loads(ended.stdout.splitlines()[-1])["wall_s"]
        late.append(network.result.summary["fidelity"]["lateness"]["p99_ns"] / 1e3)
        print(f"  {way} live", flush=True)
    study.say(f"live: 99 % of packets left within {min(late):.0f} to {max(late):.0f} us of being due")
    return found


def judge(study: Study, how: str, seconds: Seconds) -> None:
    """The paper's words on figures 5 and 7."""
    speed = {key: seconds[key[0], SERIAL, 0] / value for key, value in seconds.items()}
    names = sorted({name for name, _way, _rtt in seconds})
    for name in names:
        speeds = ", ".join(f"{speed[name, way, 0]:.2f} ({way})" for way, _laws in ways())
        study.say(f"{how}: {name.upper()} at {speeds} of the speed over a serial route ten times as fast")
    study.claim(
        f"{how}: over eight routes in turn kernels have at least 75 % of the speed over the serial route"
        " (the paper: it reaches the ideal)",
        all(speed[name, "round robin 8", 0] >= 0.75 for name in names),
    )
    factor = max(speed[name, "round robin 8", 0] / speed[name, ALL_ON_ONE, 0] for name in names)
    study.say(
        f"{how}: in turn over eight up to {factor:.1f} times as fast as all flows on one (the paper: over 5)"
    )
    study.claim(
        f"{how}: in turn over eight some kernel is over four times as fast as if all flows keep to one route",
        factor > 4,
    )
    study.claim(
        f"{how}: round robin is never slower than a route for each flow (2 %), over 2, 4 and 8 routes",
        all(
            speed[name, f"round robin {routes}", 0] > 0.98 * speed[name, f"flow-based {routes}", 0]
            for name in names
            for routes in ROUTES
        ),
    )
    slow = [speed["mg", way, rtt] for way in (SERIAL, "round robin 8") for rtt in RTTS_MS]
    study.claim(
        f"{how}: MG is slower the longer the delay, over any way",
        slow[0] > slow[1] > slow[2] and slow[3] > slow[4] > slow[5],
    )
    study.claim(
        f"{how}: with 5 and 10 ms MG over eight routes in turn is within 10 % of serial",
        all(speed["mg", "round robin 8", rtt] > 0.9 * speed["mg", SERIAL, rtt] for rtt in RTTS_MS[1:]),
    )


def draw(study: Study, every: Mapping[str, Seconds]) -> None:
    """Figure 5, speed against the number of routes, and figure 7, against the delay, each twice."""
    with paper():
        made = figure(6, width_in=9)
        grid = made.subplots(2, 2, sharey=True)
        for (left, right), (how, seconds) in zip(grid, every.items(), strict=True):
            speed = {key: seconds[key[0], SERIAL, 0] / value for key, value in seconds.items()}
            for number, name in enumerate(sorted(SIMULATED)):
                for kind, line in (("round robin", "o-"), ("flow-based", "s--")):
                    values = [speed[name, ALL_ON_ONE, 0], *(speed[name, f"{kind} {n}", 0] for n in ROUTES)]
                    left.plot(
                        [1, *ROUTES],
                        values,
                        line,
                        markersize=4,
                        color=f"C{number}",
                        label=f"{name.upper()}, {kind}",
                    )
            left.axhline(1, color="0.5", linewidth=0.8)
            left.set(
                ylabel="speed over that of\none serial route, no delay",
                xlabel="routes",
                xticks=[1, *ROUTES],
                ylim=(0, 1.1),
            )
            left.set_title(f"figure 5, {how}")
            for way, line in (
                (SERIAL, "k-"),
                *((f"round robin {n}", "o-") for n in ROUTES),
                ("flow-based 8", "s--"),
            ):
                right.plot(RTTS_MS, [speed["mg", way, rtt] for rtt in RTTS_MS], line, markersize=4, label=way)
            right.set(xlabel="round trip [ms]", xticks=list(RTTS_MS))
            right.set_title(f"figure 7, MG, {how}")
        grid[1][0].legend(fontsize=7, loc="lower right")
        grid[0][1].legend(fontsize=7)
        study.figure(made, "kernels")
