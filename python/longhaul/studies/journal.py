"""Measurements that an interrupted study need not repeat."""

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class Journal:
    """A file with a line for each measurement, of which those of one commit are kept."""

    def __init__(self, path: Path, *, commit: str, resume: bool) -> None:
        """Keep what ``path`` has of ``commit`` if ``resume``; begin anew otherwise."""
        self._path = path
        self._commit = commit
        self._known: dict[str, Json] = {}
        lines = (
            path.read_text(encoding="utf-8").splitlines(keepends=True) if resume and path.is_file() else []
        )
        # The last line of a study that was killed may have no end.
        lines = [line for line in lines if line.endswith("\n")]
        path.write_text("".join(lines), encoding="utf-8")
        for entry in map(json.loads, lines):
            # What another state of the sources measured is another measurement.
            if entry["commit"] == commit:
                self._known[entry["key"]] = entry

    def read(self, key: str) -> Json | None:
        """The measurement of that name, if there is one."""
        return self._known.get(key)

    def write(self, key: str, entry: Json) -> Json:
        """Append a measurement; returns it as it will be read."""
        with self._path.open("a", encoding="utf-8") as out:
            out.write(f"{json.dumps({'key': key, 'commit': self._commit, **entry})}\n")
        return dict(json.loads(json.dumps(entry)))
