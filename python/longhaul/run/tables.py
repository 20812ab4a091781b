"""Tables of a run directory, which are there whole or not at all."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from longhaul.storage import replacing


def read_table(directory: Path, name: str) -> pa.Table | None:
    """The table ``name`` of a run directory; None if it has none."""
    path = directory / f"{name}.parquet"
    return pq.read_table(path) if path.is_file() else None


def write_table(table: pa.Table, path: Path) -> None:
    """Write ``table`` as Parquet in one step."""
    with replacing(path) as file:
        pq.write_table(table, file, compression="zstd")
