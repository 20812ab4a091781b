"""Figure 6: Allreduce over four sub-clusters of ten nodes, with three kinds of traces, simulated."""

from collections.abc import Mapping
from pathlib import Path

from kinds import nearer
from playing import EVERY_KIND, KIB, of_kind, simulated_s

from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study
from longhaul.studies.drawing import MARKERS, colour, legend_below

SCENARIO = Path(__file__).parent / "clusters.yaml"
HOSTS = "[tromso1..10, trondheim1..10, odense1..10, aalborg1..10]"
ALGORITHMS = ("two-level", "binomial")
SIZES = (8, 256, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)
SECONDS = 300

Times = Mapping[str, Mapping[int, float]]
"""Seconds of one sum, by kind and size."""


def scenario(study: Study, name: str, params: str, program: str) -> Path:
    """The four sub-clusters with a program on all nodes, written into the study's runs."""
    path = study.runs / f"{name}.yaml"
    text = SCENARIO.read_text(encoding="utf-8").replace("name: clusters", f"name: {name}")
    text = text.replace("params: {", f"params: {{{params}, ", 1)
    block = f"programs:\n  app: {{simulate: {program}, hosts: {HOSTS}}}\n"
    path.write_text(f"{text}\n{block}", encoding="utf-8")
    return path


def simulated(study: Study, algorithm: str) -> dict[str, dict[int, float]]:
    """As many sums as take some minutes, so that the traces' spikes are included."""
    program = "{kind: allreduce, algorithm: $algorithm, bytes: $bytes, repeat: $repeat}"
    path = scenario(study, "allreduce", "algorithm: two-level, bytes: 8B, repeat: 1", program)
    text = path.read_text(encoding="utf-8")
    found: dict[str, dict[int, float]] = {}
    for kind in EVERY_KIND:
        path.write_text(of_kind(study, text, kind), encoding="utf-8")
        found[kind] = {}
        for size in SIZES:
            repeat = max(
                study.size(10, small=1), round(study.size(SECONDS, small=1) / (0.06 + 6 * size * 8 / 4e6))
            )
            took = simulated_s(study, path, algorithm=algorithm, bytes=f"{size}B", repeat=repeat)
            found[kind][size] = took / repeat
    return found


def study_collectives(study: Study) -> None:
    """Simulate both algorithms, evaluate."""
    every: dict[str, Times] = {}
    for algorithm in ALGORITHMS:
        found = study.measured(f"allreduce/{algorithm}", lambda a=algorithm: simulated(study, a)) or {}
        every[algorithm] = {
            kind: {int(size): took for size, took in curve.items()} for kind, curve in found.items()
        }
    study.table(
        "figure6",
        [
            {"algorithm": algorithm, "kind": kind, "bytes": size, "ms": round(took * 1e3, 3)}
            for algorithm, times in every.items()
            for kind, curve in times.items()
            for size, took in curve.items()
        ],
    )
    for algorithm, times in every.items():
        nearer(study, algorithm, f"Allreduce, {algorithm},", times)


def draw(figures: Figures) -> None:
    """Figure 6: a panel for each algorithm."""
    rows = figures.rows("figure6")
    with paper():
        made = figure(3.7, width_in=8)
        for axes, algorithm in zip(made.subplots(1, 2, sharey=True), ALGORITHMS, strict=True):
            for number, kind in enumerate(EVERY_KIND):
                mine = [row for row in rows if (row["algorithm"], row["kind"]) == (algorithm, kind)]
                sizes, times = ([row[column] for row in mine] for column in ("bytes", "ms"))
                style = {"markersize": 4, "color": colour(number)}
                axes.plot(sizes, times, f"{MARKERS[number]}-", label=kind, **style)
            axes.set(xscale="log", yscale="log", xlabel="bytes", title=f"figure 6: 40 ranks, {algorithm}")
        made.axes[0].set_ylabel("allreduce [ms]")
        legend_below(made)
        figures.add(made, "figure-6", data=["figure6"])
