"""What a relay carries over time: read along while it runs, and from its table when it has ended."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from longhaul.analysis.relay_series import Messages, RelaySeries
from longhaul.results import manifest
from longhaul.results.growing_files import GrowingTable

Array = np.ndarray[Any, Any]

_COLUMNS = ("connection", "from", "to", "in_ns", "wanted_ns", "out_ns", "bytes")
_MOST_READS = 8
"""Of 8 MiB each, at once: a request must not take long. The next one goes on."""
_BATCH_ROWS = 1 << 16


class RelayMonitor:
    """Reads along in the log of messages of a relay that runs; one thread at a time."""

    def __init__(self, directory: Path) -> None:
        """For the relay in ``directory``, whose log need not be there yet."""
        self._table = GrowingTable(directory / "raw" / "messages.csv", texts=())
        self.series = RelaySeries()

    def read(self) -> None:
        """Take in what was written since."""
        for _ in range(_MOST_READS):
            table = self._table.read()
            if table is None:
                return
            self.series.add(_messages(table))


def ended_series(directory: Path, clusters: Sequence[str], *, duration_ns: int) -> RelaySeries:
    """Of a relay with results that lasted ``duration_ns``; ``clusters`` are the names of the plan.

    Raises LonghaulError for damage.
    """
    series = RelaySeries()
    for batch in _batches(directory):
        numbered = {name: _column(batch, name, clusters) for name in _COLUMNS}
        series.add(_messages(pa.table(numbered)))
    series.extend(duration_ns)
    return series


def _batches(directory: Path) -> Iterator[pa.RecordBatch]:
    path = directory / "messages.parquet"
    manifest.check(directory, path.name)
    if path.is_file():
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(_BATCH_ROWS, columns=list(_COLUMNS))


def _column(batch: pa.RecordBatch, name: str, clusters: Sequence[str]) -> Any:
    """A column of numbers: clusters by their place in the plan, as in the log."""
    column = batch.column(name)
    if name not in ("from", "to"):
        return column
    return pc.index_in(column, value_set=pa.array(clusters, pa.string()))


def _messages(table: pa.Table) -> Messages:
    return Messages(*(table.column(name).to_numpy().astype(np.int64) for name in _COLUMNS))
