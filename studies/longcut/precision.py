"""Figure 4: PingPong over a real path, here a live WAN, and over a relay that plays its trace."""

import time
from pathlib import Path
from statistics import fmean
from typing import Any

from pingpong import SIZES
from playing import SCENARIO, Client, by_round, drawn, live, pingpong, relayed

from longhaul.report.plotting import paper
from longhaul.studies import Figures, Study, measured, near, ratios

ENDS = {"here": "vvgw", "there": "clustis"}
SECONDS, PROBED_S = 40, 60


def study_precision(study: Study, *, rounds: int) -> None:
    """Measure, collect, emulate in every round; evaluate."""
    rows: list[dict[str, Any]] = []
    probed: list[dict[str, float]] = []
    for number in range(rounds):
        found = study.measured(f"precision/{number}", lambda: one_round(study))
        if found:
            rows += [{"round": number, **row} for row in found["rows"]]
            probed.append(found["probed"])
    study.table("figure4", rows)
    for name, unit in (("rtt_ms", "ms"), ("there_mbit", "Mbit/s"), ("back_mbit", "Mbit/s")):
        study.value(f"probed {name}", measured([each[name] for each in probed]), unit)

    def middle(path: str, size: int) -> list[float]:
        return [row["median_ms"] for row in rows if (row["path"], row["bytes"]) == (path, size)]

    within = study.numbers("emulated-as-real")["within"]
    study.evaluate(
        "emulated-as-real",
        [
            near(f"{size} bytes", ratios(middle("emulated", size), middle("real", size)), 1, within)
            for size in SIZES
        ],
    )


def one_round(study: Study) -> dict[str, Any]:
    """The real path, what EventSpace's benchmark finds of it, and what a relay makes of that."""
    with live(study, SCENARIO, kind="eventspace", **ENDS) as client:
        real = pingpong(client, SECONDS)
        path, probed = collected(study, client)
    with relayed(study, path) as client:
        emulated = pingpong(client, SECONDS)
    rows = [
        {
            "path": which,
            "bytes": size,
            "mean_ms": round(took * 1e3, 3),
            "median_ms": round(curve.middle[size] * 1e3, 3),
        }
        for which, curve in (("real", real), ("emulated", emulated))
        for size, took in curve.mean.items()
    ]
    return {"rows": rows, "probed": probed}


def collected(study: Study, client: Client) -> tuple[Path, dict[str, float]]:
    """A scenario with the trace that EventSpace's benchmark finds, and its means.

    A way's delay is half of both.
    """
    samples = client("probe", "--origin", f"{time.monotonic()}", "--spans", f"0:{PROBED_S}")
    rows = [
        f"{at - samples[0][0]:.3f},{ends},{latency:.3f},{rate:.3f}"
        for at, latency, *rates in samples
        for ends, rate in zip(("near,far", "far,near"), rates, strict=True)
    ]
    latency, there, back = (fmean(sample[column] for sample in samples) for column in (1, 2, 3))
    (study.runs / "collected.csv").write_text(
        "t_s,src,dst,rtt_ms,rate_mbit\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    text = SCENARIO.read_text(encoding="utf-8").replace("name: path", "name: collected")
    measured = "{set: longcut, kind: $kind, from: $here, to: $there}"
    path = study.runs / "collected.yaml"
    path.write_text(text.replace(measured, "{trace: collected.csv, from: near, to: far}"), encoding="utf-8")
    return path, {"rtt_ms": latency, "there_mbit": there, "back_mbit": back}


def draw(figures: Figures) -> None:
    """Figure 4: latency and bandwidth."""
    with paper():
        made = drawn("figure 4", by_round(figures.rows("figure4"), "path"))
        figures.add(made, "figure-4", data=["figure4"])
