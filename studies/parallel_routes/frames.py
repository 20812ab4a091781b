"""Figure 6: how long eight frames take that leave a 10 GbE port together, over N routes of 1 Gbit/s."""

import csv
from pathlib import Path

import longhaul
from longhaul.report.plotting import figure, paper
from longhaul.studies import Figures, Study, StudyFolder, between, exact
from longhaul.studies.drawing import colour, draw_paper, legend_below

FRAMES = 8
SCENARIO = Path(__file__).parent / "frames.yaml"
_STATED = StudyFolder(Path(__file__).parent).claims.numbers("eight-frames")
EXPECTED = {
    ("flow-hash", 8): _STATED["flow_t"],
    ("round-robin", 2): 41,
    ("round-robin", 4): 23,
    ("round-robin", 8): _STATED["turn_t"],
}
"""In times of a frame on 10 GbE, since the switch has the first frame: (N - 1) + 10 F/N for round robin."""


def fate_times(policy: str, routes: int, runs: Path) -> list[tuple[int, int]]:
    """When each frame came to the switch and when it had left over its route, in ns."""
    text = SCENARIO.read_text(encoding="utf-8")
    path = runs / f"frames-{policy}-{routes}.yaml"
    path.write_text(
        text.replace("policy: round-robin, count: 8", f"policy: {policy}, count: {routes}"), encoding="utf-8"
    )
    result = longhaul.run_sim(path, runs=runs, report=False)
    with (result.directory / "raw" / "packets.csv").open(encoding="ascii") as rows:
        return [
            (int(row["offered_ns"]), int(row["due_ns"]))
            for row in csv.DictReader(rows)
            if row["way"] == "forward"
        ]


def study_frames(study: Study) -> None:
    """Evaluate the paper's 17T and 80T, and the values between."""
    rows = []
    for (policy, routes), expected in EXPECTED.items():
        times = fate_times(policy, routes, study.runs)
        first = times[0][0]
        frame_ns = (times[-1][0] - first) / (FRAMES - 1)
        took = (max(due for _offered, due in times) - first) / frame_ns
        rows.append({"policy": policy, "routes": routes, "took_T": round(took, 3), "expected_T": expected})
    study.table("frames", rows)
    within = study.numbers("eight-frames")["within"]
    study.evaluate(
        "eight-frames",
        [
            between(
                f"{row['policy']} over {row['routes']}",
                exact(float(row["took_T"])),
                row["expected_T"] - within,
                row["expected_T"] + within,
                "T",
            )
            for row in rows
        ],
    )


def draw(figures: Figures) -> None:
    """Figure 6: the time of eight frames."""
    rows = figures.rows("frames")
    names = {"flow-hash": "flow-based", "round-robin": "round robin"}
    labels = [f"{names[row['policy']]} over {row['routes']}" for row in rows]
    with paper():
        made = figure(2.6, width_in=7)
        axes = made.subplots()
        places = range(len(rows))[::-1]
        axes.barh(places, [row["took_T"] for row in rows], height=0.6, color=colour(0), label="simulated")
        for place, row in zip(places, rows, strict=True):
            axes.text(row["took_T"] + 1.6, place, f"{row['took_T']:g} T", va="center")
        at = dict(zip(labels, places, strict=True))
        for policy in names.values():
            values = figures.paper.values("6", policy)
            where = {value.x: at[f"{policy} over {value.x}"] for value in values}
            draw_paper(axes, values, places=where, across=True)
        axes.set_yticks(places, labels)
        axes.set(xlabel="time of eight frames [T, the time of one on 10 GbE]", xlim=(0, 90))
        axes.set_title("figure 6")
        axes.grid(axis="y", visible=False)
        axes.set_axisbelow(True)
        legend_below(made)
        figures.add(made, "figure-6", data=["frames"])
