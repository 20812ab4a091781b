"""Text files that a run is writing: the lines that have come since the last read.

This imports nothing large, as agents of other machines start with it.
"""

import os
from pathlib import Path

CHANGES = "changes.jsonl"
"""In ``raw/``: the changes of links, one JSON object a line, written by the process that applied them."""
OWN_LOGS = ("engine.err", "observer.err", "worker.err")
"""In ``logs/``: of Longhaul's own processes, which every machine of a run has."""
_MOST_BYTES = 8 << 20
"""Read of one file at once."""


class GrowingFile:
    """A file that is being written, read from where one was; one that takes its place is not read."""

    def __init__(self, path: Path, *, most_bytes: int | None = _MOST_BYTES) -> None:
        """Begin at the start of ``path``, which may not be there yet; ``None`` reads all at once."""
        self._path = path
        self._offset = 0
        self._most_bytes = most_bytes
        self._file: tuple[int, int] | None = None
        """Device and number of what was read first."""

    def read(self) -> bytes:
        """Whole lines that have come since."""
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                self._file = self._file or (found.st_dev, found.st_ino)
                if self._file != (found.st_dev, found.st_ino):
                    return b""
                file.seek(self._offset)
                content = file.read(self._most_bytes)
        except OSError:
            return b""
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole
