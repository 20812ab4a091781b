"""Figure 8 live, at this machine's size: real TCP, as this kernel has it.

One TCP transfer (CUBIC, jumbo frames) over four routes of 1 Gbit/s, packet by packet in turn, one of
them longer; against one route of 4 Gbit/s, against one of the four alone, and with a resequencer.
"""

from pathlib import Path

from study import Study

import longhaul
from longhaul.report.plotting import figure, paper

DIFFERENCES_US = (0, 100, 200, 300, 400, 600, 800, 1000)
SCENARIO = Path(__file__).parent / "live.yaml"
VOLUME_BITS = 8 * 10e9
CURVES = {
    "one link of 4 Gbit/s": {"policy": "flow-hash", "rate": "4Gbit"},
    "round robin over 4 x 1 Gbit/s": {},
    "the same, without RACK": {"recovery": 0},
    "the same, resequenced": {"wait": "2ms"},
    "one flow on one of the four": {"policy": "flow-hash"},
}


def transfer(study: Study, params: dict[str, object], difference_us: int) -> dict[str, object]:
    """One live transfer; its goodput, retransmissions and verdict."""
    result = longhaul.run_live(
        SCENARIO,
        params={**params, "long": f"{100 + difference_us}us"},
        runs=study.directory / "runs",
        report=False,
    )
    flow = result.flow("copy")
    return {
        "goodput_bits_per_s": flow["goodput_bits_per_s"],
        "retransmits": flow["retransmits"],
        "verdict": result.verdict,
        "lateness_p99_us": result.summary["fidelity"]["lateness"]["p99_ns"] / 1e3,
    }


def study_live(study: Study, *, rounds: int) -> None:
    """Run every curve, draw the figure, judge the claims."""
    rows = []
    for _ in range(rounds):
        for difference in DIFFERENCES_US:
            for curve, params in CURVES.items():
                # A flow that keeps to one route does not meet the others' delay.
                if "flow" in curve and difference not in (0, 1000):
                    continue
                found = transfer(study, params, difference)
                rows.append({"curve": curve, "difference_us": difference, **found})
                study.say(
                    f"{difference:>4} us, {curve}: {found['goodput_bits_per_s'] / 1e9:.3f} Gbit/s, "
                    f"{found['retransmits']} retransmitted, {found['verdict']}"
                )
    study.table("transfers-live", rows)
    goodput = {
        curve: {
            difference: sorted(
                row["goodput_bits_per_s"]
                for row in rows
                if (row["curve"], row["difference_us"]) == (curve, difference)
            )[rounds // 2]
            for difference in DIFFERENCES_US
            if any((row["curve"], row["difference_us"]) == (curve, difference) for row in rows)
        }
        for curve in CURVES
    }
    serial, turn, _old, again, alone = goodput.values()
    study.claim(
        "live, in turn, up to 300 us of difference cost at most 10 % of one link's goodput",
        all(turn[each] >= 0.9 * serial[each] for each in (0, 100, 200, 300)),
    )
    study.claim("live, at 1000 us more than half is lost", turn[1000] < 0.5 * serial[1000])
    study.claim(
        "the resequencer gives it back, to within 10 %",
        all(again[each] >= 0.9 * serial[each] for each in again),
    )
    study.claim(
        "one flow on one of four routes has a quarter, to within 5 %",
        all(abs(each / serial[0] - 0.25) < 0.0125 for each in alone.values()),
    )
    with paper():
        made = figure(3.8, width_in=7)
        axes = made.subplots()
        for (curve, points), marker in zip(goodput.items(), "osv^D", strict=True):
            seconds = [VOLUME_BITS / value for value in points.values()]
            axes.plot(list(points), seconds, f"{marker}-", markersize=4, label=curve)
        axes.set(yscale="log", xlabel="one route is longer by [us]", ylabel="10 GB take [s]")
        axes.set_yticks([20, 50, 100, 200, 500], ["20", "50", "100", "200", "500"])
        axes.minorticks_off()
        axes.legend()
        study.figure(made, "transfers-live")
