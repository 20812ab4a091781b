"""A study measured again from its artifact, and its verdicts compared with the published ones."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Literal

from longhaul import storage
from longhaul.artifacts import checksums
from longhaul.artifacts.description import StudyDescription
from longhaul.artifacts.page import cell
from longhaul.artifacts.reproduction import FOLDER, Times
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import directory as directories
from longhaul.studies import program
from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.evaluation import EvaluatedClaim
from longhaul.units.text import duration_text

Comparison = Literal["identical", "same verdict", "different", "not measured"]


@dataclass(frozen=True)
class Row:
    """One claim, published and measured again."""

    published: EvaluatedClaim
    repeated: EvaluatedClaim

    @property
    def comparison(self) -> Comparison:
        """Identical: the same was found under every condition. Not measured: its part failed here."""
        if self.repeated.word == "not measured":
            return "not measured"
        if self.published.word != self.repeated.word:
            return "different"
        return "identical" if self.published.cases == self.repeated.cases else "same verdict"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "id": self.published.claim.id,
            "part": self.published.claim.part,
            "text": self.published.claim.text,
            "rule": self.published.claim.rule,
            "comparison": self.comparison,
            **{
                name: {"verdict": each.word, "cases": [vars(case) for case in each.cases]}
                for name, each in (("published", self.published), ("repeated", self.repeated))
            },
        }


@dataclass(frozen=True)
class StudyReproduction:
    """What came out."""

    parts: tuple[str, ...]
    rows: tuple[Row, ...]
    is_small: bool
    """Whether it had a small size, at which verdicts do not count."""
    times: Times
    published_s: float
    """Execution and analysis of the same parts, when they were published."""
    longhaul: tuple[str | None, str]
    """The version that wrote the artifact, and this one."""

    @property
    def is_reproduced(self) -> bool:
        """Whether every claim has the published verdict; at a small size, whether every claim has one."""
        if self.is_small:
            return all(row.comparison != "not measured" for row in self.rows)
        return all(row.comparison in ("identical", "same verdict") for row in self.rows)

    @property
    def differing(self) -> tuple[Row, ...]:
        """The claims with another verdict, or with none."""
        return tuple(row for row in self.rows if row.comparison in ("different", "not measured"))

    def outcome(self) -> str:
        """All in a sentence."""
        if self.is_small:
            return (
                "every claim was evaluated; verdicts of a small size do not count"
                if self.is_reproduced
                else "not everything could be measured"
            )
        if self.is_reproduced:
            return "reproduced"
        return f"not reproduced: {', '.join(row.published.claim.id for row in self.differing)}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        published, here = self.longhaul
        return {
            "reproduced": None if self.is_small else self.is_reproduced,
            "small": self.is_small,
            "parts": list(self.parts),
            "longhaul": {"published": published, "here": here},
            "machine": directories.machine(),
            "took_s": {**self.times.as_json(), "published": self.published_s},
            "claims": [row.as_json() for row in self.rows],
        }

    def page(self) -> str:
        """The results as Markdown."""
        outcome = self.outcome()
        lines = ["# Reproduction", "", f"{outcome[0].upper()}{outcome[1:]}.", ""]
        lines += [
            f"Parts: {', '.join(self.parts)}. {self.times.sentence()} Published execution: "
            f"{duration_text(self.published_s)}.",
            "",
            "| claim | part | published | here | found, published | found here | |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in self.rows:
            one, other = row.published, row.repeated
            word = f"**{row.comparison}**" if row in self.differing else row.comparison
            found = [cell(each.found()) or "-" for each in (one, other)]
            lines.append(
                f"| {one.claim.id}: {cell(one.claim.text)} | {one.claim.part} | {cell(one.verdict)} "
                f"| {cell(other.verdict)} | {found[0]} | {found[1]} | {word} |"
            )
        return "\n".join(lines) + "\n"


def chosen_parts(directory: Path, about: StudyDescription, only: Sequence[str]) -> tuple[str, ...]:
    """The parts with published results that ``only`` names, by their names or kinds; all without a name.

    Raises LonghaulError for a name that no such part has.
    """
    study = StudyFolder(directory / about.folder)
    measured = [each.name for each in about.measured]
    for name in only:
        if not any(study.is_chosen(each, [name]) for each in measured):
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'study {about.name} has no part "{name}" with published results',
                remedy=f"write one of {', '.join(measured)}",
                exit_code=2,
            )
    return tuple(each for each in measured if study.is_chosen(each, only))


def reproduce(
    directory: Path,
    about: StudyDescription,
    parts: Sequence[str],
    *,
    output: IO[str],
    small: bool = False,
    set_up_s: float = 0.0,
) -> StudyReproduction:
    """Measure parts of the artifact in ``directory`` again, in a copy, and compare the verdicts.

    ``output``: where the program of the study prints. Raises LonghaulError, and KeyboardInterrupt if the user
    interrupts it.
    """
    published = StudyFolder(directory / about.folder)
    place = directory / FOLDER
    copy = _copied(directory, about, place)
    began = time.monotonic()
    if program.run(copy, program.arguments(parts, small=small), output=output) == program.INTERRUPTED:
        raise KeyboardInterrupt
    took_s = time.monotonic() - began
    # The copy has the published results of the parts that failed; those of this run are beside it.
    made = replace(copy, other_results=place / "runs" / "studies" / copy.name / "results")
    repeated = {each.claim.id: each for each in made.evaluated()}
    rows = [Row(each, repeated[each.claim.id]) for each in published.evaluated() if each.claim.part in parts]
    analysis_s = sum(part["provenance"].get("analysis_s", 0.0) for part in made.measured_parts.values())
    return StudyReproduction(
        tuple(parts),
        tuple(rows),
        small,
        Times(set_up_s, max(took_s - analysis_s, 0.0), analysis_s),
        published.took_s(parts) or 0.0,
        (about.longhaul, version("longhaul")),
    )


def _copied(directory: Path, about: StudyDescription, place: Path) -> StudyFolder:
    """The study in the directory ``place``, without what an earlier repetition has left there."""
    if place.is_symlink():
        raise LonghaulError(
            Code.ARTIFACT_DAMAGED,
            f"{place} is a symbolic link",
            remedy="remove it, or unpack the archive again",
            exit_code=2,
        )
    top = Path(about.folder).parts[0]
    for old in (top, "figures", f"runs/studies/{about.name}"):
        if (place / old).exists():
            shutil.rmtree(place / old)
    for name in checksums.places(directory):
        if Path(name).parts[0] == top:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            storage.replace_bytes(place / name, (directory / name).read_bytes())
    return StudyFolder((place / about.folder).resolve())
