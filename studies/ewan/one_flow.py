"""Figure 8: one Reno flow; the round trip, the socket buffer, the token bucket."""

from dataclasses import replace

import numpy as np
from testbed import (
    FRAME,
    RENO,
    RENO_L2,
    SEGMENT,
    Trial,
    bucket,
    mbits,
    one,
    per_second,
    row_of,
    seconds_of,
    simulate,
)

from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result
from longhaul.studies import Figures, Study, at_most, exact, near
from longhaul.studies.drawing import MARKERS, colour, draw_paper, legend_below

WIRE_MBITS = 1000 * SEGMENT / FRAME
CASES: tuple[tuple[str, Trial], ...] = (
    (
        "10 ms, buffers of 16 MiB",
        Trial("near", one(RENO), params={"wan": "4.98ms", "buffers": "16MiB"}),
    ),
    ("100 ms, 16 MiB", Trial("small-buffers", one(RENO), params={"buffers": "16MiB"})),
    ("100 ms, 25 MiB", Trial("large-buffers", one(RENO))),
    ("100 ms, 25 MiB, token bucket", Trial("bucket", one(RENO), bucket(490))),
)


def window_mbits(buffer_mib: float, round_trip_s: float) -> float:
    """What half of a socket buffer allows for each round trip, at most the wire's rate."""
    return min(WIRE_MBITS, buffer_mib * 2**20 / 2 * 8 / round_trip_s / 1e6)


EXPECTED = [window_mbits(16, 0.01), window_mbits(16, 0.1), window_mbits(25, 0.1)]
"""Of the first three cases, in Mbit/s."""


def study_one_flow(study: Study) -> None:
    """Simulate the four cases, evaluate the claims."""
    found: dict[str, Result] = {}
    rows = []
    doubling = [replace(trial, name=f"{trial.name}-l2", flows=one(RENO_L2)) for _label, trial in CASES]
    for trial, result in simulate(study, [*(trial for _label, trial in CASES), *doubling]):
        found[trial.name] = result
        rows.append(row_of(trial, result, after_20_s_mbits=round(late(result), 2)))
    study.table("figure-8", rows)
    within = study.numbers("half-buffer-is-window")["within"]
    study.evaluate(
        "half-buffer-is-window",
        [
            near(
                f"{label}, L = {limit}",
                exact(late(found[f"{trial.name}{end}"])),
                most,
                within,
                "Mbit/s",
            )
            for limit, end in ((1, ""), (2, "-l2"))
            for (label, trial), most in zip(CASES, EXPECTED, strict=False)
        ],
    )
    most_share = study.numbers("bucket-penalizes")["most"]
    study.evaluate(
        "bucket-penalizes",
        [
            at_most(
                f"L = {limit}",
                exact(mbits(found[f"bucket{end}"], "a") / mbits(found[f"large-buffers{end}"], "a")),
                most_share,
                percent=True,
            )
            for limit, end in ((1, ""), (2, "-l2"))
        ],
    )
    study.table("figure-8-rates", seconds_of({label: found[trial.name] for label, trial in CASES}, "a"))


def late(result: Result) -> float:
    """Mbit/s after 20 s of 60."""
    times, rates = per_second(result, "a")
    return float(np.mean(rates[times > times[-1] / 3]))


def draw(figures: Figures) -> None:
    """Figure 8."""
    rows = figures.rows("figure-8-rates")
    with paper():
        made = figure(3.8, width_in=8)
        axes = made.subplots()
        for number, (label, _trial) in enumerate(CASES):
            mine = [row for row in rows if row["run"] == label]
            times, rates = ([row[column] for row in mine] for column in ("t_s", "mbits"))
            axes.plot(times, rates, color=colour(number), label=label)
            marked = slice(4 + 2 * number, None, 10)
            axes.plot(times[marked], rates[marked], MARKERS[number], color=colour(number), markersize=4)
        for most in sorted(set(EXPECTED)):
            axes.axhline(most, color="0.6", linewidth=0.8, linestyle=":")
        axes.plot([], [], ":", color="0.6", label="half a buffer a round trip, arithmetic")
        draw_paper(axes, figures.paper.values("8"))
        axes.set(xlabel="time [s]", ylabel="goodput [Mbit/s]", ylim=(0, 1000), xlim=(0, 60))
        axes.set_title("figure 8: one Reno flow")
        legend_below(made, ncols=3)
        figures.add(made, "figure-8", data=["figure-8-rates"])
