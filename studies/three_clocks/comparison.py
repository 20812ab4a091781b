"""The measures of the clocks side by side, and why they differ."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

from scenarios import CASES

from longhaul.studies import Study, fitting_reasons, read_reasons

HERE = Path(__file__).parent
CLOCKS = ("simulated", "virtual", "real")
MEASURES = {
    "goodput_mbit": "goodput, Mbit/s",
    "retransmitted": "segments retransmitted",
    "dropped": "packets dropped at the link",
    "rtt_p50_ms": "median RTT of the ping, ms",
}

Rows = list[dict[str, str]]


def results(study: Study) -> dict[str, Rows]:
    """The tables of the clocks that have results."""
    return {clock: rows for clock in CLOCKS if (rows := study.rows(clock))}


def values(rows: Rows, case: str, measure: str) -> dict[str, float]:
    """A measure of a case by seed."""
    return {row["seed"]: float(row[measure]) for row in rows if row["case"] == case}


def side_by_side(tables: Mapping[str, Rows], *, within: float) -> Iterator[dict[str, Any]]:
    """A row for each case and measure: the means over the seeds, and the names of a difference's reasons."""
    reasons = read_reasons(HERE / "reasons.toml")
    for case in CASES:
        for measure, text in MEASURES.items():
            found = {clock: values(rows, case, measure) for clock, rows in tables.items()}
            means = {clock: mean(each.values()) for clock, each in found.items() if each}
            fits = [each["name"] for each in fitting_reasons(reasons, f"{case}: {measure}")]
            yield {
                "case": case,
                "measure": text,
                **{clock: round(means[clock], 1) if clock in means else "" for clock in CLOCKS},
                "reason": ", ".join(fits) if is_different(means, within=within) else "-",
            }


def is_different(means: Mapping[str, float], *, within: float) -> bool:
    """Whether two clocks differ by more than the share ``within`` of the larger value."""
    return any(abs(a - b) > within * max(a, b) for a, b in combinations(means.values(), 2))
