"""What every study has: a place for its results, claims that hold or do not, figures, tables."""

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]


class Study:
    """A study's results in ``runs/studies/NAME``: figures, tables, ``claims.md``."""

    def __init__(self, name: str, question: str) -> None:
        self.name = name
        self.directory = ROOT / "runs" / "studies" / name
        self.directory.mkdir(parents=True, exist_ok=True)
        self.lines = [f"# {name}", "", question, ""]
        self.missed = 0
        print(question, flush=True)

    def say(self, text: str) -> None:
        """A figure or a condition that a reader needs."""
        print(f"  {text}", flush=True)
        self.lines.append(f"- {text}")

    def claim(self, text: str, holds: bool) -> None:
        """Something that the study set out to show."""
        self.missed += not holds
        self.say(f"{'holds' if holds else 'DOES NOT HOLD'}: {text}")

    def table(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write ``NAME.csv``."""
        every = list(rows)
        with (self.directory / f"{name}.csv").open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, fieldnames=list(every[0]))
            writer.writeheader()
            writer.writerows(every)

    def figure(self, made: Figure, name: str) -> None:
        """Write ``NAME.svg`` and ``NAME.png``."""
        made.patch.set_alpha(1)
        for suffix in ("svg", "png"):
            made.savefig(self.directory / f"{name}.{suffix}", dpi=140)

    def finish(self) -> None:
        """Write ``claims.md``; the exit code is 1 if a claim does not hold."""
        path = self.directory / "claims.md"
        path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        print(f"results: {self.directory}")
        sys.exit(1 if self.missed else 0)
