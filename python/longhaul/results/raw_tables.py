"""Tables of ``raw/`` that a run writes, read as far as they are undamaged."""

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from longhaul.plan import Plan
from longhaul.results.arrow_functions import dictionary_encode, is_in, is_valid, rows_where

Array = np.ndarray[Any, Any]

_LONGEST_LINE = 1 << 16
_BATCH_BYTES = 1 << 20
_BATCH_ROWS = 1 << 16

_TEXT = frozenset(
    ("link", "way", "fate", "host", "local", "remote", "state", "cc", "blocks", "client", "target", "end")
)
_OF_FILE: Mapping[str, Mapping[str, pa.DataType]] = {
    "flows": {"flow": pa.string(), **dict.fromkeys(("window_segments", "threshold_segments"), pa.float64())},
    "pings": {"flow": pa.string()},
    "requests": {"flow": pa.string()},
    "flow_counts": dict.fromkeys(("source", "destination"), pa.string()),
    "connections": {"from": pa.string(), "to": pa.string()},
}
_OTHERS: Mapping[str, pa.DataType] = {"utilisation": pa.float64(), "socket": pa.uint64()}

_OPTIONAL = frozenset(
    (
        *("due_ns", "rtt_ns", "took_ns", "acknowledged", "window_segments", "threshold_segments"),
        *("source_port", "destination_port", "last_new_ns", "last_acknowledged_ns"),
        *("ssthresh_segments", "min_rtt_us", "delivery_bits_per_s", "pacing_bits_per_s"),
    )
)
"""Columns of numbers that may be empty."""


def column_type(file: str, column: str) -> pa.DataType:
    """The type of a column of ``raw/FILE.csv``: whole numbers, unless it is known to be something else."""
    if column in _OF_FILE.get(file, {}):
        return _OF_FILE[file][column]
    return pa.string() if column in _TEXT else _OTHERS.get(column, pa.int64())


Known = Mapping[str, Collection[str]]
"""The names that can stand in columns of text."""


def known_names(plan: Plan) -> Known:
    """Those of the links, ways, hosts and flows of a run's plan."""
    return {
        "link": [link["name"] for link in plan["links"]],
        "way": ("forward", "reverse"),
        "host": [node["name"] for node in plan["nodes"]],
        "flow": [flow["name"] for flow in plan.get("flows", ())],
    }


@dataclass
class Records:
    """The tables of a run or relay, and how many of their lines are damaged."""

    directory: Path
    known: Known = field(default_factory=dict)
    """By column; a line with another name is damaged."""
    damaged_lines: dict[str, int] = field(default_factory=dict)
    """By file, such as ``raw/samples.csv``; those without damage are not in it."""
    _tables: dict[str, pa.Table | None] = field(default_factory=dict)

    def table(self, file: str, needs: Collection[str] = ()) -> pa.Table | None:
        """``raw/FILE.csv`` without its damaged lines.

        ``None`` if it is not there, or its first line does not name the columns that ``needs`` names.
        """
        if file not in self._tables:
            batches = list(self.batches(file, needs))
            self._tables[file] = pa.Table.from_batches(batches) if batches else None
        return self._tables[file]

    def batches(self, file: str, needs: Collection[str] = ()) -> Iterator[pa.RecordBatch]:
        """The same piece by piece, for files that do not fit into memory; the first piece is empty."""
        lines = _Lines(self.directory / "raw" / f"{file}.csv", file, self.known)
        yield from lines.batches(needs)
        if lines.damaged:
            self.damaged_lines[f"raw/{file}.csv"] = lines.damaged

    def columns(self, file: str, needs: Collection[str] = ()) -> dict[str, Array]:
        """The same as arrays by column, for tables that are read once: nothing else is held of the file."""
        found: dict[str, Array] = {}
        rows = 0
        for batch in self.batches(file, needs):
            found = found or _empty(batch.schema, _lines(self.directory / "raw" / f"{file}.csv"))
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                found[name][rows : rows + len(batch)] = _values(column)
            rows += len(batch)
        return {name: column[:rows] for name, column in found.items()}


def _empty(schema: pa.Schema, rows: int) -> dict[str, Array]:
    kinds = {
        each.name: object if each.type == pa.string() else each.type.to_pandas_dtype() for each in schema
    }
    return {name: np.empty(rows, kind) for name, kind in kinds.items()}


def _lines(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))


def _values(column: Any) -> Array:
    """The values of a column; equal texts are one object."""
    if column.type != pa.string():
        return np.asarray(column.to_numpy(zero_copy_only=False))
    encoded = dictionary_encode(column)
    texts = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    return np.asarray(texts[encoded.indices.to_numpy(zero_copy_only=False)])


def read_recorded(path: Path, needs: Collection[str] = ()) -> pa.Table | None:
    """A table without its damaged lines, up to the last complete one; ``None`` as in :class:`Records`."""
    batches = list(_Lines(path, path.stem, {}).batches(needs))
    return pa.Table.from_batches(batches) if batches else None


class _Lines:
    """One pass over a file."""

    def __init__(self, path: Path, file: str, known: Known) -> None:
        self.path = path
        self.damaged = 0
        self._file = file
        self._known = known

    def batches(self, needs: Collection[str]) -> Iterator[pa.RecordBatch]:
        try:
            with pa.memory_map(str(self.path)) as file:
                content = _complete(file.read_buffer())
        except (OSError, pa.ArrowInvalid):
            return
        header, body = _first_line(content)
        names = header.split(",")
        if len(set(names)) < len(names) or not set(needs) <= set(names):
            # Without the names of its columns a table has no rows.
            self.damaged = content.to_pybytes().count(b"\n")
            return
        schema = pa.schema([(name, column_type(self._file, name)) for name in names])
        yield pa.RecordBatch.from_pylist([], schema)
        for piece in _pieces(body):
            for batch in self._read(piece, schema):
                complete = self._with_known_names(self._without_gaps(batch))
                self.damaged += len(batch) - len(complete)
                yield complete

    def _without_gaps(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for each in batch.schema:
            column = batch.column(each.name)
            if column.null_count and each.name not in _OPTIONAL:
                batch = rows_where(batch, is_valid(column))
        return batch

    def _with_known_names(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        for name, names in self._known.items():
            place = batch.schema.get_field_index(name)
            if place >= 0 and batch.schema.field(place).type == pa.string():
                batch = rows_where(batch, is_in(batch.column(place), names))
        return batch

    def _read(self, piece: pa.Buffer, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        source: Any = pa.BufferReader(piece)
        try:
            table = pacsv.read_csv(
                source,
                pacsv.ReadOptions(column_names=schema.names, block_size=2 * _BATCH_BYTES, use_threads=False),
                pacsv.ParseOptions(ignore_empty_lines=False),
                pacsv.ConvertOptions(column_types=schema),
            )
        except pa.ArrowInvalid:
            table = None
        # A quotation mark may have swallowed other lines.
        if table is None or len(table) != piece.to_pybytes().count(b"\n"):
            yield from self._line_by_line(piece, schema)
        else:
            yield from table.to_batches()

    def _line_by_line(self, piece: pa.Buffer, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Something is damaged: slowly, those lines alone are left out."""
        parsers = [_PARSERS[kind] for kind in schema.types]
        rows: list[list[Any]] = []
        for line in piece.to_pybytes().split(b"\n")[:-1]:
            try:
                fields = next(csv.reader([line.decode("utf-8")], strict=True))
                rows.append([parse(text) for parse, text in zip(parsers, fields, strict=True)])
            except (ValueError, StopIteration, csv.Error):
                self.damaged += 1
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        for start in range(0, len(rows), _BATCH_ROWS):
            arrays = [
                pa.array(column[start : start + _BATCH_ROWS], kind)
                for column, kind in zip(columns, schema.types, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _whole(least: int, most: int) -> Any:
    def parse(text: str) -> int | None:
        if not text:
            return None
        # int() would take blanks, underscores and other scripts' digits as well.
        if not text.removeprefix("-").isdecimal() or not text.isascii() or not least <= int(text) <= most:
            raise ValueError(text)
        return int(text)

    return parse


def _text(text: str) -> str:
    if not text.isprintable():
        raise ValueError(text)
    return text


_PARSERS = {
    pa.int64(): _whole(-(1 << 63), (1 << 63) - 1),
    pa.uint64(): _whole(0, (1 << 64) - 1),
    pa.float64(): lambda text: float(text) if text else None,
    pa.string(): _text,
}


def _complete(content: pa.Buffer) -> pa.Buffer:
    """Up to the last complete line: a run that was killed may have stopped within one."""
    last = content.slice(max(0, content.size - _LONGEST_LINE)).to_pybytes()
    return content.slice(0, content.size - len(last) + last.rfind(b"\n") + 1)


def _first_line(content: pa.Buffer) -> tuple[str, pa.Buffer]:
    head = content.slice(0, min(_LONGEST_LINE, content.size)).to_pybytes()
    end = head.find(b"\n")
    return head[: max(end, 0)].decode("utf-8", "replace"), content.slice(end + 1)


def _pieces(content: pa.Buffer) -> Iterator[pa.Buffer]:
    """Pieces of complete lines, so that one with damage costs little."""
    start = 0
    while start < content.size:
        size = min(_BATCH_BYTES, content.size - start)
        piece = content.slice(start, size)
        if start + size < content.size:
            end = piece.to_pybytes().rfind(b"\n") + 1
            piece = content.slice(start, end or size)
        yield piece
        start += piece.size
