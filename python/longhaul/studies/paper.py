"""``paper.yaml``: the figures of a paper, and the values that its text states, as data.

A value that a rule reads stands in ``claims.yaml`` alone: ``paper.yaml`` names it as ``CLAIM.NUMBER``. Curves
and bars whose values the text does not state have no values here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from longhaul.diagnostics import Code, Diagnostic, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.model.base import OneOrList, Strict, Text, problem
from longhaul.scenario.model.validate import validate
from longhaul.scenario.syntax.problems import ScenarioError, did_you_mean
from longhaul.scenario.syntax.yaml_tree import Branch, FileKind, Path, Source, follow, read_file, read_tree
from longhaul.studies.claims import CLAIMS, Claims

PAPER = "paper.yaml"
"""The file in the folder of a study."""
Bound = Literal["above", "below"]

_KIND = FileKind(
    "paper file",
    begin='begin with "paper: ..."',
    start="write the paper's title and its figures",
    shorten="omit figures without values",
    share="write the value again",
)


def _amounts(value: Any) -> Any:
    every = value if isinstance(value, list) else [value]
    if not every or any(
        isinstance(each, bool) or not isinstance(each, int | Decimal | str) for each in every
    ):
        raise problem(Code.WRONG_TYPE, "must be a number, a text, or a list of them", "write it without unit")
    return tuple(every)


Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Amount = int | Decimal | str
Amounts = Annotated[tuple[Amount, ...], BeforeValidator(_amounts), Field(strict=False)]
Names = Annotated[tuple[Name, ...], OneOrList(), Field(strict=False, min_length=1)]


class _Values(Strict):
    series: Name
    x: Amounts = ()
    y: Amounts = ()
    spread: Amounts = ()
    bound: Bound | None = None
    x_unit: Text = ""
    y_unit: Text = ""


class _Figure(Strict):
    figure: Name
    shows: Sentence
    place: Text = ""
    ours: Names = ()
    without: Text = ""
    x_unit: Text = ""
    y_unit: Text = ""
    values: Annotated[tuple[_Values, ...], Field(strict=False)] = ()


class _Document(Strict):
    paper: Sentence
    figures: Annotated[tuple[_Figure, ...], Field(strict=False)]


@dataclass(frozen=True)
class PaperValue:
    """A value that the text of a paper states."""

    figure: str
    series: str
    x: float | str | None
    """A number, or the name of a category; ``None`` if the value holds for every x."""
    y: float | None
    """``None`` if the paper states a place on the x axis alone."""
    spread: float | None = None
    """The paper's own error bar, a standard deviation."""
    bound: Bound | None = None
    """Whether the paper says that its result is above or below the value."""
    x_unit: str = ""
    y_unit: str = ""
    """``share``: per cent in texts."""

    def shown(self) -> str:
        """In words: ``more than 350 µs``, ``50.3 s at 4x1``; only the x if the paper states no y."""
        at = self.x if isinstance(self.x, str) else _shown(self.x, self.x_unit)
        if self.y is None:
            return at
        bound = {"above": "more than ", "below": "less than ", None: ""}[self.bound]
        spread = f" ± {_shown(self.spread, '')}" if self.spread else ""
        value = f"{bound}{_shown(self.y, '')}{spread} {self.y_unit}".rstrip()
        if self.y_unit == "share":
            value = f"{bound}{_shown(100 * self.y, '%')}"
        return value if not at or at == self.series else f"{value} at {at}"


def _shown(value: float | None, unit: str) -> str:
    return "" if value is None else f"{float(f'{value:.6g}'):,.10g} {unit}".rstrip()


@dataclass(frozen=True)
class PaperFigure:
    """A figure or a table of a paper."""

    name: str
    """``3a``, or ``table III``."""
    shows: str
    place: str
    """Where the text states the values."""
    ours: tuple[str, ...]
    """Names of the study's figures that repeat it."""
    without: str
    """Why there are none."""
    values: tuple[PaperValue, ...]


@dataclass(frozen=True)
class PaperFigures:
    """The figures of a paper, in its order."""

    paper: str
    figures: tuple[PaperFigure, ...]

    def values(self, figure: str, *series: str) -> tuple[PaperValue, ...]:
        """The stated values of a figure: of these series, in this order, or of all.

        Raises LonghaulError for an unknown figure or series.
        """
        known = {each.name: each for each in self.figures}
        if figure not in known:
            raise _unknown(f'figure "{figure}"', figure, known)
        every = known[figure].values
        names = dict.fromkeys(each.series for each in every)
        for name in series:
            if name not in names:
                raise _unknown(f'figure {figure}: series "{name}"', name, names)
        return tuple(each for name in series or names for each in every if each.series == name)

    def value(self, figure: str, series: str, x: float | str | None = None) -> float:
        """One value of a series. Raises LonghaulError if there is not exactly one."""
        found = [each.y for each in self.values(figure, series) if x in (None, each.x)]
        if len(found) != 1 or found[0] is None:
            raise LonghaulError(
                Code.PAPER_VALUE,
                f"{PAPER} has {len(found)} values of {series} at {x} in figure {figure}",
                remedy="name the x of one of them",
            )
        return found[0]


def _unknown(what: str, name: str, known: Mapping[str, Any]) -> LonghaulError:
    return LonghaulError(Code.PAPER_VALUE, f"{PAPER} has no {what}", remedy=did_you_mean(name, known))


def read_paper(path: FilePath, claims: Claims) -> PaperFigures:
    """The figures of a paper, with the numbers of ``claims`` filled in; none without a file.

    Raises LonghaulError, with every problem, if the file is not right.
    """
    if not path.is_file():
        return PaperFigures("", ())
    return parse_paper(read_file(path), claims, name=str(path))


def parse_paper(content: bytes, claims: Claims, *, name: str) -> PaperFigures:
    """The figures in ``content``, which errors call ``name``."""
    source, tree = read_tree(name, content, kind=_KIND)
    document, problems = validate(source, tree, _Document)
    if document is not None:
        problems = [*problems, *_wrong(source, tree, document, claims)]
    if document is None or problems:
        raise ScenarioError(problems)
    return PaperFigures(document.paper, tuple(_figure(each, claims) for each in document.figures))


def _wrong(source: Source, tree: Branch, document: _Document, claims: Claims) -> Iterator[Diagnostic]:
    """What is wrong between the values of the file, and with the numbers that it names."""
    seen = set()
    for number, figure in enumerate(document.figures):
        at: Path = ("figures", number)
        if figure.figure in seen:
            yield _problem(source, tree, (*at, "figure"), "the figure is here twice", "join the two")
        seen.add(figure.figure)
        if bool(figure.ours) == bool(figure.without):
            message = "needs either the names of our figures, or the reason why there is none"
            yield _problem(source, tree, at, message, "write ours: NAME, or without: REASON")
        for place, values in enumerate(figure.values):
            yield from _wrong_values(source, tree, (*at, "values", place), values, claims)


def _wrong_values(
    source: Source, tree: Branch, at: Path, values: _Values, claims: Claims
) -> Iterator[Diagnostic]:
    lengths, wrong = set(), False
    for key, amounts in (("x", values.x), ("y", values.y), ("spread", values.spread)):
        try:
            filled = _places(amounts, claims) if key == "x" else _filled(amounts, claims)
        except LonghaulError as error:
            yield _problem(source, tree, (*at, key), error.message, error.remedy or "name a claim's number")
            wrong = True
            continue
        lengths |= {len(filled)} - {0}
    if len(lengths) != 1 and not wrong:
        message = "has no value" if not lengths else "x, y and spread are lists of different lengths"
        yield _problem(source, tree, at, message, "write as many y as x")


def _problem(source: Source, tree: Branch, path: Path, message: str, remedy: str) -> Diagnostic:
    place, _node, walked = follow(tree, path)
    return source.problem(Code.PAPER_VALUE, place, walked, message, remedy)


def _filled(amounts: tuple[Amount, ...], claims: Claims) -> tuple[float, ...]:
    """Numbers, those of claims filled in. Raises LonghaulError for one that does not exist."""
    found: list[float] = []
    for each in amounts:
        if isinstance(each, str):
            claim, point, number = each.partition(".")
            if not point:
                raise LonghaulError(
                    Code.PAPER_VALUE,
                    f'"{printable(each)}" is not a number, and does not name one',
                    remedy=f"write a number, or CLAIM.NUMBER of {CLAIMS}",
                )
            found += claims.numbers(claim).all(number)
        else:
            found.append(each if isinstance(each, int) else float(each))
    return tuple(found)


def _places(amounts: tuple[Amount, ...], claims: Claims) -> tuple[float | str, ...]:
    """Places on the x axis: numbers, those of claims filled in, or the names of categories."""
    ids = {claim.id for claim in claims.claims}
    found: list[float | str] = []
    for each in amounts:
        if isinstance(each, str) and each.partition(".")[0] not in ids:
            found.append(each)
        else:
            found += _filled((each,), claims)
    return tuple(found)


def _figure(figure: _Figure, claims: Claims) -> PaperFigure:
    values = []
    for each in figure.values:
        places = _places(each.x, claims)
        heights, spreads = _filled(each.y, claims), _filled(each.spread, claims)
        values += [
            PaperValue(
                figure.figure,
                each.series,
                places[number] if places else None,
                heights[number] if heights else None,
                spreads[number] if spreads else None,
                each.bound,
                each.x_unit or figure.x_unit,
                each.y_unit or figure.y_unit,
            )
            for number in range(max(len(places), len(heights)))
        ]
    return PaperFigure(figure.figure, figure.shows, figure.place, figure.ours, figure.without, tuple(values))
