"""Emulators with a ticking clock compared with one without, on one machine: NemC's figure 3.

Fifty pairs of hosts ping at once, each over a link of its own: ten delays through five clocks. A
round trip over two links with the same delay model gives twice what one adds.
"""

import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Part, Study, at_least, at_most, between, measured, run_study
from longhaul.studies.drawing import MARKERS, colour, draw_measured, legend_below

CLOCKS = {
    "exact": ("", "none (Longhaul, NemC)"),
    "rtc": (", ticks: {hz: 8192, rounding: nearest}", "8192 Hz (NIST Net)"),
    "khz": (", ticks: {hz: 1000, rounding: up}", "1000 Hz (netem, 2006)"),
    "q": (", ticks: {hz: 250, rounding: up}", "250 Hz"),
    "c": (", ticks: {hz: 100, rounding: up}", "100 Hz (netem, 2.4)"),
}
DELAYS_US = (50, 100, 150, 200, 250, 300, 350, 400, 800, 1600)
TICK_US = 1e6 / 8192
SECONDS = 12


def scenario(seconds: int) -> str:
    """Ten delays through five clocks."""
    nodes, links, traffic = [], [], []
    for clock, (ticks, _label) in CLOCKS.items():
        for delay in DELAYS_US:
            name = f"{clock}{delay}"
            nodes.append(f"  {name}a: {{kind: host}}\n  {name}b: {{kind: host}}")
            links.append(f"  {name}: {{endpoints: [{name}a, {name}b], delay: {{base: {delay}us{ticks}}}}}")
            # 17 ms and a bit: no multiple of any tick, so that all phases occur.
            traffic.append(f"  {name}: {{kind: ping, from: {name}a, to: {name}b, every: 17.3ms}}")
    head = ["version: 1", "name: ticks", f"duration: {seconds}s", "addresses: ipv4", "measure: {every: 1s}"]
    return "\n".join([*head, "nodes:", *nodes, "links:", *links, "traffic:", *traffic, ""])


def one_round(study: Study) -> list[dict[str, Any]]:
    """The median of half the round trips, for every clock and delay."""
    path = study.runs / "ticks.yaml"
    path.write_text(scenario(study.size(SECONDS, small=2)), encoding="utf-8")
    result = longhaul.run_live(path, runs=study.runs, report=False)
    study.ran(result)
    table = result.table("probes")
    rtts: dict[str, list[float]] = {}
    for name, rtt in zip(table["name"], table["rtt_ns"], strict=True):
        if rtt is not None:
            rtts.setdefault(name, []).append(rtt / 1e3)
    return [
        {
            "clock": clock,
            "delay_us": delay,
            "measured_us": round(median(rtts[f"{clock}{delay}"]) / 2, 2),
            "pings": len(rtts[f"{clock}{delay}"]),
        }
        for clock in CLOCKS
        for delay in DELAYS_US
    ]


def study_ticks(study: Study, *, rounds: int) -> None:
    """Measure in every round, and evaluate."""
    rows = []
    for number in range(rounds):
        found = study.measured(f"delays/{number}", lambda: one_round(study)) or []
        rows += [{"round": number, **row} for row in found]
    study.table("delays", rows)
    met: dict[str, dict[int, list[float]]] = {clock: {delay: [] for delay in DELAYS_US} for clock in CLOCKS}
    for row in rows:
        met[row["clock"]][row["delay_us"]].append(row["measured_us"])
    exact, rtc, jiffy = met["exact"], met["rtc"], met["khz"]
    kept = range(len(exact[DELAYS_US[0]]))
    bases = [median(exact[delay][number] - delay for delay in DELAYS_US) for number in kept]
    study.value("base", measured(bases), "µs")
    within_us = study.numbers("exact-without-ticks")["within_us"]
    study.evaluate(
        "exact-without-ticks",
        [
            between(
                f"{delay} µs",
                measured([exact[delay][number] - delay - bases[number] for number in kept]),
                -within_us,
                within_us,
                "µs",
            )
            for delay in DELAYS_US
        ],
    )
    near_us = study.numbers("two-delays-at-8192-hz")["share"] * TICK_US
    study.evaluate(
        "two-delays-at-8192-hz",
        [
            between(
                f"{b} less {a} µs",
                measured([high - low for low, high in zip(rtc[a], rtc[b], strict=True)]),
                apart - near_us,
                apart + near_us,
                "µs",
            )
            for a, b, apart in ((100, 150, 0), (200, 250, 0), (200, 300, 0), (150, 200, TICK_US))
        ],
    )
    below = [delay for delay in DELAYS_US if delay < 1000]
    limits = study.numbers("one-delay-below-a-tick")
    study.evaluate(
        "one-delay-below-a-tick",
        [
            *(
                between(f"{delay} µs", measured(jiffy[delay]), limits["least_us"], limits["most_us"], "µs")
                for delay in below
            ),
            at_most(
                "longest less shortest",
                measured(
                    [
                        max(jiffy[delay][number] for delay in below)
                        - min(jiffy[delay][number] for delay in below)
                        for number in kept
                    ]
                ),
                limits["apart_us"],
                "µs",
            ),
        ],
    )
    study.evaluate(
        "50-us-become-a-millisecond",
        at_least("", measured(jiffy[50]), study.numbers("50-us-become-a-millisecond")["least_us"], "µs"),
    )


def draw(figures: Figures) -> None:
    """Measured delays against those configured."""
    rows = figures.rows("delays")
    delays = sorted({row["delay_us"] for row in rows})
    with paper():
        made = figure(4.3, width_in=9)
        panels = made.subplots(1, 2)
        for axes, clocks, most in zip(panels, (tuple(CLOCKS), ("exact", "rtc")), (None, 400), strict=True):
            shown = [delay for delay in delays if most is None or delay <= most]
            for clock in clocks:
                number = list(CLOCKS).index(clock)
                found = [
                    measured(
                        [
                            row["measured_us"]
                            for row in rows
                            if (row["clock"], row["delay_us"]) == (clock, each)
                        ]
                    )
                    for each in shown
                ]
                style = {"marker": MARKERS[number], "color": colour(number), "label": CLOCKS[clock][1]}
                draw_measured(axes, shown, found, **style)
            axes.plot(shown, shown, color="0.6", linewidth=0.8, linestyle="--", label="configured")
            axes.set(xlabel="configured delay [µs]", ylabel="measured delay, one way [µs]")
        panels[0].set(xscale="log", yscale="log", title="all clocks")
        panels[1].set(xlim=(0, 420), ylim=(0, 520), title="up to 400 µs")
        legend_below(made)
        figures.add(made, "ticks", data=["delays"])


PARTS = {"delays": Part(lambda study, given: study_ticks(study, rounds=given.rounds), rounds=4, draw=draw)}

if __name__ == "__main__":
    run_study(__file__, __doc__, PARTS)
