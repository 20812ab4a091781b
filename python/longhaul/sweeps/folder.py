"""The directory of a sweep: its settings, and its finished parts."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from longhaul import processes, storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results import ending, run_record
from longhaul.results.directory import created, latest_of, machine
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import parts
from longhaul.sweeps.parts import Parts

Json = dict[str, Any]


@dataclass(frozen=True)
class Folder:
    """A sweep on disk. Its parts say by themselves how far it has come."""

    path: Path

    @property
    def parts(self) -> Path:
        """The directory of the parts."""
        return self.path / "parts"

    def find_parts(self) -> Parts:
        """The parts that are there, compared with their checksums."""
        return parts.find(self.parts)

    def keep(self, shard: str, part: bytes) -> None:
        """Write the part of a shard in one step."""
        parts.keep(self.parts, shard, part)

    def read(self) -> Json:
        """The contents of ``sweep.json``."""
        return run_record.read(self.path / "sweep.json")

    def update(self, **changes: Any) -> None:
        """Change some fields of ``sweep.json``."""
        run_record.update(self.path / "sweep.json", **changes)

    def begin(self) -> None:
        """From now on this process does the sweep, be it new or resumed."""
        run_record.reserve(self.path)
        self.update(status=ending.RUNNING, reason=None, processes={"sweep": processes.identify()})

    def inputs(self) -> dict[str, bytes]:
        """The files that variants name, by the names that they use."""
        return {name: (self.path / kept).read_bytes() for name, kept in self.read()["inputs"].items()}

    def options(self) -> Options:
        """What was asked for beside the scenario."""
        return Options(**self.read()["options"])


def create(
    runs: Path,
    name: str,
    *,
    content: bytes,
    settings: Mapping[str, str],
    options: Options,
    inputs: Mapping[str, bytes],
    facts: Mapping[str, Any],
    argv: list[str],
) -> Folder:
    """Make the directory of a new sweep; ``facts`` go into ``sweep.json``, too."""
    now = datetime.now(UTC)
    asked = json.dumps([dict(settings), asdict(options)]).encode()
    digest = hashlib.sha256(content + asked).hexdigest()
    with created(runs / name, f"{now:%Y%m%dT%H%M%SZ}-sweep-{digest[:8]}", mode="sweep") as new:
        storage.make_directory(new.part / "parts")
        storage.replace_bytes(new.part / "scenario.yaml", content)
        run_record.write(
            new.part / "sweep.json",
            {
                "status": ending.RUNNING,
                "reason": None,
                "processes": {"sweep": processes.identify()},
                "mode": "sweep",
                "name": name,
                "argv": argv,
                "started": now.isoformat(timespec="seconds"),
                "versions": {"longhaul": version("longhaul")},
                "host": machine(),
                "scenario": hashlib.sha256(content).hexdigest(),
                "settings": dict(settings),
                "options": asdict(options),
                "inputs": dict(_keep(new.part, inputs)),
                **facts,
            },
        )
    return Folder(new.directory)


def find(path: Path) -> Folder:
    """The sweep in ``path``. Raises LonghaulError if there is none, or if it was another version's."""
    if not (path / "sweep.json").is_file():
        raise LonghaulError(
            Code.NOT_A_SWEEP,
            f"{path} is not a sweep: it has no sweep.json",
            remedy=latest_of(path, mode="sweep") or "name one, such as runs/NAME/latest-sweep",
            exit_code=2,
        )
    folder = Folder(path.resolve())
    began, here = folder.read()["versions"]["longhaul"], version("longhaul")
    if began != here:
        raise LonghaulError(
            Code.VERSION_MISMATCH,
            f"{path} began with longhaul {began}, this is {here}: its runs would differ",
            remedy="install that version, or begin a new sweep",
            exit_code=2,
        )
    return folder


def _keep(directory: Path, inputs: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for name, content in inputs.items():
        kept = f"inputs/{hashlib.sha256(content).hexdigest()[:8]}-{Path(name).name}"
        if not (directory / "inputs").is_dir():
            storage.make_directory(directory / "inputs")
        storage.replace_bytes(directory / kept, content)
        yield name, kept
