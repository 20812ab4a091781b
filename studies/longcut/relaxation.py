"""Table VI: red-black SOR on four sub-clusters, 40 workers of 1200 rows, simulated; its values are lost."""

from dataclasses import dataclass
from pathlib import Path

from collectives import scenario
from playing import KINDS, sweep_times
from study import Study

from longhaul.report.plotting import figure, paper
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
P4_BYTES_PER_S = 6.4e9
"""Of the memory of a Pentium 4 with a bus of 800 MHz, at most."""


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

    def record(self, compute_s: float, path: Path) -> None:
        """Write the messages of all workers, who compute so long in an iteration."""
        task = Task(rows=SIZE + 2, columns=SIZE, iterations=ITERATIONS, message_bytes=self.message_bytes)
        steps = []
        for rank in range(WORKERS):
            worker = Recorder(rank, WORKERS, costs_ns={"relax": compute_s * 1e9 / POINTS})
            run(worker, task, verify=False)
            steps.append(worker.steps)
        recording.write(steps, path, title=f"SOR {self.name}, {WORKERS} ranks")


PRESETS = (Preset("longcut-literal", LITERAL_BYTES), Preset("consistent", None))


def simulated(study: Study, preset: Preset, compute_s: float) -> dict[str, float]:
    """Seconds of an iteration by kind of trace."""
    folder = study.directory / "runs"
    folder.mkdir(exist_ok=True)
    preset.record(compute_s, folder / f"sor-{preset.name}.csv")
    path = scenario(
        study, f"sor-{preset.name}", "more: 0", f"{{kind: recorded, file: sor-{preset.name}.csv}}"
    )
    path.write_text(path.read_text(encoding="utf-8").replace("more: 0, ", ""), encoding="utf-8")
    took = sweep_times(study, path, axes={"kind": list(KINDS)})
    return {kind: total / ITERATIONS for kind, total in zip(KINDS, took, strict=True)}


def study_relaxation(study: Study) -> None:
    """Communicate alone, find the computing that makes NWS's share 70 %, run with it."""
    rows = []
    for preset in PRESETS:
        silent = simulated(study, preset, 0.0)
        compute_s = silent["nws"] * (1 - SHARE) / SHARE
        whole = simulated(study, preset, compute_s)
        rate = SWEEPS_BYTES / compute_s
        size = preset.message_bytes or SIZE * 4
        study.say(
            f"{preset.name}, messages of {size} bytes: {SHARE:.0%} of the time communicating with NWS wants"
            f" {compute_s:.3f} s of computing in an iteration, {compute_s * 1e9 / POINTS:.2f} ns a point,"
            f" and {rate / 1e9:.1f} GB/s of memory (a Pentium 4 has {P4_BYTES_PER_S / 1e9:.1f} at most)"
        )
        rows += [
            {
                "preset": preset.name,
                "kind": kind,
                "communicating_s": round(silent[kind], 4),
                "iteration_s": round(whole[kind], 4),
                "slowdown": round(whole[kind] / whole["constant"] - 1, 4),
                "share_communicating": round(1 - compute_s / whole[kind], 3),
                "possible": rate <= P4_BYTES_PER_S,
            }
            for kind in KINDS
        ]
        study.say(
            f"{preset.name}: an iteration takes "
            + ", ".join(
                f"{took:.3f} s with {kind} ({took / whole['constant'] - 1:+.0%},"
                f" {1 - compute_s / took:.0%} communicating)"
                for kind, took in whole.items()
            )
        )
        study.claim(
            f"{preset.name}: SOR is slower with NWS than with constants; with EventSpace within 15 % of them",
            whole["nws"] > whole["constant"] and abs(whole["eventspace"] / whole["constant"] - 1) < 0.15,
        )
    study.table("table6", rows)
    possible = {row["preset"]: row["possible"] for row in rows}
    study.claim(
        "70 % with messages of 19,800 bytes is beyond the machines' memory, with half a row it is not",
        not possible["longcut-literal"] and bool(possible["consistent"]),
    )
    draw(study, rows)


def draw(study: Study, rows: list[dict[str, object]]) -> None:
    """Computing and communicating of an iteration."""
    with paper():
        made = figure(3.0, width_in=7)
        for axes, preset in zip(made.subplots(1, 2), PRESETS, strict=True):
            mine = [row for row in rows if row["preset"] == preset.name]
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
        study.figure(made, "table6")
