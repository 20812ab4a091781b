"""Simulated and Linux's algorithms side by side, and why they differ."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from twelve_paths import PATHS

from longhaul.studies import Study, exact, fitting_reasons, measured, near, read_reasons

HERE = Path(__file__).parent
MEASURES = {"goodput_mbit": "goodput", "window": "window"}
SHOWN = ("goodput_mbit", "window", "retransmitted", "rtt_p50_ms")

Rows = list[dict[str, str]]


def evaluate(study: Study, parts: Mapping[str, Sequence[str]]) -> None:
    """Put measures side by side and evaluate goodputs and windows, from the tables of the other parts.

    ``parts`` has the algorithms by the end of the names of their parts.
    """
    algorithms = [each for part in parts.values() for each in part]
    within = study.numbers("goodput-reno")["within"]
    ours, linux = (
        [row for part in parts for row in study.rows(f"{clock}{part}")] for clock in ("simulated", "virtual")
    )
    study.table("paths", ({"path": name, "link": path.link} for name, path in PATHS.items()))
    study.table("comparison", side_by_side(ours, linux, algorithms, within=within))
    for measure, text in MEASURES.items():
        for algorithm in algorithms:
            cases = []
            for path in PATHS:
                ratios = [
                    a / b
                    for a, b in zip(
                        values(ours, path, algorithm, measure),
                        values(linux, path, algorithm, measure),
                        strict=False,
                    )
                ]
                if ratios:
                    found = exact(ratios[0]) if len(ratios) == 1 else measured(ratios)
                    cases.append(near(path, found, 1, within))
            study.evaluate(f"{text}-{algorithm}", cases)


def values(rows: Rows, path: str, algorithm: str, measure: str) -> list[float]:
    """A measure on a path, by seed."""
    return [float(row[measure]) for row in rows if (row["path"], row["algorithm"]) == (path, algorithm)]


def side_by_side(
    ours: Rows, linux: Rows, algorithms: Sequence[str], *, within: float
) -> Iterator[dict[str, Any]]:
    """A row for each path and algorithm: means over the seeds, and the name of a difference's reason.

    What differs by less than ``within`` is equal.
    """
    reasons = read_reasons(HERE / "reasons.toml")
    for path in PATHS:
        for algorithm in algorithms:
            means = {
                f"{measure}_{clock}": round(mean(found), 2)
                for measure in SHOWN
                for clock, rows in (("simulated", ours), ("linux", linux))
                if (found := values(rows, path, algorithm, measure))
            }
            pairs = [[means.get(f"{each}_{clock}") for clock in ("simulated", "linux")] for each in MEASURES]
            differs = any(a and b and abs(a / b - 1) > within for a, b in pairs)
            fits = [each["name"] for each in fitting_reasons(reasons, f"{path}: {algorithm}")]
            reason = next(iter(fits), "") if differs else "-"
            yield {"path": path, "algorithm": algorithm, **means, "reason": reason}
