"""One trace of known steps is played live, simulated and through a relay, and should be one curve."""

import csv
import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from statistics import fmean

from playing import Client, live, relayed

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, exact, near
from longhaul.studies import measured as over
from longhaul.studies.drawing import colour, draw_measured, legend_below

SCENARIO = Path(__file__).parent / "steps.yaml"
STEP_S = 6.0
SIZES = (8, 4096, 16_384, 65_536)
MARGIN_S = 0.6
CLAIMS = {"live": "played-live", "relay": "played-by-relay"}

Curves = Mapping[tuple[int, int], float]
"""Half round trips in ms, by step and size."""


def expected() -> dict[tuple[int, int], float]:
    """Mean of both ways: half of the two-way latency, and the bits at the rate."""
    with SCENARIO.with_suffix(".csv").open(encoding="utf-8") as source:
        rows = list(csv.DictReader(line for line in source if not line.startswith("#")))
    found: dict[tuple[int, int], float] = {}
    for row, size in product(rows, SIZES):
        key = (int(float(row["t_s"]) / STEP_S), size)
        one_way = float(row["rtt_ms"]) / 2 + size * 8e-3 / float(row["rate_mbit"])
        found[key] = found.get(key, 0.0) + one_way / 2
    return found


def measured(client: Client) -> dict[tuple[int, int], float]:
    """The quickest of a dozen round trips of each size in each step: others on the cores only add."""
    steps = range(3)
    spans = [f"{step * STEP_S + MARGIN_S}:{(step + 1) * STEP_S - 2 * MARGIN_S}" for step in steps]
    samples = client("pingpong", "--sizes", ",".join(map(str, SIZES)), "--spans", ",".join(spans))
    found: dict[tuple[int, int], list[float]] = {}
    for at, size, took in samples:
        found.setdefault((int(at / STEP_S), size), []).append(took * 500)
    return {key: min(times) for key, times in found.items()}


def simulated(study: Study) -> dict[tuple[int, int], float]:
    """The same in a simulation: what two round trips more take, so that connecting is not in it."""
    once, thrice = (_simulated(study, repeat) for repeat in (1, 3))
    return {key: (thrice[key] - once[key]) / 4 for key in once}


def _simulated(study: Study, repeat: int) -> dict[tuple[int, int], float]:
    """In ms, a program for each step and size."""
    folder = study.runs
    lines = []
    for step, (place, size) in product(range(3), enumerate(SIZES)):
        start = step * STEP_S + MARGIN_S + place
        work = f"{{kind: ping-pong, bytes: {size}B, repeat: {repeat}}}"
        lines.append(f"  p{step}-{size}: {{simulate: {work}, start: {start}s, hosts: [a, b]}}")
    path = folder / "simulated-steps.yaml"
    shutil.copy(SCENARIO.with_suffix(".csv"), folder)
    path.write_text(
        SCENARIO.read_text(encoding="utf-8") + "\nprograms:\n" + "\n".join(lines) + "\n", encoding="utf-8"
    )
    programs = longhaul.run_sim(path, runs=folder).summary["programs"]
    return {
        (step, size): next(each["wall_ns"] for each in programs if each["name"] == f"p{step}-{size}") * 1e-6
        for step, size in product(range(3), SIZES)
    }


def study_agreement(study: Study, *, rounds: int) -> None:
    """Play in every round, and compare."""
    wanted = expected()
    found: dict[str, list[Curves]] = {"live": [], "relay": []}
    for number in range(rounds):
        for how, curves in found.items():
            curve = study.measured(f"agreement/{how}/{number}", lambda how=how: _played(study, how))
            if curve:
                curves.append(dict(zip(wanted, curve, strict=True)))
    model = simulated(study)
    for how, curves in found.items():
        study.evaluate(
            CLAIMS[how],
            [
                near(
                    f"{size} bytes in step {step + 1}",
                    over([curve[step, size] / value for curve in curves]),
                    1,
                    study.numbers(CLAIMS[how])["within"],
                )
                for (step, size), value in wanted.items()
            ],
        )
    study.evaluate(
        "simulated-trace",
        [
            near(
                f"{size} bytes in step {step + 1}",
                exact(model[step, size] / value),
                1,
                study.numbers("simulated-trace")["within"],
            )
            for (step, size), value in wanted.items()
        ],
    )
    means = {
        how: {key: fmean(curve[key] for curve in curves) for key in wanted} for how, curves in found.items()
    }
    study.table(
        "agreement",
        [
            {"step": step, "bytes": size, "expected_ms": round(value, 3)}
            | {f"{how}_ms": round(curve[step, size], 3) for how, curve in means.items()}
            | {"simulated_ms": round(model[step, size], 3)}
            for (step, size), value in wanted.items()
        ],
    )
    study.table(
        "agreement-rounds",
        [
            {"how": how, "round": number, "step": step, "bytes": size, "ms": round(curve[step, size], 3)}
            for how, curves in found.items()
            for number, curve in enumerate(curves)
            for step, size in wanted
        ],
    )


def _played(study: Study, how: str) -> list[float]:
    """The curve in the order of what is expected."""
    with live(study, SCENARIO) if how == "live" else relayed(study, SCENARIO) as client:
        curve = measured(client)
    return [curve[key] for key in expected()]


def draw(figures: Figures) -> None:
    """A panel for each step; where there are rounds, with their intervals."""
    rows, rounds = figures.rows("agreement"), figures.rows("agreement-rounds")
    steps = sorted({row["step"] for row in rows})
    with paper():
        made = figure(3.6, width_in=9)
        for step, axes in zip(steps, made.subplots(1, len(steps), sharey=True), strict=True):
            mine = [row for row in rows if row["step"] == step]
            sizes = [row["bytes"] for row in mine]
            axes.plot(sizes, [row["expected_ms"] for row in mine], color="0.4", label="arithmetic")
            for number, how in enumerate(("live", "relay", "simulated")):
                found = []
                for row in mine:
                    key = how, step, row["bytes"]
                    every = [
                        each["ms"] for each in rounds if (each["how"], each["step"], each["bytes"]) == key
                    ]
                    found.append(over(every or [row[f"{how}_ms"]]))
                style = {"marker": "ox^"[number], "line": "", "color": colour(number), "markersize": 7}
                style |= {"fillstyle": "none"}
                draw_measured(axes, sizes, found, label=how, **style)
            axes.set(xscale="log", yscale="log", xlabel="bytes", title=f"step {step + 1} of the trace")
        made.axes[0].set_ylabel("half a round trip [ms]")
        legend_below(made)
        figures.add(made, "agreement", data=["agreement", "agreement-rounds"] if rounds else ["agreement"])
