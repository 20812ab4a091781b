"""Table VI: red-black SOR on four sub-clusters, 40 workers of 1200 rows, simulated; its values are lost."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from collectives import scenario
from playing import EVERY_KIND, KINDS, SAMPLED, of_kind, simulated_s

from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, StudyFolder, at_least, at_most, exact, near
from longhaul.studies.drawing import colour, draw_paper, legend_below
from longhaul.workloads import collectives, recording
from longhaul.workloads.job import Array
from longhaul.workloads.relaxation import Task, run

SIZE, WORKERS, ITERATIONS = 48_000, 40, 20
LITERAL_BYTES = 19_800
SITES = [range(site * 10, site * 10 + 10) for site in range(4)]
SHARE = StudyFolder(Path(__file__).parent).claims.numbers("sor-communication")["share"]
"""Of the time that the paper communicates with the NWS trace."""
POINTS = SIZE // WORKERS * (SIZE - 2)
"""Of a worker, without the edges, which stay as they are."""
SWEEPS_BYTES = 2 * 2 * 8 * POINTS
"""What an iteration reads and writes at least, since a worker's rows are far larger than a cache."""


class Recorder(recording.Recorder):
    """Sums go within each sub-cluster first: the shipped recorder wants a power of two of ranks."""

    def reduce_all(self, values: Array, *, maximum: bool = False) -> None:  # noqa: ARG002 (a skeleton has no values)
        """Two-level."""
        collectives.two_level(self, values, SITES)


@dataclass(frozen=True)
class Preset:
    """How large a message is."""

    name: str
    message_bytes: int | None

    def record(self, compute_s: float, path: Path, *, iterations: int = ITERATIONS) -> None:
        """Write the messages of all workers, who compute so long in an iteration."""
        task = Task(rows=SIZE + 2, columns=SIZE, iterations=iterations, message_bytes=self.message_bytes)
        steps = []
        for rank in range(WORKERS):
            worker = Recorder(rank, WORKERS, costs_ns={"relax": compute_s * 1e9 / POINTS})
            run(worker, task, verify=False)
            steps.append(worker.steps)
        recording.write(steps, path, title=f"SOR {self.name}, {WORKERS} ranks")


PRESETS = (Preset("longcut-literal", LITERAL_BYTES), Preset("consistent", None))


def simulated(study: Study, preset: Preset, compute_s: float) -> dict[str, float]:
    """Seconds of an iteration by kind of trace."""
    count = study.size(ITERATIONS, small=2)
    preset.record(compute_s, study.runs / f"sor-{preset.name}.csv", iterations=count)
    path = scenario(
        study, f"sor-{preset.name}", "more: 0", f"{{kind: recorded, file: sor-{preset.name}.csv}}"
    )
    text = path.read_text(encoding="utf-8").replace("more: 0, ", "")
    found = {}
    for kind in EVERY_KIND:
        path.write_text(of_kind(study, text, kind), encoding="utf-8")
        found[kind] = simulated_s(study, path) / count
    return found


def iterations(study: Study, preset: Preset) -> dict[str, Any]:
    """Communicate alone, find the computing that makes NWS's share 70 %, run with it."""
    silent = simulated(study, preset, 0.0)
    compute_s = silent["nws"] * (1 - SHARE) / SHARE
    return {"silent": silent, "compute_s": compute_s, "whole": simulated(study, preset, compute_s)}


def study_relaxation(study: Study) -> None:
    """Simulate both sizes of messages; evaluate."""
    rows, slower, possible = [], [], []
    least = study.numbers("sor-nws-slower")["least"]
    within = study.numbers("sor-eventspace-alike")["within"]
    most_gb_per_s = study.numbers("sor-communication")["most_gb_per_s"]
    alike = {"eventspace": [], SAMPLED: []}
    for preset in PRESETS:
        found = study.measured(f"sor/{preset.name}", lambda preset=preset: iterations(study, preset))
        if found is None:
            raise RuntimeError(f"{preset.name} was not simulated")
        silent, whole, compute_s = found["silent"], found["whole"], found["compute_s"]
        size = preset.message_bytes or SIZE * 4
        named = f"messages of {size:,} bytes"
        rate = exact(SWEEPS_BYTES / compute_s / 1e9)
        possible.append(at_most(named, rate, most_gb_per_s, "GB/s"))
        study.value(f"computing, {size}", exact(compute_s), "s")
        slower.append(at_least(named, exact(whole["nws"] / whole["constant"] - 1), least, percent=True))
        for kind, cases in alike.items():
            cases.append(near(f"{kind}, {named}", exact(whole[kind] / whole["constant"]), 1, within))
        rows += [
            {
                "preset": preset.name,
                "kind": kind,
                "communicating_s": round(silent[kind], 4),
                "iteration_s": round(whole[kind], 4),
                "slowdown": round(whole[kind] / whole["constant"] - 1, 4),
                "share_communicating": round(1 - compute_s / whole[kind], 3),
                "possible": rate.value <= most_gb_per_s,
            }
            for kind in EVERY_KIND
        ]
    study.table("table6", rows)
    study.evaluate("sor-nws-slower", slower)
    study.evaluate("sor-eventspace-alike", [*alike["eventspace"], *alike[SAMPLED]])
    study.evaluate("sor-communication", possible)


def draw(figures: Figures) -> None:
    """Table VI: computing and communicating of an iteration, and the share of the latter."""
    rows = [row for row in figures.rows("table6") if row["kind"] in KINDS]
    with paper():
        made = figure(3.4, width_in=9.5)
        *panels, shares = made.subplots(1, 1 + len(PRESETS))
        for number, (axes, preset) in enumerate(zip(panels, PRESETS, strict=True)):
            mine = [row for row in rows if row["preset"] == preset.name]
            silent = [row["iteration_s"] * row["share_communicating"] for row in mine]
            computing = [row["iteration_s"] - each for row, each in zip(mine, silent, strict=True)]
            kinds = [row["kind"] for row in mine]
            axes.bar(kinds, computing, color=colour(0), label="computing")
            axes.bar(kinds, silent, bottom=computing, color=colour(1), label="communicating")
            axes.set_axisbelow(True)
            axes.grid(axis="x", visible=False)
            axes.set(ylabel="an iteration [s]")
            size = preset.message_bytes or SIZE * 4
            axes.set_title(f"messages of {size:,} bytes")
            places = [place + 0.16 * (number - 0.5) for place in range(len(mine))]
            shares.plot(
                places,
                [100 * row["share_communicating"] for row in mine],
                "o^"[number],
                color=colour(number + 2),
                label=f"communicating, {size:,} bytes",
            )
        stated = [replace(each, y=100 * (each.y or 0.0)) for each in figures.paper.values("table VI")]
        draw_paper(shares, stated, places={kind: place for place, kind in enumerate(KINDS)})
        shares.set_xticks(range(len(KINDS)), KINDS)
        shares.set(ylim=(0, 100), xlim=(-0.5, len(KINDS) - 0.5), ylabel="communicating [% of the time]")
        shares.set_title("share of communication (NWS: input)")
        legend_below(made, ncols=5)
        figures.add(made, "table-6", data=["table6"])
