"""Reading along in a table that a run is still writing."""

from pathlib import Path


class Tail:
    """The latest row of each key of a growing CSV file."""

    def __init__(self, path: Path, *keys: str) -> None:
        """Read ``path``, which may not be there yet; rows with equal ``keys`` replace each other."""
        self._path = path
        self._keys = keys
        self._names: list[str] = []
        self._offset = 0
        self._last: dict[tuple[str, ...], dict[str, str]] = {}
        self._before: dict[tuple[str, ...], dict[str, str]] = {}

    def read(self) -> None:
        """Take in what has been written since; a line that is not complete waits for the next time."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except OSError:
            return
        complete = text[: text.rfind(b"\n") + 1]
        self._offset += len(complete)
        for line in complete.decode().splitlines():
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
