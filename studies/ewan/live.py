"""Figures 8 to 11 live at a tenth of the paper's rates, with this kernel's Reno, and simulated alike."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spacing import SCENARIO as SPACING
from study import Study
from testbed import Trial, bucket, index, mbits, one, paced, simulate, two, write

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.run.api import Result

LINE = "100Mbit"
SECONDS = 15
SCALED = {"bottleneck": LINE, "port": LINE, "queue": "100p", "buffers": "2560KiB"}
"""Rates, queues and buffers are a tenth; round trips and frames are the paper's."""
NARROW = SCALED | {"bottleneck": "70Mbit"}
WITHIN = 0.15


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
    return {name: replace(trial, seconds=SECONDS) for name, trial in found.items()}


def _paced(rate: float, waits: str) -> Any:
    return paced(rate, line=LINE, waits=waits)


def study_live(study: Study) -> None:
    """Run every case live and simulated, draw both, judge how far they are apart."""
    _spacing(study)
    every = cases()
    simulated = dict(zip(every, (result for _trial, result in simulate(study, every.values())), strict=True))
    live = {name: _run(study, trial) for name, trial in every.items()}
    rows = []
    for name, trial in every.items():
        real, virtual = (mbits(result[name], *trial.flows) for result in (live, simulated))
        rows.append(
            {
                "figure": name,
                "live_mbits": round(real, 2),
                "simulated_mbits": round(virtual, 2),
                "live_jain": round(index(live[name]), 4) if len(trial.flows) > 1 else None,
                "simulated_jain": round(index(simulated[name]), 4) if len(trial.flows) > 1 else None,
                "verdict": live[name].verdict,
            }
        )
        study.say(
            f"live, figure {name}: {real:.1f} Mbit/s, simulated {virtual:.1f}"
            + (f"; Jain's index {rows[-1]['live_jain']}" if rows[-1]["live_jain"] else "")
            + f" ({rows[-1]['verdict']})"
        )
    study.table("live", rows)
    near = [abs(row["live_mbits"] / row["simulated_mbits"] - 1) < WITHIN for row in rows]
    study.claim(
        f"live: each case is within {WITHIN:.0%} of the same simulated ({sum(near)} of {len(near)})",
        all(near),
    )
    rate = {row["figure"]: row["live_mbits"] for row in rows}
    study.claim(
        "live: the token bucket is penalizing, and the pacer better"
        f" ({rate['10: token bucket']:.1f} and {rate['10: PSPacer']:.1f} Mbit/s)",
        rate["10: PSPacer"] > 1.2 * rate["10: token bucket"],
    )
    _draw(study, rows)


def _run(study: Study, trial: Trial) -> Result:
    print(f"  live: {trial.name}", flush=True)
    runs = study.directory / "runs"
    return longhaul.run_live(write(study, trial), params=trial.params, runs=runs, report=False)


def _spacing(study: Study) -> None:
    """How far real gaps are from those of figures 5 and 6."""
    result = longhaul.run_live(SPACING, runs=study.directory / "runs", report=False)
    for link in ("bucket", "paced", "netem", "psp"):
        off = result.link(link)["spacing"]
        study.say(
            f"live, figures 5 and 6, {link}: gaps are off by {off['p50_ns'] / 1e3:.2f} us (p50),"
            f" {off['p99_ns'] / 1e3:.1f} us (p99) ({result.verdict})"
        )


def _draw(study: Study, rows: list[dict[str, Any]]) -> None:
    with paper():
        made = figure(4.2, width_in=8)
        axes = made.subplots()
        for number, (key, label) in enumerate((("live_mbits", "live"), ("simulated_mbits", "simulated"))):
            places = [place - 0.2 + 0.4 * number for place in range(len(rows))]
            values = [row[key] for row in rows]
            axes.barh(places, values, height=0.36, label=label, color=f"C{number}")
            for place, value in zip(places, values, strict=True):
                axes.text(value + 0.8, place, f"{value:.1f}", va="center", fontsize=7.5)
        axes.set_yticks(range(len(rows)), [f"figure {row['figure']}" for row in rows])
        axes.set(xlim=(0, 105), ylim=(len(rows) - 0.4, -0.6))
        axes.set_xlabel(f"all flows together, mean of {SECONDS} s [Mbit/s], at a tenth of the paper's rates")
        axes.grid(axis="y", visible=False)
        axes.set_axisbelow(True)
        axes.legend(loc="lower right")
        study.figure(made, "live")
