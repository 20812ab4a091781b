"""Which runs belong together in an artifact, and what a repetition of them is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.artifacts.description import Group, Tolerance, defaults
from longhaul.artifacts.run_artifacts import evaluation
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import comparison
from longhaul.results.run_files import kept_json
from longhaul.run import rerun
from longhaul.run.rerun import Recorded
from longhaul.scenario.model.metrics import DEFAULT_METRICS, unknown_metric


@dataclass(frozen=True)
class RunGroup:
    """Runs on disk that are repetitions of one another, in the order of their seeds."""

    published: Group
    """As an artifact describes them; its runs are those of the disk."""
    runs: tuple[Recorded, ...]


def grouped(
    paths: Sequence[Path], *, metrics: Sequence[str] = (), tolerances: Sequence[Tolerance] = ()
) -> list[RunGroup]:
    """The runs in ``paths`` in groups of repetitions, each run once, in the order of the paths.

    ``metrics`` are patterns instead of the default ones, ``tolerances`` are added to the default one. Raises
    LonghaulError if a path has no runs, if a run cannot be repeated, and for a pattern that no run has.
    """
    seen: set[Path] = set()
    made = []
    for path in paths:
        found = comparison.find(path.resolve() if path.is_symlink() else path)
        new = tuple(run for run in found.runs if run.resolve() not in seen)
        seen.update(run.resolve() for run in new)
        for run in new:
            # All of a directory must be repeatable: a run that is left out silently is missed later.
            rerun.recorded(run)
        made += [
            _group(each, metrics, tolerances) for each in comparison.split(comparison.Group(found.name, new))
        ]
    check_patterns(made, metrics, tolerances)
    return made


def _group(group: comparison.Group, metrics: Sequence[str], tolerances: Sequence[Tolerance]) -> RunGroup:
    found = [rerun.recorded(run) for run in comparison.repetitions(group)]
    runs = tuple(sorted(found, key=lambda each: (each.seed, each.directory.name)))
    first = runs[0]
    patterns, tolerance = defaults(first.mode, DEFAULT_METRICS)
    parameters = ", ".join(f"{name}={value}" for name, value in first.settings.items())
    published = Group(
        name=f"{first.name}{f', {parameters}' if parameters else ''}",
        mode=first.mode,
        runs=tuple(str(each.directory) for each in runs),
        seeds=tuple(each.seed for each in runs),
        command=first.command,
        metrics=tuple(metrics) or patterns,
        tolerances=(tolerance, *tolerances),
        took_s=sum(_took_s(each.directory) for each in runs),
    )
    return RunGroup(published, runs)


def check_patterns(made: Sequence[RunGroup], metrics: Sequence[str], tolerances: Sequence[Tolerance]) -> None:
    """Raise LonghaulError for a pattern that matches no metric of any run."""
    known = dict.fromkeys(
        name for group in made for each in group.runs for name in evaluation.measured(["*"], each.directory)
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
