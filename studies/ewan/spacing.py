"""Figures 5 and 6: what limits of 100 Mbit/s and a ticking clock make of the spacing of packets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Study, at_least, between, exact

SCENARIO = Path(__file__).parent / "spacing.yaml"
RATE, PACKET_BYTES = 100e6, 1500
BIN_NS, FROM_NS, SPAN_NS, FEW_NS = 100_000, 2_000_000_000, 20_000_000, 4_000_000
LABELS = {
    "bucket": "token bucket, 15,400 bytes deep",
    "paced": "paced",
    "netem": "paced, then netem (figure 5)",
    "psp": "netem, then paced (figure 6)",
}
NANOSECOND_US = 0.0011
"""Of a gap, with the rounding of the table."""


def study_spacing(study: Study) -> None:
    """Simulate the four links, draw figures 5 and 6, evaluate the claims."""
    result = longhaul.run_sim(SCENARIO, runs=study.runs, report=False)
    passed = {link: _times(result, link) for link in LABELS}
    rows = [_row(link, due) for link, (_offered, due) in passed.items()]
    study.table("spacing", rows)
    least = {row["link"]: exact(float(row["gap_least_us"])) for row in rows}
    gap_us = study.numbers("spacing-kept")["gap_us"]
    study.evaluate(
        "spacing-kept",
        [at_least(LABELS[link], least[link], gap_us - NANOSECOND_US, "µs") for link in ("paced", "psp")],
    )
    for claim, link in (("netem-distorts-pacing", "netem"), ("bucket-passes-bursts", "bucket")):
        gap_us = study.numbers(claim)["gap_us"]
        study.evaluate(claim, between("", least[link], gap_us - NANOSECOND_US, gap_us + NANOSECOND_US, "µs"))
    study.table(
        "spacing-packets",
        [
            {"link": link, "event": event, "t_us": round(float((time - FROM_NS) / 1e3), 2)}
            for link, (offered, due) in passed.items()
            for event, times in (("arrive", offered), ("leave", due))
            for time in times[(times >= FROM_NS) & (times < FROM_NS + FEW_NS)]
        ],
    )
    study.table(
        "spacing-rates",
        [
            {"link": link, "t_ms": round(place * BIN_NS / 1e6, 1), "mbits": float(rate)}
            for link, (_offered, due) in passed.items()
            for place, rate in enumerate(_binned(due))
        ],
    )
    _draw(study, passed)


def _times(result: Result, link: str) -> tuple[np.ndarray, np.ndarray]:
    """When packets came to a link, and when they left it, in ns."""
    table = {name: np.array(column) for name, column in result.table("packets").items()}
    mine = (table["link"] == link) & (table["way"] == "forward") & (table["fate"] == "delivered")
    return table["arrival_ns"][mine].astype(float), np.sort(table["departure_ns"][mine].astype(float))


def _row(link: str, due: np.ndarray) -> dict[str, Any]:
    gaps = np.diff(due) / 1e3
    return {
        "link": link,
        "packets": len(due),
        "gap_least_us": round(float(gaps.min()), 3),
        "gap_p50_us": round(float(np.quantile(gaps, 0.5)), 3),
        "busiest_100us_mbits": float(_binned(due).max()),
    }


def _binned(due: np.ndarray) -> np.ndarray:
    """Mbit/s in each tenth of a millisecond of what is shown."""
    shown = due[(due >= FROM_NS) & (due < FROM_NS + SPAN_NS)]
    counts = np.bincount(((shown - FROM_NS) // BIN_NS).astype(int), minlength=SPAN_NS // BIN_NS)
    rates: np.ndarray = counts * PACKET_BYTES * 8 / (BIN_NS / 1e9) / 1e6
    return rates


def _draw(study: Study, passed: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> None:
    with paper():
        made = figure(4.4, width_in=11)
        axes = made.subplots(2, len(LABELS), sharey="row")
        for number, (link, (offered, due)) in enumerate(passed.items()):
            rate, marks, colour = axes[0][number], axes[1][number], f"C{number}"
            rates = _binned(due)
            rate.step(np.arange(len(rates)) * BIN_NS / 1e6, rates, where="post", color=colour, linewidth=1)
            rate.axhline(RATE / 1e6, color="0.5", linewidth=0.8, linestyle="--")
            rate.set(title=LABELS[link], xlim=(0, SPAN_NS / 1e6))
            for place, times, ink in ((2, offered, "0.4"), (1, due, colour)):
                few = times[(times >= FROM_NS) & (times < FROM_NS + FEW_NS)]
                marks.plot((few - FROM_NS) / 1e6, np.full(len(few), place), "|", color=ink, markersize=14)
            marks.set(xlabel="time [ms]", ylim=(0.5, 2.5), xlim=(0, FEW_NS / 1e6))
            marks.set_yticks([1, 2], ["leave", "arrive"])
        axes[0][0].set_ylabel("rate in 100 µs [Mbit/s]")
        study.figure(made, "spacing", data=["spacing-packets", "spacing-rates"])
