"""Figures 5 and 6: what limits of 100 Mbit/s and a ticking clock make of the spacing of packets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from study import Study

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result

SCENARIO = Path(__file__).parent / "spacing.yaml"
RATE, LINE, PACKET_BYTES = 100e6, 1e9, 1500
BIN_NS, FROM_NS, SPAN_NS, FEW_NS = 100_000, 2_000_000_000, 20_000_000, 4_000_000
LABELS = {
    "bucket": "token bucket, 15,400 bytes deep",
    "paced": "paced",
    "netem": "paced, then netem (figure 5)",
    "psp": "netem, then paced (figure 6)",
}
PACED_GAP_US = PACKET_BYTES * 8e6 / RATE
LINE_GAP_US = PACKET_BYTES * 8e6 / LINE


def study_spacing(study: Study) -> None:
    """Simulate the four links, draw figures 5 and 6, judge the claims."""
    result = longhaul.run_sim(SCENARIO, runs=study.directory / "runs", report=False)
    passed = {link: _times(result, link) for link in LABELS}
    rows = [_row(link, due) for link, (_offered, due) in passed.items()]
    study.table("spacing", rows)
    for row in rows:
        study.say(
            f"figures 5 and 6, {LABELS[row['link']]}: gaps {row['gap_least_us']} us (least),"
            f" {row['gap_p50_us']} us (p50); the fullest 100 us carry {row['busiest_100us_mbits']:.0f} Mbit/s"
        )
    least = {row["link"]: row["gap_least_us"] for row in rows}
    study.claim(
        f"figure 6: no two packets are closer than {PACED_GAP_US:g} us behind a pacer, to the nanosecond",
        min(least["psp"], least["paced"]) >= PACED_GAP_US - 0.0011,
    )
    study.claim(
        f"figure 5: netem's clock undoes pacing: packets leave {LINE_GAP_US:g} us apart, as the port can",
        abs(least["netem"] - LINE_GAP_US) < 0.0011,
    )
    study.claim(
        f"so does a token bucket: {LINE_GAP_US:g} us, the spacing of the line",
        abs(least["bucket"] - LINE_GAP_US) < 0.0011,
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
        axes[0][0].set_ylabel("rate in 100 us [Mbit/s]")
        study.figure(made, "figures-5-6")
