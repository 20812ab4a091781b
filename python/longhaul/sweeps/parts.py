"""The parts of a sweep on disk, each with its shard and checksum, to detect damage and copies."""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

SHARD = b"longhaul_shard"
"""The key in a part's metadata that has the name of its shard."""
_NAME = re.compile(r"(?P<shard>\d{2}-\d{6,})-(?P<checksum>[0-9a-f]{16})\.parquet")


@dataclass(frozen=True)
class Parts:
    """What is in the directory ``parts``."""

    good: dict[str, Path]
    """By shard, in the order of rounds and shards."""
    damaged: dict[Path, str]
    """With what is wrong with each."""


def keep(directory: Path, shard: str, content: bytes) -> Path:
    """Write the part of a shard in one step; returns its path."""
    path = directory / f"{shard}-{_checksum(content)}.parquet"
    storage.replace_bytes(path, content)
    return path


def find(directory: Path) -> Parts:
    """The parts in ``directory``, each read and compared with its checksum and its shard."""
    good: dict[str, Path] = {}
    damaged: dict[Path, str] = {}
    for path in sorted(directory.glob("*.parquet")):
        name = _NAME.fullmatch(path.name)
        try:
            content = path.read_bytes()
        except OSError as error:
            damaged[path] = f"cannot be read: {error.strerror}"
            continue
        if name is None:
            damaged[path] = "is not a part of a sweep"
        elif _checksum(content) != name["checksum"]:
            damaged[path] = "is damaged: its content has changed since it was written (SHA-256)"
        elif _shard_of(content) != name["shard"]:
            damaged[path] = f"is a copy of another part, {_shard_of(content)}"
        elif name["shard"] in good:
            damaged[path] = f"contains the same runs as {good[name['shard']].name}"
        else:
            good[name["shard"]] = path
    return Parts(good, damaged)


def set_aside(path: Path) -> Path | None:
    """Move a damaged part into ``damaged/`` beside ``parts/``; ``None`` if somebody else has done so."""
    folder = path.parent.parent / "damaged"
    with suppress(FileExistsError):
        storage.make_directory(folder)
    target = folder / path.name
    with suppress(FileNotFoundError):
        storage.current().rename(path, target)
        return target
    return None


def refuse_duplicates(parts: Iterable[Path]) -> None:
    """Raise LonghaulError if two parts have the same run: a repetition of a variant counts once."""
    paths, runs = list(parts), list[pa.Table]()
    for number, path in enumerate(paths):
        rows = pq.read_table(path, columns=["variant", "repeat"])
        once = rows.group_by(["variant", "repeat"]).aggregate([])
        runs.append(once.append_column("part", pa.array([number] * len(once), pa.int32())))
    if not runs:
        return
    by_run = pa.concat_tables(runs).group_by(["variant", "repeat"])
    counted = by_run.aggregate([("part", "count"), ("part", "min"), ("part", "max")])
    for place in np.flatnonzero(counted["part_count"].to_numpy() > 1)[:1].tolist():
        row = counted.slice(place, 1).to_pylist()[0]
        first, last = (paths[row[f"part_{which}"]].name for which in ("min", "max"))
        raise LonghaulError(
            Code.RESULTS_DAMAGED,
            f"repetition {row['repeat']} of variant {row['variant']} is in two parts, {first} and {last}",
            remedy="remove the one that is not of this sweep, then run longhaul sweep --resume DIRECTORY",
            exit_code=2,
        )


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _shard_of(content: bytes) -> str | None:
    try:
        metadata = pq.read_schema(BytesIO(content)).metadata or {}
    except (OSError, pa.ArrowException):
        return None
    return metadata.get(SHARD, b"").decode("utf-8", "replace") or None
