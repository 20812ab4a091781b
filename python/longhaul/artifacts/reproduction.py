"""The repetition of an artifact, or of runs alone, and its results."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.artifacts import description
from longhaul.artifacts.description import Tolerance
from longhaul.artifacts.evaluation import Evaluation, Verdict, evaluate
from longhaul.artifacts.grouping import RunGroup, check_patterns, grouped
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
    paths: Sequence[Path], *, metrics: Sequence[str] = (), tolerances: Sequence[Tolerance] = ()
) -> Source:
    """An artifact's runs, or those in ``paths``. Raises LonghaulError for what cannot be repeated.

    ``metrics`` are compared instead of those of the artifact, ``tolerances`` are added to its.
    """
    if len(paths) == 1 and description.is_artifact(paths[0]):
        about = description.read(paths[0])
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
    set_up_s: float
    execution_s: float
    analysis_s: float
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
            "took_s": {
                "set_up": self.set_up_s,
                "execution": round(self.execution_s, 3),
                "analysis": round(self.analysis_s, 3),
            },
            "groups": [each.as_json() for each in self.evaluations],
        }


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
    return Reproduction(
        tuple(evaluations), set_up_s, execution_s, analysis_s, (found.longhaul, version("longhaul"))
    )


_VERDICTS: dict[Verdict, str] = {
    "identical": "identical, bit by bit",
    "within the tolerance": "within the tolerance",
    "different": "different",
}


def write(directory: Path, made: Reproduction) -> Path:
    """Write ``reproduction/README.md`` and ``results.json`` into an artifact; returns the page."""
    place = directory / "reproduction"
    if not place.is_dir():
        storage.make_directory(place)
    storage.replace_json(place / "results.json", made.as_json())
    storage.replace_text(place / "README.md", page(made))
    return place / "README.md"


def page(made: Reproduction) -> str:
    """The results as Markdown."""
    lines = ["# Reproduction", "", "Reproduced." if made.is_reproduced else "Not reproduced.", ""]
    lines += ["| configuration | verdict | execution, published | here |", "|---|---|---|---|"]
    lines += [
        f"| {each.group.name} | {_VERDICTS[each.verdict]} | {duration_text(each.group.took_s)} "
        f"| {duration_text(each.took_s)} |"
        for each in made.evaluations
    ]
    lines += [
        "",
        f"Set-up {duration_text(made.set_up_s)}, execution {duration_text(made.execution_s)}, "
        f"analysis {duration_text(made.analysis_s)}.",
        "",
        "| configuration | metric | published | repeated | tolerance | |",
        "|---|---|---|---|---|---|",
    ]
    for each in made.evaluations:
        for row in each.rows:
            again = "-" if row.repeated is None else estimate_text(row.repeated, row.unit)
            word = "within" if each.identical or row.is_within else "**beyond**"
            lines.append(
                f"| {each.group.name} | {row.metric} | {estimate_text(row.published, row.unit)} | {again} "
                f"| {share_text(row.tolerance)} | {word} |"
            )
        lines += [
            f"| {each.group.name} | outcome | {one} | {other} | | **beyond** |"
            for one, other in each.outcomes
        ]
    lines += [
        line
        for each in made.evaluations
        if each.divergence
        for line in ("", f"{each.group.name}: {each.divergence}.")
    ]
    return "\n".join(lines) + "\n"
