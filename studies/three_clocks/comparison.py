"""The measures of the clocks side by side, and why they differ."""

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

from documents import read_table
from scenarios import CASES

HERE = Path(__file__).parent
CLOCKS = ("simulated", "virtual", "real")
MEASURES = {
    "goodput_mbit": "goodput, Mbit/s",
    "retransmitted": "segments retransmitted",
    "dropped": "packets dropped at the link",
    "rtt_p50_ms": "median RTT of the ping, ms",
}
WITHIN = 0.05
"""What differs by less is equal."""

Rows = list[dict[str, str]]


def results() -> dict[str, Rows]:
    """The tables of the clocks that have results."""
    paths = {clock: HERE / "results" / f"{clock}.csv" for clock in CLOCKS}
    return {clock: read_table(path) for clock, path in paths.items() if path.is_file()}


def values(rows: Rows, case: str, measure: str) -> dict[str, float]:
    """A measure of a case by seed."""
    return {row["seed"]: float(row[measure]) for row in rows if row["case"] == case}


def side_by_side(tables: Mapping[str, Rows]) -> Iterator[dict[str, Any]]:
    """A row for each case and measure: the means over the seeds, and the names of a difference's reasons."""
    reasons = tomllib.loads((HERE / "reasons.toml").read_text(encoding="utf-8"))["reason"]
    for case in CASES:
        for measure, text in MEASURES.items():
            found = {clock: values(rows, case, measure) for clock, rows in tables.items()}
            means = {clock: mean(each.values()) for clock, each in found.items() if each}
            fits = [
                each["name"]
                for each in reasons
                if any(fnmatchcase(f"{case}: {measure}", form) for form in each["differences"])
            ]
            yield {
                "case": case,
                "measure": text,
                **{clock: round(means[clock], 1) if clock in means else "" for clock in CLOCKS},
                "reason": ", ".join(fits) if is_different(means) else "-",
            }


def is_different(means: Mapping[str, float]) -> bool:
    """Whether two clocks differ by more than :data:`WITHIN` of the larger value."""
    return any(abs(a - b) > WITHIN * max(a, b) for a, b in combinations(means.values(), 2))
