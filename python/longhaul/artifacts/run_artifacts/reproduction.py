"""The repetition of an artifact of runs, or of runs alone, and its results."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul.artifacts.description import RunsDescription, Tolerance
from longhaul.artifacts.reproduction import Times
from longhaul.artifacts.run_artifacts.evaluation import Evaluation, Verdict, evaluate
from longhaul.artifacts.run_artifacts.grouping import RunGroup, check_patterns, grouped
from longhaul.report.comparison import estimate_text
from longhaul.results import directory as directories
from longhaul.run import rerun
from longhaul.run.rerun import Progress, Recorded
from longhaul.units.text import duration_text, share_text


@dataclass(frozen=True)
class Source:
    """What is repeated."""

    groups: tuple[RunGroup, ...]
    longhaul: str | None
    """The version that made all of them, if it is one."""

    @property
    def count(self) -> int:
        """How many runs there are."""
        return sum(len(group.runs) for group in self.groups)

    @property
    def took_s(self) -> float:
        """Execution of all, when they were made."""
        return sum(group.published.took_s for group in self.groups)


def source(
    paths: Sequence[Path],
    about: RunsDescription | None,
    *,
    metrics: Sequence[str] = (),
    tolerances: Sequence[Tolerance] = (),
) -> Source:
    """An artifact's runs, or those in ``paths``. Raises LonghaulError for what cannot be repeated.

    ``about``: of the artifact in ``paths``, if it is one. ``metrics`` are compared instead of those of the
    artifact, ``tolerances`` are added to its.
    """
    if about is not None:
        groups = []
        for each in about.groups:
            changed = {
                "metrics": tuple(metrics) or each.metrics,
                "tolerances": (*each.tolerances, *tolerances),
            }
            runs = tuple(rerun.recorded(paths[0] / run) for run in each.runs)
            groups.append(RunGroup(each.model_copy(update=changed), runs))
        check_patterns(groups, metrics, tolerances)
        return Source(tuple(groups), about.longhaul)
    found = grouped(paths, metrics=metrics, tolerances=tolerances)
    records = [directories.read_run(run.directory) for group in found for run in group.runs]
    versions = {str(record["versions"]["longhaul"]) for record in records}
    return Source(tuple(found), versions.pop() if len(versions) == 1 else None)


@dataclass(frozen=True)
class Reproduction:
    """What came out."""

    evaluations: tuple[Evaluation, ...]
    times: Times
    longhaul: tuple[str | None, str]
    """The version that made the runs, and this one."""

    @property
    def is_reproduced(self) -> bool:
        """Whether everything is identical, or within its tolerance."""
        return all(each.verdict != "different" for each in self.evaluations)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        published, here = self.longhaul
        return {
            "reproduced": self.is_reproduced,
            "longhaul": {"published": published, "here": here},
            "machine": directories.machine(),
            "took_s": self.times.as_json(),
            "groups": [each.as_json() for each in self.evaluations],
        }

    def page(self) -> str:
        """The results as Markdown."""
        lines = ["# Reproduction", "", "Reproduced." if self.is_reproduced else "Not reproduced.", ""]
        lines += ["| configuration | verdict | execution, published | here |", "|---|---|---|---|"]
        lines += [
            f"| {each.group.name} | {_VERDICTS[each.verdict]} | {duration_text(each.group.took_s)} "
            f"| {duration_text(each.took_s)} |"
            for each in self.evaluations
        ]
        lines += [
            "",
            self.times.sentence(),
            "",
            "| configuration | metric | published | repeated | tolerance | |",
            "|---|---|---|---|---|---|",
        ]
        for each in self.evaluations:
            for row in each.rows:
                again = "-" if row.repeated is None else estimate_text(row.repeated, row.unit)
                word = "within" if each.identical or row.is_within else "**beyond**"
                published = estimate_text(row.published, row.unit)
                lines.append(
                    f"| {each.group.name} | {row.metric} | {published} | {again} "
                    f"| {share_text(row.tolerance)} | {word} |"
                )
            lines += [
                f"| {each.group.name} | outcome | {one} | {other} | | **beyond** |"
                for one, other in each.outcomes
            ]
        for each in self.evaluations:
            if each.divergence:
                lines += ["", f"{each.group.name}: {each.divergence}."]
        return "\n".join(lines) + "\n"


def reproduce(
    found: Source,
    *,
    runs: Path,
    set_up_s: float = 0.0,
    progress: Progress = rerun.SILENT,
    begins: Callable[[Recorded], None] = lambda _run: None,
) -> Reproduction:
    """Repeat all runs, one after another, in ``runs``, and compare them with the published ones.

    ``begins`` is called before each. Raises LonghaulError.
    """
    evaluations = []
    execution_s = analysis_s = 0.0
    for group in found.groups:
        repeated, took_s = [], 0.0
        for run in group.runs:
            begins(run)
            made = rerun.rerun(run, runs=runs, progress=progress)
            repeated.append(made.directory)
            took_s += made.execution_s
            analysis_s += made.analysis_s
        began = time.monotonic()
        before = [run.directory for run in group.runs]
        evaluations.append(evaluate(group.published, before, repeated, took_s=took_s))
        execution_s += took_s
        analysis_s += time.monotonic() - began
    times = Times(set_up_s, execution_s, analysis_s)
    return Reproduction(tuple(evaluations), times, (found.longhaul, version("longhaul")))


_VERDICTS: dict[Verdict, str] = {
    "identical": "identical, bit by bit",
    "within the tolerance": "within the tolerance",
    "different": "different",
}
