"""Directories of studies: what each study asks and claims, and its results.

A study is a folder with a program ``NAME.py`` and ``claims.yaml``, and with ``paper.yaml`` if it repeats
figures of a paper; its results are in ``results``. Beside the
folders there may be ``studies.toml`` with ``figures``, the directory of pictures, and ``pages``, a program
that writes pages when results have changed.
"""

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.studies.claims import CLAIMS, Claims, read_claims
from longhaul.studies.evaluation import WORDS, Case, EvaluatedClaim, Word
from longhaul.studies.paper import PAPER, PaperFigures, read_paper
from longhaul.studies.results_files import RESULTS, Json, figure_path, read_results

SETTINGS = "studies.toml"


@dataclass(frozen=True)
class StudyFolder:
    """The folder of a study: ``NAME/NAME.py``, ``NAME/claims.yaml``, and its results if there are any."""

    folder: Path
    named: Path | None = None
    """The directory of studies as the user has named it; ``None`` where it is found without a name."""
    other_results: Path | None = None
    """A directory of results instead of the published ones."""

    @property
    def name(self) -> str:
        """With hyphens, as commands have it."""
        return self.folder.name.replace("_", "-")

    @property
    def script(self) -> Path:
        """The program that measures."""
        return self.folder / f"{self.folder.name}.py"

    @property
    def results(self) -> Path:
        """The directory of results and tables."""
        return self.other_results or self.folder / "results"

    @property
    def figures(self) -> Path:
        """The directory of pictures: that of ``studies.toml``, or that of the results."""
        given = self._settings.get("figures")
        return self.folder.parent / given if given else self.results

    @property
    def pages(self) -> Path | None:
        """The program that writes pages when results have changed, if there is one."""
        given = self._settings.get("pages")
        return self.folder.parent / given if given else None

    @cached_property
    def _settings(self) -> dict[str, Any]:
        path = self.folder.parent / SETTINGS
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    def figure(self, name: str) -> Path:
        """The picture of that name."""
        return figure_path(self.figures, self.name, name)

    @property
    def shared(self) -> Path:
        """The directory of studies, which may have modules that several studies import."""
        return self.folder.parent

    @cached_property
    def claims(self) -> Claims:
        """The claims file. Raises LonghaulError if it is wrong."""
        return read_claims(self.folder / CLAIMS)

    @cached_property
    def paper(self) -> PaperFigures:
        """The figures of the paper that the study repeats; none without ``paper.yaml``.

        Raises LonghaulError if the file is wrong.
        """
        return read_paper(self.folder / PAPER, self.claims)

    @cached_property
    def measured_parts(self) -> dict[str, Json]:
        """The results of the parts that have some, by name."""
        return read_results(self.results)

    def evaluated(self, part: str | None = None) -> list[EvaluatedClaim]:
        """Every claim, or those of a part, in the order of the file; those without results are not measured.

        Raises LonghaulError if the results have a claim that the file does not have.
        """
        found: dict[str, tuple[Case, ...]] = {}
        owners = {claim.id: claim.part for claim in self.claims.claims}
        for name, results in self.measured_parts.items():
            for each in results["claims"]:
                if owners.get(each["id"]) != name:
                    raise LonghaulError(
                        Code.CLAIM_UNKNOWN,
                        f'{self.results / RESULTS}: part {name} has a claim "{each["id"]}" that '
                        f"{self.folder / CLAIMS} does not have",
                        remedy=f"rename one of them, or run {self.command(name)}",
                    )
                found[each["id"]] = tuple(Case(**case) for case in each["cases"])
        return [
            EvaluatedClaim(claim, found.get(claim.id, ()))
            for claim in self.claims.claims
            if part in (None, claim.part)
        ]

    def counts(self) -> dict[Word, int]:
        """How many claims have each verdict, those that are not measured included."""
        found = Counter(each.word for each in self.evaluated())
        return {word: found[word] for word in WORDS if found[word]}

    def measured(self) -> str:
        """When the newest part was, or an empty text."""
        return max((str(part["provenance"]["date"]) for part in self.measured_parts.values()), default="")

    def part_took_s(self, part: str) -> float | None:
        """How long a part took the last time, if it has results."""
        found = self.measured_parts.get(part)
        return None if found is None else float(found["provenance"]["took_s"])

    def took_s(self, only: Sequence[str] = ()) -> float | None:
        """How long these parts, or kinds of parts, took the last time; ``None`` if that is not known."""
        chosen = [
            self.part_took_s(name)
            for name in self.claims.parts
            if name in self.measured_parts and self.is_chosen(name, only)
        ]
        return sum(each or 0.0 for each in chosen) if chosen else None

    def is_chosen(self, part: str, only: Sequence[str]) -> bool:
        """Whether ``--only`` with these names of parts or kinds includes a part; all without a name."""
        return not only or bool({part, self.claims.parts[part].how} & set(only))

    def command(self, part: str) -> str:
        """The command line that measures a part."""
        place = f" --directory {self.named}" if self.named else ""
        return f"longhaul study run {self.name} --only {part}{place}"

    def as_json(self) -> dict[str, Any]:
        """For programs: the study without its claims."""
        return {
            "study": self.name,
            "about": self.claims.question,
            "measured": self.measured() or None,
            "took_s": self.took_s(),
            "counts": self.counts(),
            "results": str(self.results) if self.measured_parts else None,
        }

    def as_full_json(self) -> dict[str, Any]:
        """For programs: every part and every claim."""
        parts = {
            name: {
                "how": part.how,
                "about": part.about,
                "command": self.command(name),
                **{
                    key: self.measured_parts[name][key] if name in self.measured_parts else empty
                    for key, empty in (("provenance", None), ("values", {}), ("notes", []))
                },
            }
            for name, part in self.claims.parts.items()
        }
        claims = [each.as_json() for each in self.evaluated()]
        return {**self.as_json(), "parts": parts, "claims": claims}


def find_directory(given: Path | None, *, start: Path | None = None) -> Path:
    """The directory of studies: the given one, or ``studies`` in ``start`` or in the nearest parent.

    ``start`` is the working directory if left out.

    Raises LonghaulError if there is none.
    """
    here = start or Path.cwd()
    places = [given] if given else [each / "studies" for each in (here, *here.parents)]
    for place in places:
        if place.is_dir() and studies_in(place):
            return place
    raise LonghaulError(
        Code.INPUT_FILE_MISSING,
        f"{given}: no studies" if given else "no directory studies here or above",
        remedy="run it in a checkout of Longhaul, or name a directory of studies with --directory",
        exit_code=2,
    )


def studies_in(directory: Path, *, named: Path | None = None) -> list[StudyFolder]:
    """The studies of a directory, by name; ``named``: as the user has named it."""
    found = (StudyFolder(folder, named) for folder in sorted(directory.iterdir()) if folder.is_dir())
    return [study for study in found if study.script.is_file() and (study.folder / CLAIMS).is_file()]


def pick(directory: Path, names: Sequence[str], *, named: Path | None = None) -> list[StudyFolder]:
    """The studies of these names. Raises LonghaulError for a name that none has."""
    known = {study.name: study for study in studies_in(directory, named=named)}
    for name in names:
        if name.replace("_", "-") not in known:
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'there is no study "{name}"',
                remedy=f"write one of {', '.join(known)}",
                exit_code=2,
            )
    return [known[name.replace("_", "-")] for name in names]
