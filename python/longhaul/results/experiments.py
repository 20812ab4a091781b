"""The runs of a directory as experiments: how each ended, its key metrics, and in what it differs.

An index beside the runs caches the data of runs that have ended, so that hundreds of them are listed without
reading their results again. If the index is damaged, the runs are read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from longhaul import json_text, storage
from longhaul.analysis.changes import verdict_text
from longhaul.analysis.differences import Fact, Facts
from longhaul.analysis.headline import headline_metrics
from longhaul.analysis.outcome import Outcome, State
from longhaul.analysis.parameters import Parameter, algorithms, names, parameters
from longhaul.errors import LonghaulError
from longhaul.results import annotations, ending, run_record
from longhaul.results import directory as directories
from longhaul.results.annotations import Annotations
from longhaul.results.comparison import facts_of
from longhaul.results.outcomes import read_outcome
from longhaul.results.run_files import read_json, read_object

Json = dict[str, Any]

INDEX = ".index.json"
MOST = 2_000
"""Runs that are listed: the latest."""
_VERSION = 1
_MOST_GONE = 100
"""Runs that are in the index, and are there no more."""
_RUN = re.compile(r"[0-9]{8}T[A-Za-z0-9-]{1,80}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


@dataclass(frozen=True)
class Experiment:
    """The data of a run in a list of runs."""

    name: str
    mode: str
    status: str
    state: State
    """Of its outcome."""
    detail: str
    started_unix_s: float
    seed: int
    argv: list[str]
    settings: dict[str, str]
    variant: str
    """A hash of the configuration without the seed."""
    verdict: str | None = None
    verdict_text: str | None = None
    hosts: str | None = None
    duration_s: float | None = None
    expectations_met: bool | None = None
    metrics: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Listed:
    """A run in a list of runs."""

    directory: Path
    experiment: Experiment
    annotations: Annotations
    parameters: Mapping[str, str]
    """Parameters that differ among runs of its name, its algorithms and its seed, as text."""
    differs: str
    """``cc=reno, seed=2``: the parameters that distinguish it from others of its name, or a number."""

    @property
    def label(self) -> str:
        """Its title; without one its name and what differs."""
        plain = ", ".join(filter(None, (self.experiment.name, self.differs)))
        return self.annotations.title or plain


@dataclass(frozen=True)
class ListedSweep:
    """A sweep in a list of sweeps."""

    directory: Path
    name: str
    status: str
    started_unix_s: float
    axes: list[Json]
    """Each with its ``name``, ``column`` and ``values``."""
    variants: int
    repeats: int
    annotations: Annotations

    @property
    def label(self) -> str:
        """Its title; without one its name."""
        return self.annotations.title or self.name

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each axis, as text."""
        return {each["name"]: tuple(map(str, each.get("values") or ())) for each in self.axes}


def read(directory: Path) -> Experiment:
    """The run in ``directory``. Raises OSError and ValueError if its record cannot be read."""
    record = directories.read_run(directory)
    summary = read_object(directory / "summary.json")
    outcome = Outcome.from_dict(summary["outcome"]) if summary.get("outcome") else read_outcome(directory)
    fidelity = summary.get("fidelity") or {}
    verdict = fidelity.get("verdict")
    expectations = summary.get("expectations") or []
    duration_ns = summary.get("duration_ns")
    return Experiment(
        name=record["name"],
        mode=record["mode"],
        status=ending.read(directory).status,
        state=outcome.state,
        detail=outcome.detail,
        started_unix_s=datetime.fromisoformat(record["started"]).timestamp(),
        seed=record["seed"],
        argv=record["argv"],
        settings={str(key): str(value) for key, value in (record.get("settings") or {}).items()},
        variant=str(record.get("variant") or directory.name),
        verdict=verdict,
        verdict_text=verdict_text(summary) if verdict else None,
        hosts=(fidelity.get("hosts") or {}).get("state"),
        duration_s=duration_ns / 1e9 if duration_ns is not None else None,
        expectations_met=all(each.get("met") for each in expectations) if expectations else None,
        metrics=headline_metrics(summary) if summary else {},
    )


def directories_of(runs: Path, kind: str = "run.json", *, name: str | None = None) -> list[Path]:
    """The latest directories ``RUNS/NAME/RUN`` that have a file ``kind``, newest first; no links."""
    parents = [runs / name] if name else runs.iterdir() if runs.is_dir() else ()
    found = [
        directory
        for parent in parents
        if _NAME.fullmatch(parent.name) and parent.is_dir() and not parent.is_symlink()
        for directory in parent.iterdir()
        if _RUN.fullmatch(directory.name) and not directory.is_symlink() and (directory / kind).is_file()
    ]
    found.sort(key=lambda each: (each.name, each.parent.name), reverse=True)
    return found[:MOST]


def listed(runs: Path, *, name: str | None = None) -> list[Listed]:
    """The latest runs of a directory, or those of a ``name``, newest first.

    One that somebody removes or has broken is left out.
    """
    index = _Index(runs / INDEX)
    found: list[tuple[Path, Experiment]] = []
    for directory in directories_of(runs, name=name):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found.append((directory, index.experiment(directory)))
    by_name: dict[str, list[int]] = {}
    for place, (directory, _) in enumerate(found):
        by_name.setdefault(directory.parent.name, []).append(place)
    rows: list[Listed | None] = [None] * len(found)
    for places in by_name.values():
        # The oldest first: a run keeps its number when later ones come.
        group = [found[place] for place in reversed(places)]
        labelled = _distinguished(group, [index.facts(directory, one) for directory, one in group])
        for place, row in zip(reversed(places), labelled, strict=True):
            rows[place] = row
    index.write({_key(directory) for directory, _ in found} if name is None else None)
    return [each for each in rows if each is not None]


def listed_sweeps(runs: Path) -> list[ListedSweep]:
    """The latest sweeps of a directory, newest first.

    One that somebody removes or has broken is left out.
    """
    found = []
    for directory in directories_of(runs, "sweep.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found.append(read_sweep(directory))
    return found


def read_sweep(directory: Path) -> ListedSweep:
    """The sweep in ``directory``. Raises OSError, ValueError or KeyError if its record cannot be read."""
    record = run_record.read(directory / "sweep.json")
    return ListedSweep(
        directory=directory,
        name=record["name"],
        status=ending.read(directory).status,
        started_unix_s=datetime.fromisoformat(record["started"]).timestamp(),
        axes=record["axes"],
        variants=record["variants"],
        repeats=record["repeats"],
        annotations=annotations.read(directory),
    )


def one(directory: Path) -> Listed:
    """The run in ``directory`` as the list has it.

    Raises OSError and ValueError if its record cannot be read.
    """
    for each in listed(directory.parents[1], name=directory.parent.name):
        if each.directory == directory:
            return each
    return next(_distinguished([(directory, read(directory))], [{}]))


def _distinguished(group: Sequence[tuple[Path, Experiment]], facts: Sequence[Facts]) -> Iterator[Listed]:
    """Runs of one name with the parameters that distinguish them."""
    seeds = Parameter("seed", tuple(str(one.seed) for _, one in group))
    varied = parameters(facts)
    # The mode stands beside the name wherever runs are shown.
    differs = names(varied, len(group), further=[seeds], beside=[one.mode for _, one in group])
    for place, (directory, one) in enumerate(group):
        shown = {**one.settings, "seed": str(one.seed)}
        cc = algorithms(facts[place])
        shown |= {"cc": cc} if cc else {}
        shown |= {each.name: each.values[place] for each in varied}
        yield Listed(directory, one, annotations.read(directory), shown, differs[place])


def _key(directory: Path) -> str:
    return f"{directory.parent.name}/{directory.name}"


class _Index:
    """The cached data of listed runs. Facts of a variant are stored as differences from the first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        content = read_json(path) if not path.is_symlink() else None
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            content = {}
        self._runs: Json = content.get("runs") or {}
        self._facts: Json = content.get("facts") or {}
        self._read: dict[tuple[str, str], Facts] = {}
        self._is_new = False

    def experiment(self, directory: Path) -> Experiment:
        """The run, read again if its record or summary was written since."""
        stamp = [_written(directory / name) for name in ("run.json", "summary.json")]
        cached = self._runs.get(_key(directory))
        if cached is not None and cached["stamp"] == stamp:
            with suppress(TypeError):
                return Experiment(**cached["run"])
        found = read(directory)
        # Without results, how it ended may show later, without a change of these files.
        if found.status != ending.RUNNING and found.state != "running" and stamp[1] is not None:
            self._runs[_key(directory)] = {"stamp": stamp, "run": asdict(found)}
            self._is_new = True
        return found

    def facts(self, directory: Path, run: Experiment) -> Facts:
        """The configuration of the run; equal variants share one object."""
        place = (directory.parent.name, run.variant)
        if place not in self._read:
            self._read[place] = self._cached_facts(*place) or self._new_facts(directory, *place)
        return self._read[place]

    def _cached_facts(self, name: str, variant: str) -> Facts | None:
        cached = self._facts.get(name)
        if not isinstance(cached, dict) or variant not in cached["variants"]:
            return None
        with suppress(TypeError, ValueError, KeyError):
            base = self._base(name)
            changed = cached["variants"][variant]
            gone = {tuple(each) for each in changed["gone"]}
            return {key: fact for key, fact in base.items() if key not in gone} | _facts(changed["facts"])
        return None

    def _base(self, name: str) -> Facts:
        place = (name, "")
        if place not in self._read:
            self._read[place] = _facts(self._facts[name]["base"])
        return self._read[place]

    def _new_facts(self, directory: Path, name: str, variant: str) -> Facts:
        try:
            found = facts_of(directory)
        except (LonghaulError, OSError, ValueError, KeyError, TypeError):
            # A relay has no network, and damaged runs are listed, too.
            return {}
        cached = self._facts.setdefault(name, {"base": _rows(found.items()), "variants": {}})
        base = self._base(name)
        cached["variants"][variant] = {
            "gone": [list(key) for key in base if key not in found],
            "facts": _rows((key, fact) for key, fact in found.items() if base.get(key) != fact),
        }
        self._is_new = True
        return found

    def write(self, present: set[str] | None) -> None:
        """Keep what was read, without runs that are not ``present`` if that is known.

        Nobody needs the file, so that errors do not matter.
        """
        gone = set() if present is None else self._runs.keys() - present
        if not self._is_new and len(gone) < _MOST_GONE:
            return
        names = {key.partition("/")[0] for key in (present or self._runs)}
        content = {
            "version": _VERSION,
            "runs": {key: each for key, each in self._runs.items() if key not in gone},
            "facts": {name: each for name, each in self._facts.items() if name in names},
        }
        with suppress(OSError):
            storage.replace_bytes(self._path, json_text.compact(content))


def _written(path: Path) -> list[int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return [about.st_mtime_ns, about.st_size]


def _rows(facts: Iterable[tuple[tuple[str, str], Fact]]) -> list[list[str]]:
    return [[*key, fact.text, fact.exact] for key, fact in facts]


def _facts(rows: Iterable[Sequence[str]]) -> dict[tuple[str, str], Fact]:
    return {(subject, what): Fact(text, exact) for subject, what, text, exact in rows}
