"""Figures 6 and 7: one cluster of four hosts against two, with skeletons of parallel programs."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, inf, log
from pathlib import Path
from statistics import mean
from typing import Any

from programs import DERIVED, INPUTS, KERNELS, LARGE, OWN, PAPER_S, SCALED, SCENARIO, SMALL, simulate, smaller
from programs import kernels as kernels_of
from skeletons import STEPS, Program

from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, paper
from longhaul.studies import (
    Case,
    Figures,
    Measurement,
    PaperValue,
    Study,
    StudyFolder,
    at_least,
    at_most,
    between,
    exact,
    holds_if,
    measured,
    near,
    ratios,
)
from longhaul.studies.drawing import MARKERS, colour, draw_measured, draw_paper, legend_below

DELAYS_US = (0, 100, 200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
LIVE_CLASS = "A"
LIVE_DELAYS_US = (0, 100, 1000, 4000, 16000)
CLAIMS = StudyFolder(Path(__file__).parent).claims
HIGH_US = int(1000 * CLAIMS.numbers("ep-delay")["high_ms"])
"""What counts as a high delay: the paper's axis is not in its text."""
SMALL_DELAYS_US = (0, 100, HIGH_US)
"""To try the study out."""
STEPS_MS = (1, 2, 4, 10, 20, 40, 80)
"""Computing of a step of the molecules on one rank."""
LIVE_STEP_MS = CLAIMS.numbers("gromacs-slower-live")["step_ms"]
TITLES = {
    DERIVED: "computing from the paper's times (derived from the answer)",
    SCALED: "computing from EP's time alone",
}
ALIKE = "the same, simulated"
TIMEOUT_S = "300"


class Times:
    """Seconds of a program on four hosts and on eight, for each round."""

    def __init__(self, alone: Sequence[float], both: Mapping[int, Sequence[float]], *, live: bool) -> None:
        """``both``: by delay in us."""
        self.alone, self.both, self.live = list(alone), {key: list(each) for key, each in both.items()}, live

    def gain(self, delay_us: int) -> Measurement:
        """By what share it is faster on eight hosts: 0.67 if 50 s become 30."""
        if not self.live:
            return exact(self.alone[0] / self.both[delay_us][0] - 1)
        found = ratios(self.alone, self.both[delay_us])
        return Measurement(found.value - 1, found.half_width, found.runs)

    def slowed(self, delay_us: int, base_us: int) -> Measurement:
        """How many times longer it takes with one delay than with another."""
        if not self.live:
            return exact(self.both[delay_us][0] / self.both[base_us][0])
        return ratios(self.both[delay_us], self.both[base_us])

    def last_benefit_us(self) -> float:
        """The delay at which four hosts are as fast as eight, interpolated; infinite if beyond all tried."""
        alone, both = mean(self.alone), {key: mean(each) for key, each in self.both.items()}
        delays = [delay for delay in both if delay > 0]
        if both[delays[0]] >= alone:
            return 0.0
        for before, after in itertools.pairwise(delays):
            if both[after] > alone:
                part = (alone - both[before]) / (both[after] - both[before])
                return exp(log(before) + part * log(after / before))
        return inf

    def benefit(self) -> str:
        """Up to which delay two clusters are faster, as text."""
        last = self.last_benefit_us()
        if last == inf:
            return f"faster up to {max(self.both) / 1000:g} ms"
        return f"faster up to {last / 1000:.1f} ms" if last else "never faster"


Every = Mapping[str, Mapping[str, Times]]
"""Programs by name, for each condition."""


def study_simulated(study: Study) -> None:
    """Simulate class B with each input of computing, and molecules with each length of a step."""
    every: dict[str, dict[str, Times]] = {}
    for given, what in INPUTS.items():
        study.note(f"computing, {given}: {what}")
        every[given] = {}
        for name, program in kernels_of(given, study.runs, study.size("B", small="S")).items():
            every[given][name] = simulated(study, f"{given}, {name}", program)
    write_times(study, "applications-simulated", every)
    _four_hosts(study, every)
    evaluate(study, every, "")
    molecules = {
        f"{step} ms": simulated(study, f"molecules, {step} ms", Program("molecules", "", STEPS * step / 1e3))
        for step in study.size(STEPS_MS, small=(4,))
    }
    write_times(
        study, "molecules-simulated", {step: {"molecules": times} for step, times in molecules.items()}
    )
    study.evaluate(
        "gromacs-slower",
        [
            holds_if(step, all(each.gain(delay).value < 0 for delay in each.both if delay), each.benefit())
            for step, each in molecules.items()
        ],
    )


def simulated(study: Study, key: str, program: Program) -> Times:
    """How long a program takes in a simulation."""

    def seconds() -> dict[str, dict[int, float]]:
        alone = simulate(program, SMALL, [0], study.runs)
        return {
            "alone": alone,
            "both": simulate(program, LARGE, list(study.size(DELAYS_US, small=SMALL_DELAYS_US)), study.runs),
        }

    found = study.measured(f"simulated/{key}", seconds)
    if found is None:
        raise RuntimeError(f"{key} was not simulated")
    return Times([found["alone"]["0"]], {int(key): [each] for key, each in found["both"].items()}, live=False)


def study_live(study: Study, *, rounds: int) -> None:
    """Run class A live, and simulate the same."""
    programs = {name: smaller(each, LIVE_CLASS) for name, each in kernels_of(DERIVED, study.runs).items()}
    programs["molecules"] = Program("molecules", "", STEPS * LIVE_STEP_MS / 1e3)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in programs}
    for number in range(rounds):
        for name, program in programs.items():
            seconds = study.measured(
                f"live/{name}/{number}", lambda program=program: run_live(study, program)
            )
            found[name] += [seconds] if seconds else []
    live = {
        name: Times(
            [each["alone"] for each in many],
            {delay: [each[str(delay)] for each in many] for delay in LIVE_DELAYS_US},
            live=True,
        )
        for name, many in found.items()
        if many
    }
    how = f"live, class {LIVE_CLASS}"
    evaluate(study, {how: {name: each for name, each in live.items() if name != "molecules"}}, "-live")
    study.evaluate(
        "gromacs-slower-live",
        [
            at_most(f"{delay} µs", live["molecules"].gain(delay), 0, percent=True)
            for delay in LIVE_DELAYS_US
            if delay and "molecules" in live
        ],
    )
    model = {name: simulated(study, f"class {LIVE_CLASS}, {name}", each) for name, each in programs.items()}
    write_times(study, "applications-live", {how: live, ALIKE: model})
    limits = study.numbers("live-as-simulated")
    study.evaluate(
        "live-as-simulated",
        [
            between(
                f"{name} at {delay} µs",
                measured([each / model[name].both[delay][0] for each in live[name].both[delay]]),
                limits["least"],
                limits["most"],
            )
            for name in live
            for delay in LIVE_DELAYS_US
        ],
    )


def run_live(study: Study, program: Program) -> dict[str, float]:
    """A program on four and on eight hosts, for every delay, with real messages."""

    def seconds(ranks: int) -> float:
        ended = network.run("a1", ["timeout", TIMEOUT_S, "mpirun", "-n", str(ranks), *program.argv])
        return float(json.loads(ended.stdout.splitlines()[-1])["wall_s"])

    with study.network(SCENARIO) as network:
        network.set("backbone", delay="0us")
        found = {"alone": seconds(SMALL)}
        for delay in LIVE_DELAYS_US:
            network.set("backbone", delay=f"{delay}us")
            found[str(delay)] = seconds(LARGE)
    return found


def _four_hosts(study: Study, every: Every) -> None:
    """What is found on four hosts where the paper's times are no input."""
    within = study.numbers("four-hosts-times")["within"]
    study.evaluate(
        "four-hosts-times",
        [
            near(name.upper(), exact(every[SCALED][name].alone[0]), seconds, within, "s")
            for name, seconds in PAPER_S.items()
            if name != "ep"
        ],
    )
    study.table(
        "four-hosts",
        [
            {
                "kernel": name.upper(),
                "paper_s": PAPER_S.get(name, ""),
                **{
                    key: round(every[given][name].alone[0], 2)
                    for key, given in (("derived_s", DERIVED), ("scaled_s", SCALED), ("own_s", OWN))
                },
            }
            for name in KERNELS
        ],
    )


def evaluate(study: Study, every: Every, end: str) -> None:
    """The paper's words on figures 6 and 7. ``end``: of the names of its claims."""
    several = len(every) > 1

    def case_of(given: str, name: str = "") -> str:
        return ", ".join(each for each in (name.upper(), given if several else "") if each)

    longer = 1 + study.numbers("ep-delay")["ep_longer"]
    study.evaluate(
        f"ep-delay{end}",
        [at_most(case_of(given), each["ep"].slowed(HIGH_US, 0), longer) for given, each in every.items()],
    )
    least = study.numbers("ep-gain")["ep_gain"]
    study.evaluate(
        f"ep-gain{end}",
        [
            at_least(case_of(given), each["ep"].gain(100), least, percent=True)
            for given, each in every.items()
        ],
    )
    for name in ("is", "mg"):
        numbers = study.numbers(f"{name}-gain")
        gain, within = numbers[f"{name}_gain"], numbers["gain_within"]
        study.evaluate(
            f"{name}-gain{end}",
            [
                between(case_of(given), each[name].gain(100), gain - within, gain + within, percent=True)
                for given, each in every.items()
            ],
        )
    longer = study.numbers("benefit-diminishes")["longer"]
    study.evaluate(
        f"benefit-diminishes{end}",
        [
            at_least(case_of(given, name), each[name].slowed(HIGH_US, 100), longer)
            for given, each in every.items()
            for name in KERNELS[1:]
        ],
    )
    study.evaluate(
        f"slower-with-delay{end}",
        [
            _with_benefit(
                at_most(case_of(given, name), each[name].gain(HIGH_US), 0, percent=True), each[name]
            )
            for given, each in every.items()
            for name in KERNELS[1:]
        ],
    )
    study.evaluate(
        f"mg-least-sensitive{end}",
        [_least_sensitive(case_of(given), each) for given, each in every.items()],
    )


def _with_benefit(case: Case, times: Times) -> Case:
    return Case(case.condition, case.outcome, f"{case.found} ({times.benefit()})")


def _least_sensitive(condition: str, times: Mapping[str, Times]) -> Case:
    slowed = {name: times[name].slowed(HIGH_US, 100) for name in KERNELS[1:]}
    text = ", ".join(f"{name.upper()} {each.shown()}" for name, each in slowed.items())
    others = [each for name, each in slowed.items() if name != "mg"]
    if all(slowed["mg"].high < each.low for each in others) or (
        not slowed["mg"].half_width and all(slowed["mg"].value < each.value for each in others)
    ):
        return Case(condition, "holds", text)
    fails = any(slowed["mg"].low > each.high for each in others)
    return Case(condition, "fails" if fails else "open", text)


def write_times(study: Study, name: str, every: Every) -> None:
    """A row for each run."""
    study.table(
        name,
        [
            {
                "how": how,
                "program": name,
                "round": number,
                "hosts": hosts,
                "delay_us": delay,
                "s": round(s, 4),
            }
            for how, programs in every.items()
            for name, times in programs.items()
            for hosts, delay, values in [
                (SMALL, 0, times.alone),
                *((LARGE, delay, values) for delay, values in times.both.items()),
            ]
            for number, s in enumerate(values)
        ],
    )


ONE_CLUSTER = "4x1"
"""Four hosts, as the paper's axes name them."""
TICKS = {ONE_CLUSTER: 16, 0: 45, 100: 100, 1000: 1000, 4000: 4000, 16000: 16000, 64000: 64000}
"""Where one cluster, no delay, and delays in us are on an axis with a logarithmic scale."""
TICK_LABELS = ("4x1", "0", "100 µs", "1 ms", "4 ms", "16 ms", "64 ms")


def place_on_axis(x: float | str | None) -> float:
    """Of a delay in us, or one cluster."""
    assert x is not None
    return TICKS.get(x, x if isinstance(x, int | float) else 0)


def read_times(rows: Sequence[Mapping[str, Any]], *, live: bool = False) -> dict[str, dict[str, Times]]:
    """Programs by name, for each condition, as a table has them."""
    alone: dict[tuple[str, str], list[float]] = {}
    both: dict[tuple[str, str], dict[int, list[float]]] = {}
    for row in rows:
        key = row["how"], row["program"]
        if row["hosts"] == SMALL:
            alone.setdefault(key, []).append(row["s"])
        else:
            both.setdefault(key, {}).setdefault(row["delay_us"], []).append(row["s"])
    found: dict[str, dict[str, Times]] = {}
    for (how, name), values in alone.items():
        times = Times(values, both[how, name], live=live and how != ALIKE)
        found.setdefault(how, {})[name] = times
    return found


def draw(figures: Figures) -> None:
    """Figures 6 and 7, simulated, and how much faster two clusters are."""
    every = read_times(figures.rows("applications-simulated"))
    molecules = read_times(figures.rows("molecules-simulated"))
    with paper():
        made = figure(3.7, width_in=9)
        panels = made.subplots(1, 2)
        for axes, panel, names in zip(panels, ("6a", "6b"), (("ep",), ("is", "mg")), strict=True):
            draw_seconds(axes, every, names, INPUT_LINES)
            axes.set_title(f"figure {panel}")
            values = figures.paper.values(panel, *(name.upper() for name in names))
            draw_paper(axes, values, places=place_on_axis)
        legend_below(made, ncols=3)
        figures.add(made, "figure-6", data=["applications-simulated"])

        made = figure(3.7, width_in=9)
        left, right = made.subplots(1, 2)
        draw_seconds(left, every, ("cg", "ft"), INPUT_LINES)
        left.set_title("figure 7a")
        for number, (step, programs) in enumerate(molecules.items()):
            times = programs["molecules"]
            rates = [exact(86_400 / each[0]) for each in (times.alone, *times.both.values())]
            places = [place_on_axis(each) for each in (ONE_CLUSTER, *times.both)]
            label = f"molecules, {step} a step"
            draw_measured(right, places, rates, marker=MARKERS[number], color=colour(number), label=label)
        right.set(yscale="log", ylabel=f"simulations of {STEPS} steps a day")
        right.set_title("figure 7b: messages of a molecular-dynamics program")
        delay_axis(right)
        legend_below(made, ncols=4, size=7.5)
        figures.add(made, "figure-7", data=["applications-simulated", "molecules-simulated"])
        shown = {given: every[given] for given in (DERIVED, SCALED) if given in every}
        draw_gains(figures, "gains", shown, "applications-simulated")


def draw_live(figures: Figures) -> None:
    """How much faster two clusters are, live and simulated."""
    every = read_times(figures.rows("applications-live"), live=True)
    with paper():
        draw_gains(figures, "gains-live", every, "applications-live")


INPUT_LINES = {given: (line, f"computing by {given}") for given, line in ((DERIVED, "-"), (SCALED, "--"))}
"""How the inputs are drawn, and named."""


def draw_seconds(
    axes: Axes, every: Every, names: Sequence[str], lines: Mapping[str, tuple[str, str]]
) -> None:
    """Execution times on one cluster and on two; of each program a colour, of each condition a line.

    ``lines``: for each condition its line, and what a legend says of it.
    """
    for (place, (how, (line, what))), name in itertools.product(enumerate(lines.items()), names):
        if how not in every:
            continue
        times = every[how][name]
        draw_measured(
            axes,
            [place_on_axis(each) for each in (ONE_CLUSTER, *times.both)],
            [exact(each[0]) for each in (times.alone, *times.both.values())],
            marker=MARKERS[names.index(name)],
            line=line,
            color=colour(KERNELS.index(name)),
            fillstyle="none" if place else "full",
            label=f"{name.upper()}, {what}",
        )
    axes.margins(y=0.1)
    axes.set(ylabel="execution time [s]", ylim=(0, None))
    delay_axis(axes)


def delay_axis(axes: Axes) -> None:
    """One cluster, then delays."""
    axes.set(xscale="log", xlabel="one cluster, or two by the delay between them, one way")
    _ticks(axes, list(TICKS.values()))


def _ticks(axes: Axes, places: Sequence[float]) -> None:
    """Name the places that are on the axis."""
    named = {
        place: label for place, label in zip(TICKS.values(), TICK_LABELS, strict=True) if place in places
    }
    axes.set_xticks(list(named), list(named.values()), fontsize=8)
    axes.minorticks_off()


def draw_gains(figures: Figures, name: str, every: Every, table: str) -> None:
    """Speed on eight hosts over that on four; 1 is where two clusters gain nothing."""
    made = figure(3.7, width_in=9 if len(every) > 1 else 5.5)
    panels = made.subplots(1, len(every), sharey=True, squeeze=False)[0]
    for axes, (title, programs) in zip(panels, every.items(), strict=True):
        for number, (program, times) in enumerate(programs.items()):
            found = {delay: times.gain(delay) for delay in times.both}
            draw_measured(
                axes,
                [place_on_axis(delay) for delay in found],
                [Measurement(1 + each.value, each.half_width, each.runs) for each in found.values()],
                marker=MARKERS[number],
                color=colour(number),
                label=program.upper() if program in KERNELS else program,
            )
        gains = figures.paper.values("6b", "gain of IS", "gain of MG")
        draw_paper(
            axes, [_as_ratio(each) for each in gains], places=place_on_axis, label="paper (IS above MG)"
        )
        axes.axhline(1, color="0.3", linewidth=1)
        axes.set(xscale="log", xlabel="delay between the clusters, one way", ylim=(0, None))
        _ticks(axes, [place_on_axis(delay) for times in programs.values() for delay in times.both])
        axes.set_title(TITLES.get(title, title))
    panels[0].set_ylabel("speed on 4 + 4 hosts over 4")
    legend_below(made, ncols=7 if len(every) > 1 else 4)
    figures.add(made, name, data=[table])


def _as_ratio(value: PaperValue) -> PaperValue:
    """Times as fast, of a gain."""
    assert value.y is not None
    return replace(value, y=1 + value.y)
