"""Figures 6 and 7: one cluster of four hosts against two, with skeletons of parallel programs."""

import itertools
import json
from collections.abc import Mapping
from math import exp, log

from programs import KERNELS, LARGE, SCENARIO, SMALL, paper_programs, scaled, simulate
from skeletons import Program
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

DELAYS_US = [0, 100, 200, 500, 1000, 2000, 4000, 8000, 16000]
LIVE_CLASS = "A"
LIVE_DELAYS_US = [0, 100, 500, 1000, 4000, 16000]
LABELS = {"molecules": "molecules (d.villin)"}

Times = Mapping[str, tuple[float, Mapping[int, float]]]
"""Of each program: seconds on four hosts, and on eight for each delay in us."""


def study_applications(study: Study) -> None:
    """Simulate the paper's size, run a quarter of it live, answer the three questions."""
    runs = study.directory / "runs"
    runs.mkdir(exist_ok=True)
    programs = paper_programs(runs)
    for name, program in programs.items():
        study.say(f"{name}: one rank alone would compute {program.compute_s:.1f} s")
    full = {name: _simulated(study, program) for name, program in programs.items()}
    small = {name: scaled(program, LIVE_CLASS) for name, program in programs.items()}
    live = run_live(study, small)
    model = {name: _simulated(study, program) for name, program in small.items()}
    _write(study, {"simulated, class B": full, f"live, class {LIVE_CLASS}": live, "simulated alike": model})
    _judge(study, full, "simulated")
    _judge(study, live, "live")
    _hold_together(study, live, model)
    questions(study, full, live)
    draw(study, full, live)


def _simulated(study: Study, program: Program) -> tuple[float, dict[int, float]]:
    runs = study.directory / "runs"
    alone = simulate(program, SMALL, [0], runs)[0]
    return alone, simulate(program, LARGE, DELAYS_US, runs)


def run_live(study: Study, programs: Mapping[str, Program]) -> dict[str, tuple[float, dict[int, float]]]:
    """Every program on four and on eight hosts, for every delay, with real messages."""
    found: dict[str, tuple[float, dict[int, float]]] = {}
    with longhaul.up(SCENARIO, runs=study.directory / "runs") as network:

        def seconds(program: Program, ranks: int) -> float:
            ended = network.run("a1", ["mpirun", "-n", str(ranks), *program.argv])
            return float(json.loads(ended.stdout.splitlines()[-1])["wall_s"])

        for name, program in programs.items():
            network.set("backbone", delay="0us")
            alone, both = seconds(program, SMALL), {}
            for delay in LIVE_DELAYS_US:
                network.set("backbone", delay=f"{delay}us")
                both[delay] = seconds(program, LARGE)
            found[name] = (alone, both)
            times = ", ".join(f"{value:.2f}" for value in both.values())
            print(f"  {name} live: {alone:.2f} s on four hosts, {times} s on eight", flush=True)
    late = network.result.summary["fidelity"]["lateness"]
    study.say(
        f"live, {network.result.verdict}: "
        f"lateness p50 {late['p50_ns'] / 1e3:.2f} us, p99 {late['p99_ns'] / 1e3:.1f} us"
    )
    return found


def faster(times: tuple[float, Mapping[int, float]], delay: int) -> float:
    """By what share a program is faster on eight hosts: 0.67 if 50 s become 30."""
    alone, both = times
    return alone / both[delay] - 1


def last_benefit_us(times: tuple[float, Mapping[int, float]]) -> float | None:
    """The delay at which four hosts are as fast as eight, interpolated; infinite if beyond all tried."""
    alone, both = times
    delays = [delay for delay in both if delay > 0]
    if both[delays[0]] >= alone:
        return None
    for before, after in itertools.pairwise(delays):
        if both[after] > alone:
            part = (alone - both[before]) / (both[after] - both[before])
            return exp(log(before) + part * log(after / before))
    return float("inf")


def _judge(study: Study, times: Times, how: str) -> None:
    eight = times["ep"][1]
    study.claim(
        f"{how}: EP does not mind the delay (1 to 5 %), and is nearly twice as fast on twice the hosts",
        max(eight.values()) / min(eight.values()) < 1.05 and 0.85 < faster(times["ep"], 100) < 1.02,
    )
    for name, papers in (("is", 0.67), ("mg", 0.48)):
        study.say(
            f"{how}: {name} is {faster(times[name], 100):.0%} faster at 100 us (the paper: {papers:.0%})"
        )
    study.claim(
        f"{how}: IS and MG are faster on two clusters at 100 us, IS by more",
        faster(times["is"], 100) > faster(times["mg"], 100) > 0.1,
    )
    study.claim(
        f"{how}: the benefit of IS, MG, CG and FT falls with the delay",
        all(faster(times[name], 16000) < faster(times[name], 100) - 0.05 for name in KERNELS[1:]),
    )
    slowed = {name: times[name][1][16000] / times[name][1][100] for name in KERNELS[1:]}
    study.say(
        f"{how}: 16 ms make "
        + ", ".join(f"{name} {value:.2f}" for name, value in slowed.items())
        + " times as slow as 100 us"
    )
    study.claim(
        f"{how}: MG minds the delay least of IS, MG, CG, FT", min(slowed, key=slowed.__getitem__) == "mg"
    )
    study.claim(
        f"{how}: molecules are slower on two clusters at every delay",
        all(faster(times["molecules"], delay) < 0 for delay in times["molecules"][1] if delay > 0),
    )


def _hold_together(study: Study, live: Times, model: Times) -> None:
    """Live against the simulation of the same."""
    ratios = [
        (live[name][1][delay] / model[name][1][delay], name, delay)
        for name in live
        for delay in LIVE_DELAYS_US
    ]
    least, most = min(ratios), max(ratios)
    within = sum(0.85 <= ratio <= 1.15 for ratio, _name, _delay in ratios)
    study.say(
        f"live takes {least[0]:.2f} ({least[1]}, {least[2]} us) to {most[0]:.2f} ({most[1]}, {most[2]} us)"
        f" times as long as simulated; {within} of {len(ratios)} are within 15 %"
    )


def questions(study: Study, full: Times, live: Times) -> None:
    """The paper's three questions, answered in a table."""
    rows = []
    for name in full:
        for how, times in (("simulated, class B", full[name]), (f"live, class {LIVE_CLASS}", live[name])):
            last = last_benefit_us(times)
            rows.append(
                {
                    "program": LABELS.get(name, name.upper()),
                    "how": how if name != "molecules" else how.split(",")[0],
                    "faster on two clusters?": "yes" if last else "no",
                    "up to a delay of": "-" if last is None else _delay(last),
                    "faster at 100 us by": f"{faster(times, 100):.0%}",
                    "at 16 ms by": f"{faster(times, 16000):.0%}",
                }
            )
    study.table("questions", rows)
    head = list(rows[0])
    study.lines += ["", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    study.lines += [f"| {' | '.join(row.values())} |" for row in rows]
    study.lines.append("")


def _delay(us: float) -> str:
    if us == float("inf"):
        return "over 16 ms"
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.1f} ms"


def _write(study: Study, every: Mapping[str, Times]) -> None:
    study.table(
        "applications",
        [
            {"how": how, "program": name, "hosts": hosts, "delay_us": delay, "seconds": round(seconds, 4)}
            for how, times in every.items()
            for name, (alone, both) in times.items()
            for hosts, delay, seconds in [
                (4, 0, alone),
                *((8, delay, value) for delay, value in both.items()),
            ]
        ],
    )


def draw(study: Study, full: Times, live: Times) -> None:
    """Speed on eight hosts over that on four; 1 is where two clusters gain nothing."""
    with paper():
        made = figure(3.6, width_in=9)
        for axes, times, title in zip(
            made.subplots(1, 2, sharey=True),
            (full, live),
            ("simulated, class B, as long as in the paper", f"live, class {LIVE_CLASS}"),
            strict=True,
        ):
            for (name, (alone, both)), marker in zip(times.items(), "os^vDP", strict=True):
                delays = [max(delay, 50) for delay in both]
                speeds = [alone / value for value in both.values()]
                axes.plot(delays, speeds, f"{marker}-", markersize=4, label=LABELS.get(name, name.upper()))
            axes.axhline(1, color="0.3", linewidth=1)
            axes.set(xscale="log", xlabel="delay of the backbone, one way", ylim=(0, None))
            axes.set_xticks([50, 100, 1000, 4000, 16000], ["0", "100 us", "1 ms", "4 ms", "16 ms"])
            axes.minorticks_off()
            axes.set_title(title)
        made.axes[0].set_ylabel("speed on 4 + 4 hosts over 4")
        made.axes[0].legend(loc="lower left", fontsize=8)
        study.figure(made, "applications")
