"""Gaps between losses from a file: text, CSV or Parquet."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from longhaul.analysis.gaps import UNITS, Gaps, merged, step_note
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.regular_files import read_regular
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.text import count_text

_SEPARATOR = re.compile(r"[,;\t ]+")
_LARGEST = 1 << 30
"""Bytes of a text file at most."""


@dataclass(frozen=True)
class _Column:
    name: str | None
    values: Sequence[float]
    lines: Sequence[int]
    """Of the file; rows of a table count from 1."""
    line: str
    """What these are called: line or row."""


def read_gaps(
    path: Path,
    *,
    unit: str | None = None,
    column: str | None = None,
    times: bool = False,
    merge: float | None = None,
) -> Gaps:
    """The gaps in ``path``, or the differences of the ``times`` (or packet numbers) in it.

    Text has one number a line, or columns under a header; ``#`` begins a comment. ``column`` names one of
    several. The unit is the end of the column's name, such as ``_ms``, or ``unit``. Losses that begin
    within ``merge``, in the same unit, of the first of them count as one event, as in RFC 5348, section 5.2.

    Raises :class:`LonghaulError` with the line and a remedy.
    """
    found = _parquet(path, column) if path.suffix == ".parquet" else _text(path, column)
    unit = unit or _unit_of(path, found.name)
    if unit not in UNITS:
        raise LonghaulError(
            Code.WORD_UNKNOWN,
            f'"{printable(unit)}" is not a unit of gaps',
            remedy=_one_of(UNITS),
            exit_code=2,
        )
    _check(path, found, times=times, merge=merge is not None)
    notes = []
    values = np.array(found.values, dtype=np.float64)
    if not times and len(values) >= 10 and (np.diff(values) >= 0).all():
        notes.append("the gaps only grow; if they are times, add --times")
    if merge is not None:
        losses = values if times else np.concatenate(([0.0], np.cumsum(values)))
        values = np.diff(merged(losses, merge))
    elif times:
        values = np.diff(values)
        if (values == 0).any():
            second = int(np.flatnonzero(values == 0)[0]) + 1
            raise _wrong(
                path, found, second, "is the same as the one before", "join such losses with --merge"
            )
    return Gaps(values, unit, path.name, (*notes, *step_note(values)))


def _text(path: Path, wanted: str | None) -> _Column:
    try:
        content = read_regular(path, most_bytes=_LARGEST + 1)
        if len(content) > _LARGEST:
            message = f"{path} has more than {_LARGEST >> 30} GiB"
            raise LonghaulError(
                Code.FILE_TOO_LARGE, message, remedy="write it as Parquet, or use a part of it", exit_code=2
            )
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path} is not text: byte {error.start} is not UTF-8"
        raise LonghaulError(
            Code.NOT_TEXT, message, remedy="give numbers on lines, CSV, Parquet, or a capture", exit_code=2
        ) from None
    except OSError as error:
        message = f"{path}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy="name a file that can be read", exit_code=2
        ) from None
    rows = [
        (number, _SEPARATOR.split(row))
        for number, line in enumerate(text.splitlines(), 1)
        if (row := line.partition("#")[0].strip().rstrip(",;"))
    ]
    if not rows:
        raise LonghaulError(
            Code.EMPTY_FILE, f"{path} is empty", remedy="write a number on each line", exit_code=2
        )
    header = None
    if any(_number(word) is None for word in rows[0][1]):
        header = rows.pop(0)[1]
    width = len(header) if header else len(rows[0][1]) if rows else 0
    index = _index(path, header, width, wanted)
    values, lines = [], []
    for line, words in rows:
        if len(words) != width:
            message = f"{path}:{line}: {count_text(len(words), 'value')} where there were {width}"
            raise LonghaulError(Code.ROW_MALFORMED, message, remedy="write as many on each line", exit_code=2)
        value = _number(words[index])
        if value is None:
            message = f'{path}:{line}: "{printable(words[index])}" is not a number'
            raise LonghaulError(Code.CELL_INVALID, message, remedy="write one like 12 or 0.5", exit_code=2)
        values.append(value)
        lines.append(line)
    return _Column(header[index] if header else None, values, lines, "line")


def _parquet(path: Path, wanted: str | None) -> _Column:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        name = schema.names[_index(path, schema.names, len(schema.names), wanted)]
        column = pq.read_table(path, columns=[name]).column(name)
        values = column.cast(pa.float64()).to_numpy()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        remedy = "name a Parquet file with a column of numbers"
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED, f"{path}: {printable(reason)}", remedy=remedy, exit_code=2
        ) from None
    return _Column(name, values.tolist(), range(1, len(values) + 1), "row")


def _index(path: Path, header: Sequence[str] | None, width: int, wanted: str | None) -> int:
    if wanted is not None:
        if header is None:
            message = f'{path} has no header, so no column "{printable(wanted)}"'
            raise LonghaulError(
                Code.NOT_A_TABLE, message, remedy="write the names of the columns first", exit_code=2
            )
        if wanted not in header:
            message = f'{path} has no column "{printable(wanted)}"'
            raise LonghaulError(
                Code.COLUMN_UNKNOWN, message, remedy=did_you_mean(wanted, header), exit_code=2
            )
        return list(header).index(wanted)
    if width <= 1:
        return 0
    fitting = [index for index, name in enumerate(header or ()) if _ending(name) is not None]
    if len(fitting) == 1:
        return fitting[0]
    if header is None:
        remedy = "keep one, or write their names first and name one with --column"
    else:
        remedy = f"name one with --column: {', '.join(header[:12])}"
    raise LonghaulError(Code.COLUMN_UNKNOWN, f"{path} has {width} columns", remedy=remedy, exit_code=2)


def _unit_of(path: Path, name: str | None) -> str:
    unit = None if name is None else _ending(name)
    if unit is None:
        called = f'{path}: column "{printable(name)}"' if name else f"{path}"
        raise LonghaulError(
            Code.COLUMN_WITHOUT_UNIT,
            f"{called} does not say its unit",
            remedy="add --unit s, ms or packets",
            exit_code=2,
        )
    return unit


def _ending(name: str) -> str | None:
    if name in UNITS:
        return name
    _stem, underscore, unit = name.rpartition("_")
    return unit if underscore and unit in UNITS else None


def _check(path: Path, column: _Column, *, times: bool, merge: bool) -> None:
    """Refuse the first value that cannot be."""
    before = None
    for index, value in enumerate(column.values):
        if not isfinite(value):
            raise _wrong(path, column, index, "is not a finite number", "leave it out")
        if not times and (value < 0 or (value == 0 and not merge)):
            remedy = "join losses of one moment with --merge" if value == 0 else "write gaps above zero"
            raise _wrong(path, column, index, "is not a gap", f"{remedy}, or add --times if these are times")
        if times and before is not None and value < before:
            raise _wrong(
                path, column, index, "is before the one above it", "sort the times, or leave out --times"
            )
        before = value


def _wrong(path: Path, column: _Column, index: int, message: str, remedy: str) -> LonghaulError:
    place = f"{path}:{column.lines[index]}" if column.line == "line" else f"{path}, row {column.lines[index]}"
    return LonghaulError(
        Code.SAMPLE_UNUSABLE, f"{place}: {column.values[index]:g} {message}", remedy=remedy, exit_code=2
    )


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _one_of(words: Sequence[str]) -> str:
    return f"write {', '.join(words[:-1])} or {words[-1]}"
