"""What the page costs the browser that shows it: first load, first paint, frames, half an hour of 500 hosts.

``web/tests/browser/budget.ts`` and ``endurance.ts`` drive Chromium; the second takes half an hour, or
``MINUTES`` of the environment. Writes ``bench/page.json`` and prints a line for each figure.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from figures import ROOT, Row, measure_all, row

from longhaul.scenario.traces.statistics import percentile

MOST_GROWTH = 1.15
"""Of the median heap of the last third of the samples to that of the first."""


def measured(script: str, variable: str) -> dict[str, Any]:
    """What a script of the page found; it writes it into the file that an environment variable names."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = ["npm", "--prefix", "web", "run", "--silent", script]
        subprocess.run(command, cwd=ROOT, env={**os.environ, variable: str(out)}, check=True)
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def first_load(_rounds: int) -> list[Row]:
    """Of five fresh visits, and of a run of 501 links that is sampled ten times a second."""
    found = measured("budget", "BUDGET")
    visits, streaming = found["visits"], found["streaming"]
    load_kb = visits[0]["bytes"] / 1000
    paint_s = median(each["paint_s"] for each in visits)
    cores = streaming["cores"]
    both = cores["browser"] + cores["server"]
    rows = [
        row("first load", load_kb, "kB", "below 150", load_kb < 150),
        row("first paint", paint_s, "s", "at most 0.5", paint_s <= 0.5),
        row("page Edit is there", median(each["shown_s"] for each in visits), "s", "", True),
        row("live, 10 samples/s", streaming["links"], "links", "", True),
        row("  browser and server", both, "cores", "at most 0.5", both <= 0.5),
    ]
    frames_ms = sorted(streaming["frames_ms"])
    for share in (50, 99):
        frame_ms = percentile(frames_ms, share)
        name = f"  main thread for a frame, p{share}"
        rows.append(row(name, frame_ms, "ms", "at most 8", frame_ms <= 8))
    return rows


def live(_rounds: int) -> list[Row]:
    """Of one run."""
    found = measured("endurance", "ENDURANCE")
    samples, last = found["samples"], found["samples"][-1]
    heaps_mb = [each["heap_mb"] for each in samples]
    third = max(1, len(samples) // 3)
    cores = last["main_thread_s"] / last["t_s"]
    received_mb = last["received_mb"] / last["t_s"] * 300
    growth = median(heaps_mb[-third:]) / median(heaps_mb[:third])
    return [
        row(f"{found['hosts']} hosts, {found['minutes']} min live", found["links"], "links", "", True),
        row("  main thread", cores, "cores", "at most 0.3", cores <= 0.3),
        row("  received in 5 min", received_mb, "MB", "at most 2", received_mb <= 2),
        row("  heap", median(heaps_mb), "MB", "", True),
        row(
            "  heap at the end, of that at the beginning",
            growth,
            "",
            f"at most {MOST_GROWTH}",
            growth <= MOST_GROWTH,
        ),
    ]


if __name__ == "__main__":
    measure_all(
        __doc__ or "", {"first load": first_load, "live": live}, ROOT / "bench" / "page.json", rounds=1
    )
