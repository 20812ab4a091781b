"""Responses about studies: their claims, verdicts, parts and figures."""

from typing import Literal

from typing_extensions import TypedDict

from longhaul.page.responses.files import passed_on

Word = Literal["reproduced", "depends", "not reproduced", "undecided", "not measured"]
Outcome = Literal["holds", "fails", "open"]


class StudyRow(TypedDict):
    """A study: its question, when it was measured, how long that took, and its claims by verdict."""

    study: str
    about: str
    measured: str | None
    took_s: float | None
    took_text: str
    counts: dict[str, int]
    results: str | None


class NoStudies(TypedDict):
    """Why there are none."""

    message: str
    remedy: str | None


class StudyList(TypedDict):
    """The studies of a directory; without any, ``why`` says so."""

    directory: str | None
    studies: list[StudyRow]
    why: NoStudies | None


class ClaimCase(TypedDict):
    """A claim under one condition: what was found, and whether the rule holds."""

    condition: str
    outcome: Outcome
    found: str


@passed_on
class ClaimRow(TypedDict):
    """A claim: its rule, the place in the paper, the paper's values, and its verdict."""

    id: str
    part: str
    place: str
    text: str
    rule: str
    paper: list[str]
    assumes: list[str]
    verdict: str
    word: Word
    cases: list[ClaimCase]


class PaperPlace(TypedDict):
    """A figure or a table of the paper, and where its text states the values."""

    name: str
    shows: str
    place: str


class StudyFigure(TypedDict):
    """A picture of a study, and what of the paper it repeats."""

    name: str
    repeats: list[PaperPlace]


class StudyPart(TypedDict):
    """A part: how it measures, the command that does so, and where and when it was measured."""

    name: str
    how: str
    about: str
    command: str
    measured: str
    took_text: str
    notes: list[str]
    figures: list[StudyFigure]


class StudyDetails(StudyRow):
    """A study with its parts and claims."""

    paper: str
    parts: list[StudyPart]
    claims: list[ClaimRow]


class Picture(TypedDict):
    """A picture as base64."""

    name: str
    media_type: str
    base64: str
