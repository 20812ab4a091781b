"""Figures 6 and 7 on the virtual clock: Linux's TCP, Open MPI, and a processor for each of eight hosts.

Kernels of class A and GROMACS compute for real: eight hosts at the same time, though this machine has two
processors. Kernels of class B, the paper's, send their messages, and sleep as long as they would compute.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from applications import (
    ALIKE,
    LIVE_DELAYS_US,
    SMALL_DELAYS_US,
    Times,
    delay_axis,
    draw_gains,
    draw_seconds,
    evaluate,
    place_on_axis,
    read_times,
    simulated,
    write_times,
)
from installed import MOVES, MPIRUN, atoms, ns_per_day, require, water
from on_virtual_clock import ranks_command, read_kernels, run
from programs import KERNELS, LARGE, PAPER_S, SCALED, SCENARIO, SMALL
from programs import kernels as kernels_of
from skeletons import Program

from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, at_most, between, exact
from longhaul.studies.drawing import MARKERS, colour, draw_measured, draw_paper, legend_below

HOSTS = {SMALL: "[a1..4]", LARGE: "[a1..4, b1..4]"}
CLASS_B_DELAYS_US = (0, 100, 1000, 16000)
"""Not all of class A: eight ranks take 25 to 100 minutes of real time for a delay."""
VILLIN_NM = 4.64
"""A box of 10,000 atoms, as many as d.villin has with its water."""
Found = Mapping[str, Mapping[str, float]]
"""Of each kernel how long it takes, and how long its slowest rank computes, in s."""


def study_kernels(study: Study) -> None:
    """Run the kernels of class A on four hosts and on eight, and simulate the same messages and computing."""
    problem = study.size("A", small="S")
    found = _at_every_delay(
        study,
        f"virtual/class {problem}",
        study.size(LIVE_DELAYS_US, small=SMALL_DELAYS_US),
        lambda ranks, delay: kernels(study, problem, ranks, delay),
    )
    computing = {name: Program(name, problem, SMALL * found[SMALL, 0][name]["compute_s"]) for name in KERNELS}
    alike = {
        name: simulated(study, f"virtual, class {problem}, {name}", each) for name, each in computing.items()
    }
    _evaluate(study, f"virtual clock, class {problem}", found, alike, "virtual")


def study_class_b(study: Study) -> None:
    """Send the messages of class B on four hosts and on eight, with the computing that makes EP's time."""
    problem = study.size("B", small="S")
    programs = kernels_of(SCALED, study.runs, problem)
    found = _at_every_delay(
        study,
        f"skeletons/class {problem}",
        study.size(CLASS_B_DELAYS_US, small=SMALL_DELAYS_US),
        lambda ranks, delay: skeletons(study, programs, ranks, delay),
    )
    alike = {name: simulated(study, f"{SCALED}, {name}", each) for name, each in programs.items()}
    _evaluate(study, f"virtual clock, class {problem}", found, alike, "class-b")


def _at_every_delay(
    study: Study, key: str, delays_us: Sequence[int], measure: Callable[[int, int], Found]
) -> Mapping[tuple[int, int], Found]:
    """What kernels take, by ranks and delay in us."""
    found: dict[tuple[int, int], Found] = {}
    for ranks, delay in _points(delays_us):
        point = study.measured(f"{key}/{ranks}/{delay}", partial(measure, ranks, delay))
        if point is None:
            raise RuntimeError(f"{key} did not run at {delay} µs, and claims need it")
        found[ranks, delay] = point
    return found


def _evaluate(
    study: Study,
    how: str,
    found: Mapping[tuple[int, int], Found],
    alike: Mapping[str, Times],
    end: str,
) -> None:
    """What was found of kernels, and the same simulated. ``end``: of the names of the table and of claims."""
    times = {
        name: Times(
            [found[SMALL, 0][name]["wall_s"]],
            {delay: [each[name]["wall_s"]] for (ranks, delay), each in found.items() if ranks == LARGE},
            live=False,
        )
        for name in KERNELS
    }
    write_times(study, f"applications-{end}", {how: times, ALIKE: alike})
    evaluate(study, {how: times}, f"-{end}")
    limits = study.numbers(f"{end}-as-simulated")
    study.evaluate(
        f"{end}-as-simulated",
        [
            between(f"{name.upper()}, {where}", exact(ratio), limits["least"], limits["most"])
            for name in KERNELS
            for where, ratio in _ratios(times[name], alike[name])
        ],
    )


def _points(delays_us: Sequence[int]) -> list[tuple[int, int]]:
    """Ranks and delays: one cluster, then both."""
    return [(SMALL, 0), *((LARGE, delay) for delay in delays_us)]


def _ratios(times: Times, model: Times) -> Iterator[tuple[str, float]]:
    yield "4 hosts", times.alone[0] / model.alone[0]
    for delay, (seconds,) in times.both.items():
        yield f"8 hosts, {delay} µs", seconds / model.both[delay][0]


def kernels(study: Study, problem: str, ranks: int, delay_us: int) -> Found:
    """Run one kernel after the other. Raises RuntimeError if one fails, or its result is wrong."""
    return _run_kernels(study, problem, [f"{name}:{problem}" for name in KERNELS], ranks, delay_us)


def skeletons(study: Study, programs: Mapping[str, Program], ranks: int, delay_us: int) -> Found:
    """Run the messages of one kernel after the other; ranks sleep while they would compute."""
    (problem,) = {each.problem for each in programs.values()}
    which = [f"{name}:{problem}={each.compute_s:.6f}" for name, each in programs.items()]
    return _run_kernels(study, problem, which, ranks, delay_us)


def _run_kernels(study: Study, problem: str, which: Sequence[str], ranks: int, delay_us: int) -> Found:
    logs = on_clusters(
        study, f"kernels-{problem.lower()}-{ranks}", ranks_command(ranks, which), ranks, delay_us
    )
    found = read_kernels(logs, KERNELS)
    return {name: {key: each[key] for key in ("wall_s", "compute_s")} for name, each in found.items()}


def on_clusters(study: Study, name: str, command: str, ranks: int, delay_us: int) -> Path:
    """Run a command on the first host of one cluster, or of both, with processors of this machine's speed.

    FT of class B needs more memory than hosts have by default.
    """
    text = SCENARIO.read_text(encoding="utf-8").replace("name: applications", f"name: {name}")
    text = text.replace("kind: host,", "kind: host, memory: 1GiB,")
    return run(study, name, f"{text}\ncpu: {{speed: 1}}", command, HOSTS[ranks], delay=f"{delay_us}us")


def study_gromacs(study: Study) -> None:
    """Move a box of as many atoms as d.villin has, as fast as this machine's processors compute."""
    require(MPIRUN, "gmx", "gmx_mpi")
    folder = study.directory / "gromacs-virtual"
    folder.mkdir(exist_ok=True)
    water(folder, VILLIN_NM)
    found: dict[tuple[int, int], float] = {}
    for ranks, delay in _points(LIVE_DELAYS_US):
        key = f"virtual/gromacs/{ranks}/{delay}"
        rate = study.measured(key, lambda r=ranks, d=delay: gromacs(study, folder, r, d))
        if rate is None:
            raise RuntimeError("GROMACS did not run, and claims need it")
        found[ranks, delay] = rate
    study.value("atoms", exact(atoms(folder)))
    study.table(
        "gromacs-virtual",
        [{"hosts": hosts, "delay_us": delay, "ns_per_day": rate} for (hosts, delay), rate in found.items()],
    )
    study.evaluate(
        "gromacs-slower-virtual",
        [
            at_most(f"{delay} µs", exact(rate / found[SMALL, 0]), 1)
            for (hosts, delay), rate in found.items()
            if hosts == LARGE and delay
        ],
    )


def gromacs(study: Study, folder: Path, ranks: int, delay_us: int) -> float:
    """Simulated ns a day."""
    command = f"cd '{folder}'; {MPIRUN} -n {ranks} env OMP_NUM_THREADS=1 {' '.join(MOVES)} -deffnm /tmp/md"
    logs = on_clusters(study, f"gromacs-{ranks}", command, ranks, delay_us)
    return ns_per_day((logs / "app.err").read_text(encoding="utf-8", errors="replace"))


def draw_gromacs(figures: Figures) -> None:
    """Figure 7b: four hosts, and eight by the delay between the clusters."""
    rows = figures.rows("gromacs-virtual")
    (alone,) = (row["ns_per_day"] for row in rows if row["hosts"] == SMALL)
    both = [row for row in rows if row["hosts"] == LARGE]
    with paper():
        made = figure(3.4, width_in=6.5)
        axes = made.subplots()
        draw_measured(
            axes,
            [place_on_axis(row["delay_us"]) for row in both],
            [exact(row["ns_per_day"] / alone) for row in both],
            marker=MARKERS[0],
            color=colour(0),
            label="GROMACS, 10,000 atoms of water",
        )
        axes.axhline(1, color="0.3", linewidth=1)
        axes.set(ylabel="speed on 4 + 4 hosts over 4", ylim=(0, None))
        axes.set_title("figure 7b")
        delay_axis(axes)
        axes.set(xlabel="delay between the clusters, one way", xlim=(35, 21_000))
        legend_below(made)
        figures.add(made, "gromacs-virtual", data=["gromacs-virtual"])


def draw(figures: Figures) -> None:
    """Figures 6 and 7a, and how much faster two clusters are."""
    _draw_times(figures, "virtual", "class A", names=[])


def draw_class_b(figures: Figures) -> None:
    """The same with the paper's class of problem, and its values."""
    _draw_times(figures, "class-b", "class B", names=PAPER_S)


def _draw_times(figures: Figures, end: str, problem: str, names: Container[str]) -> None:
    """``names``: the kernels whose values of the paper are drawn in."""
    table = f"applications-{end}"
    every = read_times(figures.rows(table))
    lines = {how: ("--", "simulated") if how == ALIKE else ("-", "Linux") for how in every}
    panels = (("6a", ("ep",)), ("6b", ("is", "mg")), ("7a", ("cg", "ft")))
    with paper():
        made = figure(3.7, width_in=13)
        for axes, (panel, shown) in zip(made.subplots(1, len(panels)), panels, strict=True):
            draw_seconds(axes, every, shown, lines)
            axes.set(title=f"figure {panel}, {problem}", xlabel="one cluster, or two by their delay, one way")
            known = [name.upper() for name in shown if name in names]
            if known:
                draw_paper(axes, figures.paper.values(panel, *known), places=place_on_axis)
        legend_below(made, ncols=5)
        figures.add(made, f"figure-6-7-{end}", data=[table])
        linux = {how: times for how, times in every.items() if how != ALIKE}
        draw_gains(figures, f"gains-{end}", linux, table)
