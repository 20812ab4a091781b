"""Figures 8 to 11 live at a tenth of the paper's rates, with this kernel's Reno, and simulated alike."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spacing import SCENARIO as SPACING
from testbed import Trial, bucket, index, mbits, one, paced, simulate, two, write

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, at_least, measured, near, ratios
from longhaul.studies.drawing import colour, half_widths, legend_below

LINE = "100Mbit"
SECONDS = 15
SCALED = {"bottleneck": LINE, "port": LINE, "queue": "100p", "buffers": "2560KiB"}
"""Rates, queues and buffers are a tenth; round trips and frames are the paper's."""
NARROW = SCALED | {"bottleneck": "70Mbit"}


def cases() -> Mapping[str, Trial]:
    """What runs, by what it stands for."""
    short = {"wan": "4.98ms", "buffers": "1600KiB"}
    found = {
        "8: 10 ms, small buffers": Trial("live-near", one("reno"), params=SCALED | short),
        "8: 100 ms, small buffers": Trial("live-small", one("reno"), params=SCALED | {"buffers": "1600KiB"}),
        "8: 100 ms, large buffers": Trial("live-large", one("reno"), params=SCALED),
        "8: and a token bucket": Trial("live-bucket", one("reno"), bucket(49, line=LINE), params=SCALED),
        "9: one machine": Trial("live-one", two("reno", machines=1), params=NARROW),
        "9: two machines": Trial("live-two", two("reno"), params=NARROW),
        "10: token bucket": Trial("live-buckets", two("reno"), bucket(49, line=LINE), params=NARROW),
        "10: PSPacer": Trial("live-paced", two("reno"), _paced(49, "100p"), params=NARROW),
        "11: 0 %": Trial("live-level-0", two("reno"), _paced(35, "1000p"), params=NARROW),
        "11: 20 %": Trial("live-level-20", two("reno"), _paced(42, "1000p"), params=NARROW),
        "11: 40 %": Trial("live-level-40", two("reno"), _paced(49, "1000p"), params=NARROW),
    }
    control = "congestion_control: reno"
    return {name: replace(trial, seconds=SECONDS, tcp=control) for name, trial in found.items()}


def _paced(rate: float, waits: str) -> Any:
    return paced(rate, line=LINE, waits=waits)


def study_live(study: Study, *, rounds: int) -> None:
    """Run every case live in every round, and simulated; evaluate how far they are apart."""
    every = cases()
    simulated = dict(zip(every, (result for _trial, result in simulate(study, every.values())), strict=True))
    rows = []
    for number in range(rounds):
        for name, trial in every.items():
            found = study.measured(f"live/{name}/{number}", lambda trial=trial: _run(study, trial))
            rows += [{"figure": name, "round": number, **found}] if found else []
    model = {name: mbits(simulated[name], *trial.flows) for name, trial in every.items()}
    study.table("live", [{**row, "simulated_mbits": round(model[row["figure"]], 2)} for row in rows])
    rates = {name: [row["live_mbits"] for row in rows if row["figure"] == name] for name in every}
    within = study.numbers("live-as-simulated")["within"]
    study.evaluate(
        "live-as-simulated",
        [near(name, measured([each / model[name] for each in rates[name]]), 1, within) for name in every],
    )
    faster = ratios(rates["10: PSPacer"], rates["10: token bucket"])
    least = study.numbers("pacer-beats-bucket-live")["ratio"]
    study.evaluate("pacer-beats-bucket-live", at_least("", faster, least))
    gaps = [study.measured(f"spacing/{number}", lambda: _spacing(study)) or {} for number in range(rounds)]
    for link in ("bucket", "paced", "netem", "psp"):
        for quantile in ("p50", "p99"):
            values = [each[f"{link}_{quantile}_us"] for each in gaps if each]
            study.value(f"gaps, {link}, {quantile}", measured(values), "µs")


def _run(study: Study, trial: Trial) -> dict[str, Any]:
    result = longhaul.run_live(write(study, trial), params=trial.params, runs=study.runs, report=False)
    study.ran(result)
    fair = {"live_jain": round(index(result), 4)} if len(trial.flows) > 1 else {}
    return {"live_mbits": round(mbits(result, *trial.flows), 2), **fair, "verdict": result.verdict}


def _spacing(study: Study) -> dict[str, float]:
    """How far real gaps are from those of figures 5 and 6."""
    result = longhaul.run_live(SPACING, runs=study.runs, report=False)
    study.ran(result)
    return {
        f"{link}_{quantile}_us": result.link(link)["spacing"][f"{quantile}_ns"] / 1e3
        for link in ("bucket", "paced", "netem", "psp")
        for quantile in ("p50", "p99")
    }


def draw(figures: Figures) -> None:
    """Every case live and simulated."""
    rows = figures.rows("live")
    model = {row["figure"]: row["simulated_mbits"] for row in rows}
    live = {name: measured([row["live_mbits"] for row in rows if row["figure"] == name]) for name in model}
    with paper():
        made = figure(4.4, width_in=8)
        axes = made.subplots()
        places = range(len(model))
        bars = {"height": 0.36}
        half = half_widths(live.values())
        values = [each.value for each in live.values()]
        axes.barh(
            [place - 0.2 for place in places],
            values,
            label="live",
            color=colour(0),
            xerr=half,
            capsize=2,
            **bars,
        )
        at = [place + 0.2 for place in places]
        axes.barh(at, list(model.values()), label="simulated", color=colour(1), **bars)
        for place, (value, more, virtual) in enumerate(zip(values, half, model.values(), strict=True)):
            axes.text(value + more + 0.8, place - 0.2, f"{value:.1f}", va="center", fontsize=7.5)
            axes.text(virtual + 0.8, place + 0.2, f"{virtual:.1f}", va="center", fontsize=7.5)
        axes.set_yticks(places, [f"figure {name}" for name in model])
        axes.set(xlim=(0, 105), ylim=(len(model) - 0.4, -0.6))
        axes.set_xlabel(f"all flows together, mean of {SECONDS} s [Mbit/s], at a tenth of the paper's rates")
        axes.grid(axis="y", visible=False)
        axes.set_axisbelow(True)
        legend_below(made)
        figures.add(made, "live", data=["live"])
