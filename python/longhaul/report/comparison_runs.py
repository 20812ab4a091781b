"""The runs of a comparison, read from their directories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np

from longhaul.analysis.changes import verdict_text
from longhaul.analysis.comparison import Simulated, digest, independent, simulated
from longhaul.analysis.differences import Facts, facts
from longhaul.analysis.metrics import metrics
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.report.colours import SIDES
from longhaul.results.comparison import Group, side_names
from longhaul.results.run_files import kept_json, kept_table, kept_text, reading

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

MOST = len(SIDES)
"""Sides that have colours of their own."""


_MODES = {"sim": "simulated"}


class Run:
    """A run directory that has results; each file is read when it is asked for.

    Raises LonghaulError where one is missing or damaged.
    """

    def __init__(self, directory: Path) -> None:
        """Nothing is read yet."""
        self.directory = directory

    @cached_property
    def summary(self) -> Json:
        """``summary.json``."""
        found: Json = kept_json(self.directory, "summary.json")
        return found

    @cached_property
    def plan(self) -> Plan:
        """``plan.json``."""
        found: Plan = kept_json(self.directory, "plan.json")
        return found

    @cached_property
    def about(self) -> Json:
        """``run.json``: machine, versions, seed, command."""
        found: Json = kept_json(self.directory, "run.json")
        return found

    @cached_property
    def metrics(self) -> Mapping[str, Any]:
        """Every metric by its name."""
        return metrics(self.summary)

    @cached_property
    def lateness(self) -> Json | None:
        """The distribution of lateness with its points; ``None`` for a simulation."""
        engine = kept_json(self.directory, "fidelity.json").get("engine") or {}
        found: Json | None = engine.get("lateness", {}).get("all")
        return found if found and found.get("cdf") else None

    @property
    def scenario(self) -> str:
        """``scenario.yaml``."""
        return kept_text(self.directory, "scenario.yaml")

    @cached_property
    def facts(self) -> Facts:
        """What was asked of it."""
        rows: Sequence[Json] = kept_json(self.directory, "raw/traffic.json")
        streams = {flow["flow"]: len(flow.get("stream_rates") or ()) for flow in self.summary["flows"]}
        told = [
            {**row, "streams": streams[row["program"]]} if streams.get(row["program"]) else row
            for row in rows
        ]
        of_traffic = {row[key] for row in rows for key in ("program", "server")}
        own = [each for each in self.summary["programs"] if each["name"] not in of_traffic]
        return facts(self.plan, told, programs=own)

    def table(self, name: str) -> dict[str, Array]:
        """A table's columns; empty if there is none."""
        return kept_table(self.directory, name)

    @property
    def mode(self) -> str:
        """``live``, ``sim`` or ``mixed``."""
        return str(self.about.get("mode") or "live")

    @property
    def verdict(self) -> str:
        """``faithful``, ``degraded`` or ``invalid``."""
        return str(self.summary["fidelity"]["verdict"])

    @property
    def verdict_text(self) -> str:
        """``faithful, with 2 interventions``, or ``simulated``."""
        return verdict_text(self.summary)

    @property
    def simulated(self) -> Simulated | None:
        """Seed and digest of a run that can be repeated; ``None`` on the real clock."""
        return simulated(self.about, self.summary)

    @property
    def digest(self) -> str | None:
        """That of results that equal runs repeat; ``None`` on the real clock."""
        return digest(self.summary)

    @property
    def command(self) -> str:
        """What made it, with the program's name alone."""
        argv = [str(each) for each in self.about.get("argv", ())]
        return " ".join([Path(argv[0]).name, *argv[1:]]) if argv else ""


@dataclass(frozen=True)
class Side:
    """Runs that are repetitions of one another."""

    letter: str
    name: str
    runs: tuple[Run, ...]
    copies: int = 0
    """Simulations that were left out, as they are ones of ``runs`` made again."""
    differs: str = ""
    """``cc=reno``: what it has that others have not."""

    @property
    def label(self) -> str:
        """Its letter, and in what it differs; if that is not known, its name."""
        return f"{self.letter} {self.differs or self.name}".strip()

    @property
    def colour(self) -> str:
        """Of everything that is drawn of it."""
        return SIDES[ascii_uppercase.index(self.letter)]

    @property
    def modes(self) -> str:
        """``live``, or ``live and simulated`` if they are not alike."""
        return " and ".join(sorted({_MODES.get(run.mode, run.mode) for run in self.runs}))


def sides_of(groups: Sequence[Group]) -> list[Side]:
    """A side for each group, with what distinguishes it. Raises LonghaulError if there are too many."""
    differs = side_names([group.runs for group in groups])
    return sides([(group.name, group.runs) for group in groups], differs=differs)


def sides(groups: Sequence[tuple[str, Sequence[Path]]], *, differs: Sequence[str] = ()) -> list[Side]:
    """A side for each name and its run directories, and in what each differs.

    Raises LonghaulError if there are too many.
    """
    if len(groups) > MOST:
        raise LonghaulError(
            Code.RUNS_NOT_COMPARABLE,
            f"{len(groups)} groups of runs are too many for one report: {MOST} have colours of their own",
            remedy="compare fewer, or name directories whose runs are repetitions",
            exit_code=2,
        )
    with reading(*(path for _name, paths in groups for path in paths)):
        return [
            _side(ascii_uppercase[place], name, paths, differs[place] if differs else "")
            for place, (name, paths) in enumerate(groups)
        ]


def _side(letter: str, name: str, paths: Sequence[Path], differs: str) -> Side:
    every = [Run(path) for path in paths]
    kept = independent([run.simulated for run in every])
    runs = tuple(every[place] for place in kept)
    return Side(letter, name, runs, copies=len(every) - len(kept), differs=differs)
