"""Figures 5 and 6: what limits of 100 Mbit/s and a ticking clock make of the spacing of packets."""

from pathlib import Path
from typing import Any

import numpy as np

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Figures, Study, at_least, between, exact
from longhaul.studies.drawing import colour, draw_paper, legend_below

SCENARIO = Path(__file__).parent / "spacing.yaml"
PACKET_BYTES = 1500
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
    """Simulate the four links, evaluate the claims."""
    _evaluate(study, longhaul.run_sim(SCENARIO, runs=study.runs, report=False))


def study_on_linux(study: Study) -> None:
    """The same with senders and receivers of Linux, on the virtual clock."""
    result = longhaul.run_live(SCENARIO, runs=study.runs, report=False, clock="virtual")
    study.ran(result)
    _evaluate(study, result, "linux-")


def _evaluate(study: Study, result: Result, kind: str = "") -> None:
    """The tables of the links and their claims, whose names begin with ``kind``."""
    passed = {link: _times(result, link) for link in LABELS}
    rows = [_row(link, due) for link, (_offered, due) in passed.items()]
    study.table(f"{kind}spacing", rows)
    least = {row["link"]: exact(float(row["gap_least_us"])) for row in rows}
    gap_us = study.numbers(f"{kind}spacing-kept")["gap_us"]
    study.evaluate(
        f"{kind}spacing-kept",
        [at_least(LABELS[link], least[link], gap_us - NANOSECOND_US, "µs") for link in ("paced", "psp")],
    )
    for claim, link in ((f"{kind}netem-distorts-pacing", "netem"), (f"{kind}bucket-passes-bursts", "bucket")):
        gap_us = study.numbers(claim)["gap_us"]
        study.evaluate(claim, between("", least[link], gap_us - NANOSECOND_US, gap_us + NANOSECOND_US, "µs"))
    study.table(
        f"{kind}spacing-packets",
        [
            {"link": link, "event": event, "t_us": round(float((time - FROM_NS) / 1e3), 2)}
            for link, (offered, due) in passed.items()
            for event, times in (("arrive", offered), ("leave", due))
            for time in times[(times >= FROM_NS) & (times < FROM_NS + FEW_NS)]
        ],
    )
    study.table(
        f"{kind}spacing-rates",
        [
            {"link": link, "t_ms": round(place * BIN_NS / 1e6, 1), "mbits": float(rate)}
            for link, (_offered, due) in passed.items()
            for place, rate in enumerate(_binned(due))
        ],
    )


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


def draw(figures: Figures, kind: str = "", hosts: str = "simulated") -> None:
    """Figures 5 and 6, and the same flow behind a token bucket and behind a pacer alone."""
    rates, packets = figures.rows(f"{kind}spacing-rates"), figures.rows(f"{kind}spacing-packets")
    with paper():
        made = figure(4.6, width_in=11)
        axes = made.subplots(2, len(LABELS), sharey="row")
        for number, (link, label) in enumerate(LABELS.items()):
            rate, marks = axes[0][number], axes[1][number]
            mine = [row for row in rates if row["link"] == link]
            rate.step(
                [row["t_ms"] for row in mine],
                [row["mbits"] for row in mine],
                where="post",
                color=colour(0),
                linewidth=1,
                label=f"{hosts}, in 100 µs",
            )
            draw_paper(rate, figures.paper.values("6" if link == "psp" else "5"))
            rate.set(title=label, xlim=(0, SPAN_NS / 1e6), xlabel="time [ms]")
            for place, event, ink in ((2, "arrive", colour(7)), (1, "leave", colour(0))):
                times = [row["t_us"] / 1e3 for row in packets if (row["link"], row["event"]) == (link, event)]
                marks.plot(times, [place] * len(times), "|", color=ink, markersize=14)
            marks.set(xlabel="time [ms]", ylim=(0.5, 2.5), xlim=(0, FEW_NS / 1e6))
            marks.set_yticks([1, 2], ["leave", "arrive"])
        axes[0][0].set_ylabel("rate [Mbit/s]")
        axes[1][0].set_ylabel("packets")
        legend_below(made)
        figures.add(made, f"{kind}figures-5-6", data=[f"{kind}spacing-packets", f"{kind}spacing-rates"])


def draw_on_linux(figures: Figures) -> None:
    """The same with Linux's streams."""
    draw(figures, "linux-", "Linux")
