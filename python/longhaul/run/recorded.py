"""Reading CSV files that a run wrote, also one that was killed in the middle of a line."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

_LONGEST_LINE = 1 << 16


def read_recorded(path: Path, types: dict[str, Any] | None = None) -> pa.Table | None:
    """The table in ``path`` up to its last whole line; ``None`` if there is none, or it is broken.

    ``types`` are those of columns; what they leave out is told by the values.
    """
    convert = pacsv.ConvertOptions(column_types=types)
    try:
        with pa.memory_map(str(path)) as file:
            content = file.read_buffer()
            last = content.slice(max(0, content.size - _LONGEST_LINE)).to_pybytes()
            whole = content.slice(0, content.size - len(last) + last.rfind(b"\n") + 1)
            source: Any = pa.BufferReader(whole)
            return pacsv.read_csv(source, convert_options=convert)
    except (OSError, pa.ArrowInvalid):
        return None
