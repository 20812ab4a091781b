"""The page of an artifact that a reviewer reads first."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from longhaul.artifacts import evaluation
from longhaul.artifacts.description import Description, Group
from longhaul.artifacts.grouping import RunGroup
from longhaul.report.comparison import estimate_text
from longhaul.results.run_files import kept_json
from longhaul.run.rerun import Mode
from longhaul.units.text import bytes_text, duration_text, quantity_text, share_text

Json = dict[str, Any]

CLOCKS: Mapping[Mode, str] = {
    "sim": "simulated",
    "live": "real",
    "mixed": "real, with simulated traffic",
    "virtual": "virtual",
}


def readme(
    about: Description,
    groups: Sequence[RunGroup],
    *,
    placed: Mapping[Path, str],
    wheels: Sequence[str],
    size_bytes: int,
) -> str:
    """``README.md``; ``placed`` has the place in the artifact of each run directory."""
    environment = Environment(
        loader=PackageLoader("longhaul.artifacts", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown, not HTML
    )
    every = [each for group in groups for each in group.runs]
    text = environment.get_template("README.md.j2").render(
        about=about,
        runs=every,
        claims=[claim for each in every for claim in _claims(each.directory, placed[each.directory])],
        compared=[
            (group.published.name, _compared(group.published, [each.directory for each in group.runs]))
            for group in groups
        ],
        wheels=wheels,
        size=bytes_text(size_bytes),
        kinds={group.mode for group in about.groups},
        modes=list(dict.fromkeys(CLOCKS[group.mode] for group in about.groups)),
        clocks=CLOCKS,
        kernels=sorted({each.kernel for each in every if each.kernel}),
        machine=", ".join(str(about.machine[key]) for key in ("cpu_model", "kernel")),
        needs=_needs(about),
        metrics=list(dict.fromkeys(f"`{each}`" for group in about.groups for each in group.metrics)),
        took=duration_text,
        place=_place,
        count=lambda what, number: f"{number} {what}{'' if number == 1 else 's'}",
    )
    return text.replace("\n\n\n", "\n\n")


def _place(group: Group) -> str:
    """The directory of the group's runs."""
    return str(Path(group.runs[0]).parent)


def _compared(group: Group, runs: Sequence[Path]) -> list[tuple[str, str, str]]:
    return [
        (_cell(metric), estimate_text(published, unit), share_text(tolerance))
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
    return _cell(f"{expectation['metric']} {' and '.join(bounds)}")


def _needs(about: Description) -> list[str]:
    modes = {group.mode for group in about.groups}
    needs = []
    if modes & {"live", "mixed"}:
        needs.append("network namespaces and TUN devices (`longhaul doctor`)")
    if "virtual" in modes:
        needs.append("a guest kernel (`longhaul kernel build`)")
    return needs


def _cell(text: str) -> str:
    """Text that ends no cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")
