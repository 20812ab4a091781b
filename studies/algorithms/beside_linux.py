"""Simulated and Linux's algorithms side by side, and why they differ."""

import tomllib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import mean
from typing import Any

from documents import read_table
from judging import between, exact, measured
from study import Study
from twelve_paths import PATHS

HERE = Path(__file__).parent
MEASURES = {"goodput_mbit": "goodput", "window": "window"}
SHOWN = ("goodput_mbit", "window", "retransmitted", "rtt_p50_ms")
WITHIN = 0.05
"""What differs by less is equal."""

Rows = list[dict[str, str]]


def judge(study: Study, algorithms: Sequence[str]) -> None:
    """Put measures side by side and judge goodputs and windows, from the tables of the other parts."""
    ours, linux = (read_table(HERE / "results" / f"{clock}.csv") for clock in ("simulated", "virtual"))
    study.table("paths", ({"path": name, "link": path.link} for name, path in PATHS.items()))
    study.table("comparison", side_by_side(ours, linux, algorithms))
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
                found = exact(ratios[0]) if len(ratios) == 1 else measured(ratios)
                cases.append(between(path, found, 1 - WITHIN, 1 + WITHIN))
            study.claim(
                f"simulated {algorithm} has the {text} of Linux's",
                place="ours",
                rule=f"the ratio is within {WITHIN:.0%} of 1, with its whole 95 % interval over the seeds",
                cases=cases,
                over="the path",
            )


def values(rows: Rows, path: str, algorithm: str, measure: str) -> list[float]:
    """A measure on a path, by seed."""
    return [float(row[measure]) for row in rows if (row["path"], row["algorithm"]) == (path, algorithm)]


def side_by_side(ours: Rows, linux: Rows, algorithms: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each path and algorithm: means over the seeds, and the names of a difference's reasons."""
    reasons = tomllib.loads((HERE / "reasons.toml").read_text(encoding="utf-8"))["reason"]
    for path in PATHS:
        for algorithm in algorithms:
            means = {
                f"{measure}_{clock}": round(mean(found), 2)
                for measure in SHOWN
                for clock, rows in (("simulated", ours), ("linux", linux))
                if (found := values(rows, path, algorithm, measure))
            }
            differs = any(
                abs(means[f"{each}_simulated"] / means[f"{each}_linux"] - 1) > WITHIN for each in MEASURES
            )
            fits = next(
                (
                    each["name"]
                    for each in reasons
                    if any(fnmatchcase(f"{path}: {algorithm}", form) for form in each["differences"])
                ),
                "",
            )
            yield {"path": path, "algorithm": algorithm, **means, "reason": fits if differs else "-"}
