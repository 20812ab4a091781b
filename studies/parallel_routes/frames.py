"""Figure 6: how long eight frames take that leave a 10 GbE port together, over N routes of 1 Gbit/s."""

import csv
from pathlib import Path

import longhaul
from longhaul.studies import Study, between, exact

FRAMES = 8
SCENARIO = Path(__file__).parent / "frames.yaml"
EXPECTED = {("flow-hash", 8): 80, ("round-robin", 2): 41, ("round-robin", 4): 23, ("round-robin", 8): 17}
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
