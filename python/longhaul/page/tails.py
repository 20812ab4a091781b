"""The latest rows of a CSV file that a run is writing."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

_MOST_BYTES = 2 << 20
"""Minutes of a dozen connections; what came before is shown when the run is over."""


def read_tail(path: Path, types: Mapping[str, Any], *, most_bytes: int = _MOST_BYTES) -> pa.Table | None:
    """The last whole rows that ``most_bytes`` hold; ``None`` if there is none yet.

    ``types`` are those of columns; what they leave out is told by the values.
    """
    try:
        with path.open("rb") as file:
            head = file.readline()
            begin = file.tell()
            size = file.seek(0, 2)
            start = file.seek(max(begin, size - most_bytes))
            content = file.read(size - start)
    except OSError:
        return None
    if start > begin:
        content = content[content.find(b"\n") + 1 :]
    content = content[: content.rfind(b"\n") + 1]
    if not content or not head.endswith(b"\n"):
        return None
    convert = pacsv.ConvertOptions(column_types=dict(types))
    return pacsv.read_csv(BytesIO(head + content), convert_options=convert)
