"""A CSV file that a scenario names: its lines, columns and units; a problem has its line."""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from longhaul.diagnostics import Code, Diagnostic, Span, printable
from longhaul.scenario.syntax.column_names import ENDS, FOREIGN, is_two_way, respelled
from longhaul.scenario.syntax.csv_row import RowError, cells_of
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.scenario.syntax.value_errors import FileError, ScenarioValueError
from longhaul.units.text import count_text

MAX_BYTES = 64 << 20
MAX_ROWS = 1_000_000
_NUMBER = re.compile(r"[-+]?(\.[0-9]{1,40}|[0-9]{1,40}(\.[0-9]{0,40})?)([eE][-+]?[0-9]{1,2})?")
_NAME = re.compile(r"[A-Za-z_][\w .()/%\[\]-]{0,63}")
"""What a column may be called."""

Units = Mapping[str, int]
"""Factor of each unit that the name of a column may end in; without any, every column fits."""
TIME: Units = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
RATE: Units = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
SIZE: Units = {"bytes": 1, "kB": 10**3, "MB": 10**6}
PACKETS: Units = {}


@dataclass(frozen=True)
class InputFile:
    """A text file, line by line."""

    name: str
    lines: tuple[str, ...]

    def wrong(self, code: Code, line: int, message: str, remedy: str, *, word: str = "") -> FileError:
        """An error in ``line``, which counts from 1, at ``word`` in it."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        place = Span(line, max(0, text.find(word)) + 1, max(1, len(word)))
        return FileError(Diagnostic(code, message, remedy, self.name, place, "", text))

    def rows(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line that is neither empty nor a comment."""
        for number in range(1, len(self.lines) + 1):
            text = self.row(number)
            if text:
                yield number, text

    def row(self, line: int) -> str:
        """The text of a line, which counts from 1, without its comment."""
        return self.lines[line - 1].partition("#")[0].strip()

    def cells(self, line: int) -> list[str]:
        """The cells of the row in ``line``, which counts from 1."""
        try:
            return cells_of(self.row(line))
        except RowError as error:
            raise self.wrong(error.code, line, error.message, error.remedy) from None

    def number(self, line: int, word: str, *, most: int) -> Decimal:
        """The number that ``word`` in ``line`` spells, from 0 to ``most``."""
        text = word.strip()
        if not _NUMBER.fullmatch(text):
            raise self.wrong(
                Code.CELL_INVALID,
                line,
                f'"{printable(text)}" is not a number',
                "write one like 12 or 0.5",
                word=word,
            )
        value = Decimal(text)
        if 0 <= value <= most:
            return value
        if value < 0:
            raise self.wrong(
                Code.CELL_INVALID, line, f'"{printable(text)}" is negative', "write zero or more", word=word
            )
        message = f'"{printable(text)}" is more than Longhaul supports'
        raise self.wrong(Code.CELL_INVALID, line, message, f"the most is {most}", word=word)


Places = Mapping[tuple[str, str], Sequence[int]]
"""The lines of each source and destination, in the order of the file."""


@dataclass(frozen=True)
class Column:
    """One column of a CSV file, as numbers."""

    name: str
    factor: int
    lines: Sequence[int]
    """The line of each number."""
    numbers: Sequence[Decimal]

    @property
    def is_round_trip(self) -> bool:
        """Whether the name says that the values are of both ways together."""
        return is_two_way(self.name)

    @property
    def values(self) -> Iterator[tuple[int, Decimal]]:
        """Line and number of each row."""
        return zip(self.lines, self.numbers, strict=True)

    def whole(self, *, one_way: bool = False) -> list[int]:
        """The numbers in whole ns, bit/s or bytes; with ``one_way`` half of a round trip."""
        half = 2 if one_way and self.is_round_trip else 1
        return [int((number * self.factor / half).to_integral_value()) for number in self.numbers]

    def scaled(self) -> list[tuple[int, int]]:
        """The same with the line of each."""
        return list(zip(self.lines, self.whole(), strict=True))


class CsvFile:
    """A CSV file with a header. Its cells are read when they are asked for, and not kept."""

    def __init__(self, file: InputFile) -> None:
        """Read the header of ``file``."""
        self.file = file
        self._lines = array("q", (line for line, _text in file.rows()))
        line = self._lines.pop(0)
        header = file.cells(line)
        if any(_NUMBER.fullmatch(name) for name in header):
            remedy = 'write the names of the columns first, as in "t_s,delay_ms"'
            raise file.wrong(Code.NOT_A_TABLE, line, "the first line is not a header", remedy)
        if not self._lines:
            raise file.wrong(
                Code.EMPTY_FILE, line, "has a header, but no rows", "write a line for each value"
            )
        self.header = respelled(header, file.lines)
        self.header_line = line
        self._places: Places | None = None

    def column(
        self,
        wanted: str | None,
        units: Units,
        *,
        at: str,
        most: int,
        but: str | None = None,
        lines: Sequence[int] | None = None,
        gaps: bool = False,
    ) -> Column:
        """Column ``wanted``, or the first that fits ``units`` and is not ``but``.

        ``at`` is the model's key for it; values in the smallest unit go up to ``most``. With ``lines`` only
        of these; with ``gaps`` an empty value is the last one again, and before the first one that one.
        """
        if wanted not in self.header:
            wanted = FOREIGN.get(wanted or "", wanted)
        fitting = self.fitting(units)
        if wanted is None:
            name = self.first(units, at=at, but=but)
        elif wanted not in self.header:
            message = f'"{printable(self.file.name)}" has no column "{printable(wanted)}"'
            raise ScenarioValueError(Code.COLUMN_UNKNOWN, (at,), message, did_you_mean(wanted, self.header))
        elif wanted not in fitting:
            endings = ", ".join(f"_{unit}" for unit in units)
            message = f'the name of column "{printable(wanted)}" does not end in a unit'
            raise self.file.wrong(
                Code.COLUMN_WITHOUT_UNIT,
                self.header_line,
                message,
                f"rename it to end in {endings}",
                word=wanted,
            )
        else:
            name = wanted
        position, factor = self.header.index(name), _unit(name, units) or 1
        read, values = array("q"), list[Decimal]()
        empty: list[int] = []
        for line in self._lines if lines is None else lines:
            word = self._cell(line, position)
            if word or not gaps:
                value = self.file.number(line, word, most=most // factor)
                for each in (*empty, line):
                    read.append(each)
                    values.append(value)
                empty = []
            elif values:
                read.append(line)
                values.append(values[-1])
            else:
                empty.append(line)
        if not values:
            where = "in these rows" if lines is not None else "in the file"
            raise self.file.wrong(
                Code.COLUMN_UNKNOWN, self.header_line, f"has no {name} {where}", "name another column"
            )
        return Column(name, factor, read, values)

    def first(self, units: Units, *, at: str, but: str | None = None) -> str:
        """The first column but one that fits ``units``; ``at`` is the model's key for it."""
        name = next(iter(self.fitting(units, but=but)), None)
        if name is None:
            endings = ", ".join(f"_{unit}" for unit in units)
            remedy = f'end its name in its unit: {endings}; or name one with "{at}"'
            raise self.file.wrong(Code.COLUMN_UNKNOWN, self.header_line, f"no column fits for {at}", remedy)
        return name

    def fitting(self, units: Units, *, but: str | None = None) -> list[str]:
        """The columns but one whose names end in one of ``units``."""
        return [name for name in self.header if _unit(name, units) is not None and name != but]

    def places(self) -> Places | None:
        """The rows of each source and destination, where the file has several links."""
        if not set(ENDS) <= set(self.header):
            return None
        if self._places is None:
            found: dict[tuple[str, str], list[int]] = {}
            source, destination = (self.header.index(each) for each in ENDS)
            for line in self._lines:
                cells = self._row(line)
                ends = cells[source], cells[destination]
                if not all(ends):
                    missing = ENDS[bool(ends[0])]
                    raise self.file.wrong(
                        Code.CELL_INVALID, line, f"a link without {missing}", "name both ends"
                    )
                found.setdefault(ends, []).append(line)
            self._places = found
        return self._places

    def words(
        self, name: str, *, remedy: str, lines: Sequence[int] | None = None
    ) -> Iterator[tuple[int, str]]:
        """Line and text of column ``name``; with ``lines`` of these."""
        if name not in self.header:
            raise self.file.wrong(
                Code.COLUMN_UNKNOWN, self.header_line, f'there is no column "{name}"', remedy
            )
        position = self.header.index(name)
        return ((line, self._row(line)[position]) for line in (self._lines if lines is None else lines))

    def _cell(self, line: int, position: int) -> str:
        """One value of a row; nearly all rows of long files are as plain as can be."""
        text = self.file.lines[line - 1]
        if '"' not in text and "#" not in text:
            cells = text.split(",")
            if len(cells) == len(self.header):
                return cells[position].strip()
        return self._row(line)[position]

    def _row(self, line: int) -> list[str]:
        cells = self.file.cells(line)
        if len(cells) != len(self.header):
            message = f"has {count_text(len(cells), 'value')} for {count_text(len(self.header), 'column')}"
            raise self.file.wrong(Code.ROW_MALFORMED, line, message, "write one for each column")
        return cells


def _unit(name: str, units: Units) -> int | None:
    """The factor of the unit that ``name`` ends in."""
    if not units:
        return 1
    stem, underscore, unit = name.rpartition("_")
    return units.get(unit) if stem and underscore else None


def check_table(file: InputFile) -> None:
    """Refuse a file that is empty, or is not text of numbers; of the latter no line is shown.

    A scenario of somebody else's may name any file that its reader can read.
    """
    rows = file.rows()
    (line, first), (second, _text) = (next(rows, (0, "")) for _ in range(2))
    if not first:
        raise file.wrong(Code.EMPTY_FILE, 1, "is empty", "write a line for each value")
    words = [word for word in re.split(r"[\s,;]+", first) if word]
    if 2 * sum(map(_is_number, words)) >= len(words):
        return
    try:
        names = file.cells(line)
        values = file.cells(second) if second else []
    except FileError as error:
        problem = replace(error.problem, source_line="")
        raise FileError(problem) from None
    known = bool(second) or any(_unit(name, units) for name in names for units in (TIME, RATE, SIZE))
    if all(map(_NAME.fullmatch, names)) and known and (not second or any(map(_is_number, values))):
        return
    remedy = 'begin with a number, or with the names of columns, as in "t_s,delay_ms"'
    raise InputFile(file.name, ()).wrong(Code.NOT_A_TABLE, 1, "is not a table of numbers", remedy)


def _is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None


def has_header(file: InputFile) -> bool:
    """Whether the first line of ``file`` names columns."""
    _line, text = next(file.rows())
    return not all(_NUMBER.fullmatch(word) for word in re.split(r"[\s,;]+", text) if word)


def ascending(file: InputFile, rows: Iterable[tuple[int, int]], *, what: str, strictly: bool) -> None:
    """Refuse the first of ``rows`` (line, value) that is less than the one before it."""
    for (_before, first), (line, second) in pairwise(rows):
        if second < first or (strictly and second == first):
            word = "is not later" if what == "time" else "is not larger"
            raise file.wrong(
                Code.ROWS_UNSORTED,
                line,
                f"the {what} {word} than the one before",
                f"sort the lines by {what}",
            )
