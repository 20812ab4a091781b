"""How fast one link of the model is on one core, and what a packet under way takes.

Runs the example ``throughput`` of ``crates/link`` and holds its figures against their targets.
"""

import re
import subprocess
from pathlib import Path
from statistics import median

from figures import Row, measure_all, row

ROOT = Path(__file__).parents[1]

TARGETS = {
    "loss, fifo, constant delay": 5.0,
    "normal jitter, codel": 3.0,
    "normal jitter, fq-codel, 64 flows": 3.0,
    "weibull jitter, order kept": 3.0,
}


def link(rounds: int) -> list[Row]:
    """Medians over runs of the example."""
    command = [
        "cargo",
        "run",
        "--locked",
        "--quiet",
        "--release",
        "-p",
        "longhaul-link",
        "--example",
        "throughput",
    ]
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for what, value, unit in re.findall(r"(.+?) {2,}([0-9.]+) (million packets/s|bytes)", out):
            found.setdefault((what, unit), []).append(float(value))
    rows = []
    for (what, unit), values in found.items():
        value, least = median(values), TARGETS.get(what)
        target = f"at least {least:g}" if least else ""
        short = "M pkt/s" if unit.startswith("million") else "B/packet"
        rows.append(row(what, value, short, target, least is None or value >= least))
    return rows


if __name__ == "__main__":
    measure_all(__doc__, {"link": link}, Path(__file__).parent / "link.json")
