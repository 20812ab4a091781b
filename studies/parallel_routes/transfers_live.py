"""Figure 8 live, at this machine's size: real TCP, as this kernel has it.

One TCP transfer (CUBIC, jumbo frames) over four routes of 1 Gbit/s, packet by packet in turn, one of
them longer; against one route of 4 Gbit/s, against one of the four alone, and with a resequencer.
"""

from pathlib import Path
from typing import Any

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Measurement, Study, at_least, at_most, measured, near
from longhaul.studies.drawing import MARKERS, colour, draw_measured, draw_paper, legend_below

DIFFERENCES_US = (0, 100, 200, 300, 400, 600, 800, 1000)
ENDS_US = (0, 1000)
SCENARIO = Path(__file__).parent / "live.yaml"
VOLUME_BITS = 8 * 10e9
WIRE_BITS_PER_S = 4e9 * 8948 / 9000
"""Payload of the four routes, by arithmetic."""
SERIAL, TURN, OLD = "one link of 4 Gbit/s", "round robin over 4 x 1 Gbit/s", "the same, without RACK"
WIDE, AGAIN = "the same, receive window wide from the start", "the same, resequenced"
ALONE = "one flow on one of the four"
CURVES: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    # A flow that keeps to one link does not meet the others' delay.
    SERIAL: ((0,), {"policy": "flow-hash", "rate": "4Gbit"}),
    TURN: (DIFFERENCES_US, {}),
    OLD: (DIFFERENCES_US, {"recovery": 0}),
    WIDE: ((0, 600, 1000), {"first_window": 900}),
    AGAIN: ((0, 300, 1000), {"wait": "2ms"}),
    ALONE: (ENDS_US, {"policy": "flow-hash"}),
}

Goodputs = dict[str, dict[int, list[float]]]
"""By curve and difference, one for each round."""


def transfer(study: Study, params: dict[str, Any], difference_us: int) -> dict[str, Any]:
    """One live transfer; its goodput and retransmissions."""
    result = longhaul.run_live(
        SCENARIO, params={**params, "long": f"{100 + difference_us}us"}, runs=study.runs, report=False
    )
    study.ran(result)
    flow = result.flow("copy")
    return {
        "goodput_bits_per_s": round(flow["goodput_bits_per_s"]),
        "retransmits": flow["retransmits"],
        "verdict": result.verdict,
    }


def study_live(study: Study, *, rounds: int) -> None:
    """Run every curve in every round, evaluate the claims."""
    rows = []
    for number in range(rounds):
        for curve, (differences, params) in CURVES.items():
            for difference in differences:
                key = f"transfers-live/{curve}/{difference}/{number}"
                found = study.measured(key, lambda p=params, d=difference: transfer(study, p, d))
                if found:
                    rows.append({"curve": curve, "difference_us": difference, "round": number, **found})
    study.table("transfers-live", rows)
    goodput: Goodputs = {curve: {} for curve in CURVES}
    for row in rows:
        goodput[row["curve"]].setdefault(row["difference_us"], []).append(row["goodput_bits_per_s"])
    evaluate(study, goodput)


def evaluate(study: Study, goodput: Goodputs) -> None:
    """The paper's words on figure 8, and what a resequencer and one route do."""

    def share(curve: str, difference_us: int) -> Measurement:
        return measured([each / WIRE_BITS_PER_S for each in goodput[curve][difference_us]])

    limits = study.numbers("flat-live")
    flat_us, carried = limits["flat_us"], limits["carried"]
    beyond_us = int(study.numbers("rapid-increase-live")["beyond_us"])
    study.evaluate(
        "flat-live",
        [
            at_least(f"{difference} µs, {name}", share(curve, difference), carried, percent=True)
            for curve, name in ((TURN, "RACK"), (OLD, "without"))
            for difference in DIFFERENCES_US
            if difference <= flat_us
        ],
    )
    study.evaluate(
        "rapid-increase-live",
        [
            at_most(name, share(curve, beyond_us), carried, percent=True)
            for curve, name in ((TURN, "RACK"), (OLD, "without"))
        ],
    )
    study.evaluate(
        "retransmission-is-the-cause-live",
        [at_most(f"{each} µs", share(WIDE, each), carried, percent=True) for each in (beyond_us, 1000)],
    )
    study.evaluate("serial-full", at_least("", share(SERIAL, 0), carried, percent=True))
    study.evaluate(
        "resequencer-live",
        [
            at_least(f"{difference} µs", share(AGAIN, difference), carried, percent=True)
            for difference in CURVES[AGAIN][0]
        ],
    )
    within = study.numbers("quarter")["within"]
    study.evaluate(
        "quarter",
        [
            near(f"{difference} µs", share(ALONE, difference), 0.25, within, percent=True)
            for difference in ENDS_US
        ],
    )


def draw(figures: Figures) -> None:
    """Figure 8 live: seconds of 10 GB against the difference."""
    goodput: dict[str, dict[int, list[float]]] = {}
    for row in figures.rows("transfers-live"):
        points = goodput.setdefault(row["curve"], {})
        points.setdefault(row["difference_us"], []).append(row["goodput_bits_per_s"])
    with paper():
        made = figure(4.2, width_in=7.5)
        axes = made.subplots()
        for number, (curve, points) in enumerate(goodput.items()):
            found = [measured([VOLUME_BITS / value for value in values]) for values in points.values()]
            if curve == SERIAL:
                (one,) = found
                axes.axhline(one.value, color="0.45", linewidth=1.2, label=curve)
                axes.axhspan(one.low, one.high, color="0.45", alpha=0.15, linewidth=0)
                continue
            style = {"marker": MARKERS[number], "color": colour(number - 1)}
            draw_measured(axes, list(points), found, label=curve, **style)
        draw_paper(axes, figures.paper.values("8", "not degraded up to here"))
        axes.set(yscale="log", xlabel="one route is longer by [µs]", ylabel="10 GB take [s]")
        axes.set_yticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"])
        axes.minorticks_off()
        axes.set_title("figure 8, live")
        legend_below(made, ncols=2, size=7.5)
        figures.add(made, "figure-8-live", data=["transfers-live"])
