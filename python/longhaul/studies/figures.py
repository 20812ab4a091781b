"""Figures of a part, drawn from its tables: when it has been measured, and again later."""

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from longhaul.studies.catalogue import StudyFolder
from longhaul.studies.claims import Numbers
from longhaul.studies.paper import PAPER, PaperFigures
from longhaul.studies.results_files import read_table, replace_figures

if TYPE_CHECKING:
    from longhaul.report.mpl import Figure

Row = dict[str, Any]


def cells(row: Mapping[str, Any]) -> Row:
    """A row whose texts are what they say: numbers, truth values, ``None`` if empty, else texts.

    It does not matter whether the row was measured just now or comes from a CSV file.
    """
    return {name: _cell("" if text is None else str(text)) for name, text in row.items()}


def _cell(text: str) -> Any:
    if not text:
        return None
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return value if isinstance(value, bool | int | float) else text


class Figures:
    """Tables of a study to draw from, and the figures that were drawn."""

    def __init__(self, study: StudyFolder, tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        """``tables``: those of this run; others are the published ones."""
        self._study = study
        self._tables = tables
        self.drawn: dict[str, tuple[Figure, list[str]]] = {}
        """By name, each with the names of its tables."""

    @property
    def paper(self) -> PaperFigures:
        """The figures of the paper, and the values that its text states."""
        return self._study.paper

    def numbers(self, claim: str) -> Numbers:
        """The numbers of a claim. Raises LonghaulError for an unknown id."""
        return self._study.claims.numbers(claim)

    def rows(self, table: str) -> list[Row]:
        """The rows of a table; empty if the study has no table of this name."""
        if table in self._tables:
            return [cells(row) for row in self._tables[table]]
        path = self._study.results / f"{table}.csv"
        return [cells(row) for row in read_table(path)] if path.is_file() else []

    def add(self, made: "Figure", name: str, *, data: Iterable[str]) -> None:
        """A picture, and the tables that have its points."""
        made.patch.set_alpha(1)
        self.drawn[name] = (made, list(data))


Draw = Callable[[Figures], None]


def redraw(study: StudyFolder, part: str, draw: Draw) -> list[str]:
    """Draw the figures of a part again from its published tables; returns their names.

    Nothing else of the results changes. A part without results has none.
    """
    if part not in study.measured_parts:
        return []
    figures = Figures(study, {})
    draw(figures)
    replace_figures(study.results, study.figures, study.name, part, figures.drawn, paper=study.folder / PAPER)
    return list(figures.drawn)
