"""Files of a run directory: required ones, optional ones, and tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longhaul import json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import manifest, run_record
from longhaul.storage import replacing

_WRONG_CONTENT = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    pa.ArrowException,
)
"""What reading content of another shape than was written comes to."""

Array = np.ndarray[Any, Any]


def probe_name(row: Mapping[str, Any]) -> str:
    """What results call the ping of a row of ``raw/traffic.json``.

    Older versions wrote the name of the traffic alone.
    """
    return str(row.get("probe") or row["name"])


def read_json(path: Path) -> Any:
    """The content of a JSON file; None if it is missing, unreadable or not JSON."""
    try:
        return json_text.read(path.read_bytes())
    except (OSError, ValueError):
        return None


def read_object(path: Path) -> dict[str, Any]:
    """The same for a JSON object; empty if there is none."""
    found = read_json(path)
    return found if isinstance(found, dict) else {}


def kept_json(directory: Path, name: str) -> Any:
    """The content of a JSON file. Raises LonghaulError if it is missing or damaged."""
    try:
        return json_text.read(kept_text(directory, name).encode())
    except ValueError:
        raise _damaged(directory, name) from None


def kept_text(directory: Path, name: str) -> str:
    """The content of a text file. Raises LonghaulError if it cannot be read."""
    manifest.check(directory, name)
    try:
        return (directory / name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        message = f"{directory / name}: {(error.strerror or 'cannot be read').lower()}"
        raise LonghaulError(
            Code.FILE_UNREADABLE, message, remedy=_remedy(directory, name), exit_code=2
        ) from None


def kept_table(directory: Path, name: str) -> dict[str, Array]:
    """The columns of ``name``.parquet; empty if there is none. Raises LonghaulError if it is damaged."""
    path = directory / f"{name}.parquet"
    manifest.check(directory, path.name)
    if not path.is_file():
        return {}
    try:
        table = _whole_table(path)
    except (OSError, pa.ArrowException):
        raise _damaged(directory, path.name) from None
    found = {each: table.column(each).to_numpy(zero_copy_only=False) for each in table.column_names}
    if name == "links" and found and "throughput_bits_per_s" not in found:
        # A run of before there was this column: not known until its results are written again.
        found["throughput_bits_per_s"] = np.full(len(found["t_s"]), np.nan)
    return found


@contextmanager
def reading(*directories: Path) -> Iterator[None]:
    """Errors of the block as a LonghaulError if the files of a run in ``directories`` may be the cause.

    They may if they are damaged, or if no manifest says what was written. With files that are as they were
    written, an error is a defect of Longhaul, and stays what it is.
    """
    try:
        yield
    except LonghaulError:
        raise
    except _WRONG_CONTENT as error:
        if isinstance(error, OSError) and error.errno and not isinstance(error, FileNotFoundError):
            # The disk is full, say.
            raise
        doubt = next((each for each in map(_doubt, directories) if each), None)
        if doubt is None:
            raise
        raise LonghaulError(
            Code.RESULTS_DAMAGED,
            f"{doubt} ({type(error).__name__}: {' '.join(str(error).split())[:120]})",
            remedy="restore its files from a copy, or run the scenario again",
            exit_code=2,
        ) from error


def _doubt(directory: Path) -> str | None:
    """Why the files of a run may not be what was written; ``None`` if they are."""
    damage = manifest.find_damage(directory, derived=True)
    if damage:
        return f"{directory / damage[0].name} {damage[0].what}"
    if not (directory / manifest.NAME).is_file():
        return f"{directory} cannot be read: its files are damaged, or incomplete because it was killed"
    path = run_record.path_of(directory)
    if path is None or not run_record.is_whole(path):
        return f"{path or directory / 'run.json'} is damaged"
    return None


def _damaged(directory: Path, name: str) -> LonghaulError:
    return LonghaulError(
        Code.RESULTS_DAMAGED, f"{directory / name} is damaged", remedy=_remedy(directory, name), exit_code=2
    )


_GIVEN = ("run.json", "plan.json", "scenario.yaml", "raw/traffic.json")
"""What nothing else can be made again from."""


def _remedy(directory: Path, name: str) -> str:
    if name in _GIVEN:
        return "name a run directory that has all its files, or run the scenario again"
    return f"write it again: longhaul report {directory}"


def read_table(directory: Path, name: str) -> pa.Table | None:
    """The table ``name`` of a run directory; None if it has none."""
    path = directory / f"{name}.parquet"
    return _whole_table(path) if path.is_file() else None


def _whole_table(path: Path) -> pa.Table:
    """Without the import of ``pyarrow.dataset``, which ``pyarrow.parquet.read_table`` costs."""
    with pq.ParquetFile(path) as file:
        return file.read()


def write_pieces(pieces: Iterator[pa.Table], path: Path, *, otherwise: pa.Table | None = None) -> None:
    """Write a table that comes piece by piece; ``otherwise``, or no file, if none comes."""
    first = next(pieces, otherwise)
    if first is None:
        return
    with replacing(path) as file, pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for piece in chain([first], pieces):
            if len(piece) or piece is first:
                writer.write_table(piece)


def write_table(table: pa.Table, path: Path) -> None:
    """Write ``table`` as Parquet in one step."""
    with replacing(path) as file:
        pq.write_table(table, file, compression="zstd")
