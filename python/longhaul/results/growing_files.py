"""Files that a run is writing: what is new since the last read, or what is at their end."""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from longhaul.results.growing_text import GrowingFile

Array = np.ndarray[Any, Any]

_MOST_TAIL_BYTES = 2 << 20
"""Minutes of a dozen connections; what came before is shown when the run is over."""


class GrowingTable:
    """A growing CSV file with a header line: the columns ``texts`` are text, or all; others whole numbers."""

    def __init__(self, path: Path, *, texts: Sequence[str] | None = ("link", "way")) -> None:
        """Begin at the start of ``path``, which may not be there yet."""
        self._file = GrowingFile(path)
        self._header = b""
        self._texts = texts
        self.names: list[str] = []
        """Of the columns; empty before the first line."""

    def read(self) -> pa.Table | None:
        """Rows that have come since; ``None`` if there are none."""
        content = self._file.read()
        if content and not self._header:
            end = content.index(b"\n") + 1
            self._header, content = content[:end], content[end:]
            self.names = self._header.decode().strip().split(",")
        if not content:
            return None
        texts = self.names if self._texts is None else self._texts
        types = {name: pa.string() if name in texts else pa.int64() for name in self.names}
        return pacsv.read_csv(
            BytesIO(self._header + content),
            read_options=pacsv.ReadOptions(use_threads=False),
            convert_options=pacsv.ConvertOptions(column_types=types),
        )


class GrowingSamples:
    """A growing CSV file of samples: each has a row for every one of so many things, in one order."""

    def __init__(self, path: Path, rows: int) -> None:
        """Begin at the start of ``path``, which may not be there yet; a sample has so many ``rows``."""
        self._table = GrowingTable(path)
        self._rows = rows
        self._rest: pa.Table | None = None

    def read(self, latest_ns: int) -> Iterator[dict[str, Array]]:
        """The columns of each whole sample that has come since, in order of time.

        Of many, as a simulation writes them, those before the last ``latest_ns`` are left out, but for one.
        """
        new = self._table.read() if self._rows else None
        if new is None:
            return
        if self._rest is not None:
            new = pa.concat_tables([self._rest, new])
        whole = len(new) // self._rows * self._rows
        self._rest = new.slice(whole) if whole < len(new) else None
        columns = {
            name: new.column(name).slice(0, whole).to_numpy()
            for name in self._table.names
            if name not in ("link", "way")
        }
        if not whole:
            return
        instants = columns["t_ns"][:: self._rows]
        first = max(int(np.searchsorted(instants, instants[-1] - latest_ns)) - 1, 0)
        for start in range(first * self._rows, whole, self._rows):
            yield {name: column[start : start + self._rows] for name, column in columns.items()}


class Tail:
    """The latest row of each key of a growing CSV file."""

    def __init__(self, path: Path, *keys: str) -> None:
        """Read ``path``, which may not be there yet; rows with equal ``keys`` replace each other."""
        self._file = GrowingFile(path, most_bytes=None)
        self._keys = keys
        self._names: list[str] = []
        self._last: dict[tuple[str, ...], dict[str, str]] = {}
        self._before: dict[tuple[str, ...], dict[str, str]] = {}

    def read(self) -> None:
        """Take in what has been written since; a line that is not complete waits for the next time."""
        for line in self._file.read().decode().splitlines():
            fields = line.split(",")
            if not self._names:
                self._names = fields
                continue
            row = dict(zip(self._names, fields, strict=True))
            key = tuple(row[name] for name in self._keys)
            if key in self._last:
                self._before[key] = self._last[key]
            self._last[key] = row

    @property
    def rows(self) -> list[dict[str, str]]:
        """The latest row of each key."""
        return list(self._last.values())

    def before(self, row: dict[str, str]) -> dict[str, str] | None:
        """The row that one of the latest replaced."""
        return self._before.get(tuple(row[name] for name in self._keys))

    def forget(self, older_than_ns: int) -> None:
        """Drop rows of before an instant."""
        for key in [key for key, row in self._last.items() if int(row["t_ns"]) < older_than_ns]:
            self._before.pop(key, None)
            del self._last[key]


def last_rows(path: Path, types: Mapping[str, Any], *, most_bytes: int = _MOST_TAIL_BYTES) -> pa.Table | None:
    """The last whole rows that ``most_bytes`` hold; ``None`` if there is none yet.

    ``types`` are those of columns; what they leave out is told by the values.
    """
    try:
        with path.open("rb") as file:
            head = file.readline()
            begin = file.tell()
            content, start = _end_of(file, begin=begin, most_bytes=most_bytes)
    except OSError:
        return None
    if start > begin:
        content = content[content.find(b"\n") + 1 :]
    content = content[: content.rfind(b"\n") + 1]
    if not content or not head.endswith(b"\n"):
        return None
    convert = pacsv.ConvertOptions(column_types=dict(types))
    return pacsv.read_csv(BytesIO(head + content), convert_options=convert)


def last_bytes(path: Path, most_bytes: int) -> tuple[bytes, int]:
    """The last ``most_bytes`` of a file, and the size of the whole. Raises OSError."""
    with path.open("rb") as file:
        content, start = _end_of(file, begin=0, most_bytes=most_bytes)
    return content, start + len(content)


def _end_of(file: BinaryIO, *, begin: int, most_bytes: int) -> tuple[bytes, int]:
    """The last ``most_bytes`` behind ``begin``, and where they start."""
    size = file.seek(0, 2)
    start = file.seek(max(begin, size - most_bytes))
    return file.read(max(size - start, 0)), start
