"""The recorded changes of links, and the configuration that follows from them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from longhaul.analysis.changes import Change, ChangeLog
from longhaul.analysis.configuration import Applied, Configuration, planned
from longhaul.analysis.exported_changes import ExportError, events_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import Plan
from longhaul.results.growing_text import CHANGES, GrowingFile
from longhaul.results.run_files import kept_json
from longhaul.scenario.lower.compensation import compensate, shorten
from longhaul.scenario.lower.network import ends_at_host
from longhaul.scenario.syntax.yaml_tree import Branch, data_of, read_tree

Json = dict[str, Any]


def read_changes(directory: Path, plan: Plan) -> list[Applied]:
    """What the run in ``directory`` changed; of one before there was such a record, what its plan says."""
    path = directory / "raw" / CHANGES
    if not path.is_file() and (directory / "raw" / "samples.csv").is_file():
        return planned(plan)
    return _Record(path).read()


def read_configuration(directory: Path, plan: Plan) -> Configuration:
    """Which link models the run in ``directory`` had, and when."""
    return Configuration(plan, read_changes(directory, plan))


class ConfigurationTail:
    """The configuration of a run that goes on, read along."""

    def __init__(self, directory: Path, plan: Plan) -> None:
        """Of the run in ``directory``, whose record need not be there yet."""
        self._record = _Record(directory / "raw" / CHANGES)
        self.configuration = Configuration(plan)

    def read(self) -> list[Applied]:
        """Take in what has been changed since the last time, and return it."""
        new = self._record.read()
        for each in new:
            self.configuration.apply(each)
        return new


class ChangeTail:
    """The changes of a run that goes on, in words, read along."""

    def __init__(self, directory: Path, plan: Plan) -> None:
        """Of the run in ``directory``, whose record need not be there yet."""
        self._record = _Record(directory / "raw" / CHANGES)
        self._log = ChangeLog(plan)

    def read(self) -> list[Change]:
        """What has begun to change since the last time."""
        return self._log.take(self._record.read(), goes_on=True)


class _Record:
    """The record of a run that may still write it."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path, most_bytes=None)

    def read(self) -> list[Applied]:
        """Changes whose lines are whole and have come since."""
        rows = (Applied.read(json.loads(line)) for line in self._file.read().splitlines())
        return [each for each in rows if each.is_of_a_link]


def events_of(directory: Path) -> str:
    """The changes of the run in ``directory`` as an ``events:`` block that reproduces them.

    Put into the scenario of the run in place of its events, it makes the same changes at the same instants.
    Raises LonghaulError.
    """
    plan = kept_json(directory, "plan.json")
    about = kept_json(directory, "run.json")
    changes = read_changes(directory, plan)
    if about.get("compensated"):
        base_ns = int(about["certificate"]["base_one_way_ns"])
        plan, changes = _uncompensated(plan, changes, base_ns)
    _source, root = read_tree("scenario.yaml", (directory / "scenario.yaml").read_bytes())
    try:
        return events_text(plan, changes, lambda applied, key: _words(root, applied, key))
    except ExportError as error:
        remedy = "its change is in raw/changes.jsonl; write the event by hand"
        raise LonghaulError(Code.EDIT_IMPOSSIBLE, str(error), remedy=remedy, exit_code=2) from None


def _words(root: Branch, applied: Applied, key: str) -> Any:
    """What a user or the scenario wrote for a key."""
    if applied.cause["by"] == "event":
        position = applied.cause.get("position")
        found = None if position is None else data_of(root)
        try:
            return found["events"][position]["set"][key] if found else None
        except (KeyError, IndexError, TypeError):
            return None
    for word in applied.cause["words"]:
        name, equals, value = word.partition("=")
        if equals and name == key:
            return data_of(read_tree("set", f"{key}: {value}".encode())[1])[key]
    return None


def _uncompensated(plan: Plan, changes: list[Applied], base_ns: int) -> tuple[Plan, list[Applied]]:
    """As the scenario has it, with the machine's own latency in the delays of directions to hosts."""
    plan, _warnings = compensate(plan, -base_ns)
    return plan, [
        part
        for each in changes
        for part in ([each] if "delay" not in each.change else _lengthened(plan, each, base_ns))
    ]


def _lengthened(plan: Plan, applied: Applied, base_ns: int) -> Iterator[Applied]:
    for way in applied.ways:
        change = dict(applied.change)
        if ends_at_host(plan, applied.link, way):
            change["delay"] = dict(change["delay"])
            shorten(change["delay"], -base_ns)
        yield replace(applied, ways=(way,), change=change)
