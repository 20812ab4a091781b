"""Simulated congestion control beside that of Linux, on twelve paths.

Each algorithm that the simulator and Linux have: one transfer, simulated and on the virtual clock, where the
hosts are Linux kernels and the network is the same. Are goodput and window within 5 %?
"""

import sys
from functools import partial
from pathlib import Path as FilePath
from statistics import mean
from typing import Any

sys.path.insert(0, str(FilePath(__file__).parents[1]))

from beside_linux import evaluate
from twelve_paths import PATHS, SECONDS, Path, scenario

import longhaul
from longhaul.studies import Part, Study, run_study

ALGORITHMS = {
    "": (
        "reno",
        "cubic",
        "bbr",
        "dctcp",
        "vegas",
        "westwood",
        "htcp",
        "highspeed",
        "scalable",
        "bic",
        "illinois",
    ),
    "-further": ("veno", "yeah", "lp"),
    "-cdg-nv": ("cdg", "nv"),
}
"""By the end of the names of their parts. Those measured later have a commit and a date of their own."""
DRAWING = ("cdg", "nv")
"""They decide by chance, so that one seed is not enough on any path."""


def run(study: Study, path: Path, cc: str, clock: str, seed: int) -> dict[str, Any]:
    """One run and its measures."""
    file = study.runs / f"{clock}.yaml"
    file.write_text(scenario(path, cc, seed=seed, seconds=study.size(SECONDS, small=2)), encoding="utf-8")
    if clock == "simulated":
        result = longhaul.run_sim(file, runs=study.runs, report=False)
    else:
        result = longhaul.run_live(file, runs=study.runs, report=False, clock="virtual")
    study.ran(result, mode="sim" if clock == "simulated" else "live")
    (flow,) = result.summary["flows"]
    return {
        "goodput_mbit": round(flow["goodput_bits_per_s"] / 1e6, 3),
        "retransmitted": flow["retransmits"],
        "window": round(mean(_windows(result, clock)), 2),
        "rtt_p50_ms": round(result.probe("probe")["rtt_p50_ns"] / 1e6, 3),
        "verdict": result.verdict,
    }


def _windows(result: longhaul.Result, clock: str) -> list[float]:
    """Congestion windows at the sampling times, in segments."""
    if clock == "simulated":
        return [each for each in result.table("flows")["window_segments"] if each is not None]
    table = result.table("sockets")
    rows = [row for row in range(len(table["host"])) if table["host"][row] == "a"]
    # Beside the transfer there is iperf3's control.
    busiest = max(rows, key=lambda row: table["sent_bytes"][row])
    return [table["cwnd_segments"][row] for row in rows if table["socket"][row] == table["socket"][busiest]]


def study_clock(study: Study, clock: str, rounds: int, which: str) -> None:
    """The algorithms of a part on all paths. Without chance, one seed is enough."""
    rows = []
    for name, path in PATHS.items():
        for cc in ALGORITHMS[which]:
            seeds = rounds if path.chance or cc in DRAWING else 1
            for seed in range(1, seeds + 1):
                found = study.measured(
                    f"{clock}/{name}/{cc}/{seed}", partial(run, study, path, cc, clock, seed)
                )
                if found is not None:
                    rows.append({"path": name, "algorithm": cc, "seed": seed, **found})
    study.table(f"{clock}{which}", rows)


def part(clock: str, which: str) -> Part:
    """The part of a clock and some of the algorithms."""
    return Part(lambda study, given: study_clock(study, clock, given.rounds, which), rounds=3)


PARTS = {f"{clock}{which}": part(clock, which) for which in ALGORITHMS for clock in ("simulated", "virtual")}
PARTS["comparison"] = Part(lambda study, _given: evaluate(study, ALGORITHMS))

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
