"""The page of an artifact of runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.artifacts.bundle import Archive
from longhaul.artifacts.description import Group, RunsDescription
from longhaul.artifacts.page import needs, page
from longhaul.artifacts.run_artifacts import evaluation
from longhaul.artifacts.run_artifacts.grouping import RunGroup
from longhaul.report.comparison import estimate_text
from longhaul.results.run_files import kept_json
from longhaul.run.rerun import Mode
from longhaul.units.text import quantity_text, share_text

Json = dict[str, Any]

CLOCKS: Mapping[Mode, str] = {
    "sim": "simulated",
    "live": "real",
    "mixed": "real, with simulated traffic",
    "virtual": "virtual",
}


def readme(
    about: RunsDescription, groups: Sequence[RunGroup], *, placed: Mapping[Path, str], archive: Archive
) -> str:
    """``README.md``; ``placed`` has the place in the artifact of each run directory."""
    every = [each for group in groups for each in group.runs]
    return page(
        "run_artifacts/README.md.j2",
        about,
        archive,
        runs=every,
        claims=[claim for each in every for claim in _claims(each.directory, placed[each.directory])],
        compared=[
            (group.published.name, _compared(group.published, [each.directory for each in group.runs]))
            for group in groups
        ],
        kinds={group.mode for group in about.groups},
        modes=list(dict.fromkeys(CLOCKS[group.mode] for group in about.groups)),
        clocks=CLOCKS,
        kernels=sorted({each.kernel for each in every if each.kernel}),
        machine=", ".join(str(about.machine[key]) for key in ("cpu_model", "kernel")),
        needs=needs(group.mode for group in about.groups),
        metrics=list(dict.fromkeys(f"`{each}`" for group in about.groups for each in group.metrics)),
        place=_place,
    )


def _place(group: Group) -> str:
    """The directory of the group's runs."""
    return str(Path(group.runs[0]).parent)


def _compared(group: Group, runs: Sequence[Path]) -> list[tuple[str, str, str]]:
    return [
        (metric, estimate_text(published, unit), share_text(tolerance))
        for metric, unit, published, tolerance in evaluation.compared(group, runs)
    ]


def _claims(run: Path, place: str) -> list[Json]:
    """The expectations that were evaluated, in words."""
    return [
        {
            "text": _expected(each),
            "value": "-" if each["value"] is None else quantity_text(each["value"], each["unit"]),
            "met": each["met"],
            "run": place,
        }
        for each in kept_json(run, "summary.json")["expectations"]
    ]


def _expected(expectation: Mapping[str, Any]) -> str:
    words = {"equals": "is", "min": "is at least", "max": "is at most"}
    bounds = [
        f"{word} {quantity_text(expectation[key], expectation['unit'])}"
        for key, word in words.items()
        if expectation.get(key) is not None
    ]
    return f"{expectation['metric']} {' and '.join(bounds)}"
