"""Table VI: red-black SOR on four sub-clusters, 40 workers of 1200 rows, simulated; its values are lost."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collectives import scenario
from playing import EVERY_KIND, KINDS, SAMPLED, of_kind, simulated_s

from longhaul.report.plotting import figure, paper
from longhaul.studies import Study, at_least, at_most, exact, near
from longhaul.workloads import collectives, recording
from longhaul.workloads.job import Array
from longhaul.workloads.relaxation import Task, run

SIZE, WORKERS, ITERATIONS = 48_000, 40, 20
LITERAL_BYTES = 19_800
SITES = [range(site * 10, site * 10 + 10) for site in range(4)]
SHARE = 0.7
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
    """Simulate both sizes of messages; evaluate and draw."""
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
    draw(study, rows)


def draw(study: Study, rows: list[dict[str, object]]) -> None:
    """Computing and communicating of an iteration."""
    with paper():
        made = figure(3.0, width_in=7)
        for axes, preset in zip(made.subplots(1, 2), PRESETS, strict=True):
            mine = [row for row in rows if row["preset"] == preset.name and row["kind"] in KINDS]
            whole = [float(str(row["iteration_s"])) for row in mine]
            silent = [
                took * float(str(row["share_communicating"])) for took, row in zip(whole, mine, strict=True)
            ]
            axes.bar(KINDS, [a - b for a, b in zip(whole, silent, strict=True)], label="computing")
            axes.bar(
                KINDS,
                silent,
                bottom=[a - b for a, b in zip(whole, silent, strict=True)],
                label="communicating",
            )
            axes.set_axisbelow(True)
            axes.set(title=f"{preset.name}: {preset.message_bytes or SIZE * 4:,} bytes")
        made.axes[0].set(ylabel="an iteration [s]")
        made.axes[0].legend(fontsize=8)
        study.figure(made, "sor", data=["table6"])
