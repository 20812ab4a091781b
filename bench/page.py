"""What a live run of 500 hosts costs the browser that shows it: processor time, bytes and memory.

``web/tests/browser/endurance.ts`` drives Chromium for half an hour, or for ``MINUTES`` of the environment.
Writes ``bench/page.json`` and prints one line for each figure with its target.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from figures import ROOT, Row, measure_all, row

MOST_GROWTH = 1.15
"""Of the median heap of the last third of the samples to that of the first."""


def live(_rounds: int) -> list[Row]:
    """Of one run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "endurance.json"
        command = ["npm", "--prefix", "web", "run", "--silent", "endurance"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, "ENDURANCE": str(out)}, check=True)
        found = json.loads(out.read_text(encoding="utf-8"))
    samples, last = found["samples"], found["samples"][-1]
    heaps_mb = [each["heap_mb"] for each in samples]
    third = max(1, len(samples) // 3)
    cores = last["main_thread_s"] / last["t_s"]
    received_mb = last["received_mb"] / last["t_s"] * 300
    growth = median(heaps_mb[-third:]) / median(heaps_mb[:third])
    paint_s = found["first_paint_s"]
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
        row("  first paint", paint_s, "s", "at most 0.5", paint_s <= 0.5),
    ]


if __name__ == "__main__":
    measure_all(__doc__ or "", {"live": live}, ROOT / "bench" / "page.json", rounds=1)
