"""The changes of links that a run has recorded, and the configuration that follows from them."""

import json
from pathlib import Path
from typing import Any

from longhaul.analysis.configuration import Applied, Configuration, planned

FILE = "changes.jsonl"
"""In ``raw/``: one JSON object a line, written by the process that applied the change."""


def read_changes(directory: Path, plan: dict[str, Any]) -> list[Applied]:
    """What the run in ``directory`` changed; for one that recorded nothing of it, what its plan says."""
    path = directory / "raw" / FILE
    if not path.is_file():
        return planned(plan)
    return _Record(path).read()


def read_configuration(directory: Path, plan: dict[str, Any]) -> Configuration:
    """Which link models the run in ``directory`` had, and when."""
    return Configuration(plan, read_changes(directory, plan))


class ConfigurationTail:
    """The configuration of a run that goes on, read along."""

    def __init__(self, directory: Path, plan: dict[str, Any]) -> None:
        """Of the run in ``directory``, whose record need not be there yet."""
        self._record = _Record(directory / "raw" / FILE)
        self.configuration = Configuration(plan)

    def read(self) -> list[Applied]:
        """Take in what has been changed since the last time, and return it."""
        new = self._record.read()
        for each in new:
            self.configuration.apply(each)
        return new


class _Record:
    """The record of a run that may still write it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read(self) -> list[Applied]:
        """Changes whose lines are whole and have come since."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return [Applied.read(json.loads(line)) for line in whole.splitlines()]
