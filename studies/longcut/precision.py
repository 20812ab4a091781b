"""Figure 4: PingPong over a real path, here a live WAN, and over a relay that plays its trace."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from playing import SCENARIO, Client, Curve, drawn, live, pingpong, relayed
from study import Study

from longhaul.report.plotting import paper

ENDS = {"here": "vvgw", "there": "clustis"}
TIMES = 2
SECONDS, PROBED_S = 40, 60

Curves = Mapping[str, Sequence[Curve]]
"""Real and emulated, each as often as it was repeated."""


def study_precision(study: Study) -> None:
    """Measure, collect, emulate; judge and draw."""
    with live(study, SCENARIO, kind="eventspace", **ENDS) as client:
        real = [pingpong(client, SECONDS) for _ in range(TIMES)]
        path = collected(study, client)
    emulated = []
    for _ in range(TIMES):
        with relayed(study, path) as client:
            emulated.append(pingpong(client, SECONDS))
    every = {"real": real, "emulated": emulated}
    study.table(
        "figure4",
        [
            {
                "path": which,
                "run": number + 1,
                "bytes": size,
                "mean_ms": round(took * 1e3, 3),
                "median_ms": round(curve.middle[size] * 1e3, 3),
                "mbit_per_s": round(curve.megabits_per_s()[size], 4),
            }
            for which, curves in every.items()
            for number, curve in enumerate(curves)
            for size, took in curve.mean.items()
        ],
    )
    off = {
        size: fmean(curve.middle[size] for curve in emulated) / fmean(curve.middle[size] for curve in real)
        - 1
        for size in real[0].middle
    }
    study.say(
        "emulated against real, medians: " + ", ".join(f"{value:+.1%}" for value in off.values()) + " by size"
    )
    close = sum(abs(value) < 0.1 for value in off.values())
    study.claim(
        f"real and emulated are similar for most sizes (within 10 % at {close} of {len(off)})",
        close > len(off) / 2,
    )
    draw(study, every)


def collected(study: Study, client: Client) -> Path:
    """A scenario with the trace that EventSpace's benchmark finds; a way's delay is half of both."""
    samples = client("probe", "--origin", f"{time.monotonic()}", "--spans", f"0:{PROBED_S}")
    rows = [
        f"{at - samples[0][0]:.3f},{ends},{latency:.3f},{rate:.3f}"
        for at, latency, *rates in samples
        for ends, rate in zip(("near,far", "far,near"), rates, strict=True)
    ]
    latency, there, back = (fmean(sample[column] for sample in samples) for column in (1, 2, 3))
    study.say(
        f"EventSpace's benchmark made {len(samples)} samples in {PROBED_S} s: {latency:.2f} ms,"
        f" {there:.2f} and {back:.2f} Mbit/s (the link's means: 14.95 ms, 12.79 and 7.78)"
    )
    folder = study.directory / "runs"
    (folder / "collected.csv").write_text(
        "t_s,src,dst,rtt_ms,rate_mbit\n" + "\n".join(rows) + "\n", encoding="utf-8"
    )
    text = SCENARIO.read_text(encoding="utf-8").replace("name: path", "name: collected")
    measured = "{set: longcut, kind: $kind, from: $here, to: $there}"
    path = folder / "collected.yaml"
    path.write_text(text.replace(measured, "{trace: collected.csv, from: near, to: far}"), encoding="utf-8")
    return path


def draw(study: Study, every: Curves) -> None:
    """Latency and bandwidth, each run a line."""
    with paper():
        made, latency, _bandwidth = drawn(
            (
                curve,
                {"label": f"{which}, run {number + 1}", "linestyle": line, "marker": mark, "color": colour},
            )
            for (which, curves), line, colour in zip(every.items(), ("-", "--"), ("C0", "C1"), strict=True)
            for number, (curve, mark) in enumerate(zip(curves, "os", strict=True))
        )
        latency.legend(fontsize=8)
        study.figure(made, "figure4")
