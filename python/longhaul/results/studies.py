"""Studies of a checkout: what each asks and claims, and what came out."""

import ast
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

Word = Literal["reproduced", "depends", "not reproduced", "undecided", "not measured"]
WORDS: tuple[Word, ...] = ("reproduced", "depends", "not reproduced", "undecided", "not measured")
"""How a claim can come out."""


def word_of(verdict: str) -> Word:
    """Of a verdict such as ``depends on the path``: the first word or words."""
    return next(word for word in reversed(WORDS) if verdict.startswith(word))


PAGE = "page.md.j2"
"""What makes the page of a study from its results."""


@dataclass(frozen=True)
class Study:
    """A folder of a study: ``NAME/NAME.py``, the template of its page, and its results if there are any."""

    folder: Path

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
        """The directory of claims, tables and figures."""
        return self.folder / "results"

    @cached_property
    def about(self) -> str:
        """The question of the study, or the first line of its program."""
        if self._record:
            return str(self._record["question"])
        text = ast.get_docstring(ast.parse(self.script.read_text(encoding="utf-8"))) or ""
        return text.partition("\n")[0]

    @cached_property
    def _record(self) -> dict[str, Any]:
        path = self.results / "claims.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """The parts that have results, by name."""
        return dict(self._record.get("parts", {}))

    def claims(self) -> list[dict[str, Any]]:
        """The claims of all parts, with ``part``, ``verdict`` and ``cases``."""
        return [{"part": name, **claim} for name, part in self.parts.items() for claim in part["claims"]]

    def counts(self) -> dict[Word, int]:
        """How many claims came out how."""
        found = Counter(word_of(claim["verdict"]) for claim in self.claims())
        return {word: found[word] for word in WORDS if found[word]}

    def measured(self) -> str:
        """When the newest part was, or an empty text."""
        return max((str(part["provenance"]["date"]) for part in self.parts.values()), default="")

    def took_s(self, only: Sequence[str] = ()) -> float | None:
        """How long these parts, or kinds of parts, took the last time; ``None`` if that is not known."""
        chosen = [
            float(part["provenance"]["took_s"])
            for name, part in self.parts.items()
            if not only or {name, part["how"]} & set(only)
        ]
        return sum(chosen) if chosen else None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "study": self.name,
            "about": self.about,
            "measured": self.measured() or None,
            "took_s": self.took_s(),
            "claims": self.counts(),
            "results": str(self.results) if self.parts else None,
        }


def find_directory(given: Path | None) -> Path:
    """The directory of studies: the given one, or ``studies`` here or in the nearest parent.

    Raises LonghaulError if there is none.
    """
    places = [given] if given else [each / "studies" for each in (Path.cwd(), *Path.cwd().parents)]
    for place in places:
        if place.is_dir() and studies_in(place):
            return place
    raise LonghaulError(
        Code.INPUT_FILE_MISSING,
        f"{given}: no studies" if given else "no directory studies here or above",
        remedy="run it in a checkout of Longhaul, or name its studies with --directory",
        exit_code=2,
    )


def studies_in(directory: Path) -> list[Study]:
    """The studies of a directory, by name."""
    found = (Study(folder) for folder in sorted(directory.iterdir()) if folder.is_dir())
    return [study for study in found if study.script.is_file() and (study.folder / PAGE).is_file()]


def pick(directory: Path, names: Sequence[str]) -> list[Study]:
    """The studies of these names. Raises LonghaulError for a name that none has."""
    known = {study.name: study for study in studies_in(directory)}
    for name in names:
        if name.replace("_", "-") not in known:
            raise LonghaulError(
                Code.WORD_UNKNOWN,
                f'there is no study "{name}"',
                remedy=f"write one of {', '.join(known)}",
                exit_code=2,
            )
    return [known[name.replace("_", "-")] for name in names]
