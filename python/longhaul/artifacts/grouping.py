"""Which runs belong together in an artifact, and what a repetition of them is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.artifacts import evaluation
from longhaul.artifacts.description import Group, Tolerance, defaults
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import comparison
from longhaul.results.run_files import kept_json
from longhaul.run import repetition
from longhaul.run.repetition import Recorded
from longhaul.scenario.model.metrics import DEFAULT_METRICS, unknown_metric


@dataclass(frozen=True)
class Runs:
    """Repetitions of one another, on disk."""

    group: Group
    recorded: tuple[Recorded, ...]


def grouped(
    paths: Sequence[Path], *, metrics: Sequence[str] = (), tolerances: Sequence[Tolerance] = ()
) -> list[Runs]:
    """The runs in ``paths`` in groups of repetitions, each run once, in the order of the paths.

    ``metrics`` are patterns instead of the default ones, ``tolerances`` are added to the default one. Raises
    LonghaulError if a path has no runs, if one cannot be repeated, and for a pattern that no run has.
    """
    found: list[comparison.Group] = []
    for path in paths:
        group = comparison.find(path.resolve() if path.is_symlink() else path)
        for run in group.runs:
            # Of a directory, all must be repeatable: what is left out silently is missed later.
            repetition.recorded(run)
        found += comparison.split(group)
    made = [_runs(group, metrics, tolerances) for group in found]
    _check_patterns(made, metrics, tolerances)
    return made


def _runs(group: comparison.Group, metrics: Sequence[str], tolerances: Sequence[Tolerance]) -> Runs:
    found = [repetition.recorded(run) for run in comparison.repetitions(group)]
    recorded = tuple(sorted(found, key=lambda each: (each.seed, each.directory.name)))
    first = recorded[0]
    patterns, tolerance = defaults(first.mode, DEFAULT_METRICS)
    parameters = ", ".join(f"{name}={value}" for name, value in first.settings.items())
    return Runs(
        Group(
            name=f"{first.name}{f', {parameters}' if parameters else ''}",
            mode=first.mode,
            runs=tuple(str(each.directory) for each in recorded),
            seeds=tuple(each.seed for each in recorded),
            command=first.command,
            metrics=tuple(metrics) or patterns,
            tolerances=(tolerance, *tolerances),
            took_s=sum(_took_s(each.directory) for each in recorded),
        ),
        recorded,
    )


def _check_patterns(made: Sequence[Runs], metrics: Sequence[str], tolerances: Sequence[Tolerance]) -> None:
    known = dict.fromkeys(
        name for runs in made for each in runs.recorded for name in evaluation.measured(["*"], each.directory)
    )
    for pattern in (*metrics, *(each.pattern for each in tolerances)):
        wrong = unknown_metric(pattern, known)
        if wrong:
            raise LonghaulError(Code.RUNS_NOT_COMPARABLE, wrong[0], remedy=wrong[1], exit_code=2)


def _took_s(run: Path) -> float:
    """Execution of a run: real time."""
    summary: dict[str, Any] = kept_json(run, "summary.json")
    for clock in ("simulation", "virtual_clock"):
        if summary.get(clock):
            return float(summary[clock]["wall_s"])
    return float(summary["duration_ns"] or 0) / 1e9
