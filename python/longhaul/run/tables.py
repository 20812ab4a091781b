"""Tables of a run directory, which are there whole or not at all."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from longhaul.storage import replacing


def write_table(table: pa.Table, path: Path) -> None:
    """Write ``table`` as Parquet in one step."""
    with replacing(path) as file:
        pq.write_table(table, file, compression="zstd")
