"""``artifact.json``: what an artifact holds, and how a repetition of it is evaluated."""

import hashlib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.rerun import Mode

NAME = "artifact.json"
CHECKSUMS = "manifest.sha256"
"""Of all files, as ``sha256sum --check`` reads them."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Tolerance(_Model):
    """How far the mean of a metric may be from the published one."""

    pattern: str
    """Of the names of metrics, such as ``flows.*.goodput``."""
    share: float = Field(ge=0, allow_inf_nan=False)
    """Of the published mean."""


class Group(_Model):
    """Runs that are repetitions of one another: they differ in nothing but the seed."""

    name: str
    mode: Mode
    runs: tuple[str, ...] = Field(min_length=1)
    """Their directories in the artifact."""
    seeds: tuple[int, ...]
    command: str
    """What makes the first of them from its scenario."""
    metrics: tuple[str, ...]
    """Patterns of those that are compared."""
    tolerances: tuple[Tolerance, ...]
    """The last one that fits a metric counts."""
    took_s: float
    """Execution of all of them, when they were made."""

    def tolerance(self, metric: str) -> float:
        """How far the mean of ``metric`` may be from the published one, as a share of that."""
        return next(
            (each.share for each in reversed(self.tolerances) if fnmatchcase(metric, each.pattern)), 0.0
        )


class Description(_Model):
    """All of an artifact."""

    version: Literal[1] = 1
    name: str
    title: str
    authors: tuple[str, ...]
    license: str | None
    created: str
    longhaul: str
    """The version that wrote it."""
    machine: dict[str, Any]
    """Where the runs were made."""
    certificate: dict[str, Any] | None
    """What ``longhaul calibrate`` measured there."""
    groups: tuple[Group, ...]


def read(directory: Path) -> Description:
    """The description of an artifact. Raises LonghaulError if it, or any file of the artifact, is damaged."""
    _check_files(directory)
    try:
        return Description.model_validate_json((directory / NAME).read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise LonghaulError(
            Code.ARTIFACT_DAMAGED,
            f"{directory / NAME}: {place}: {first['msg'].lower()}",
            remedy="use the version of Longhaul that README.md names, or unpack the archive again",
            exit_code=2,
        ) from error


def _check_files(directory: Path) -> None:
    """Compare all files with :data:`CHECKSUMS`."""
    path = directory / CHECKSUMS
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            expected, _, name = line.partition("  ")
            path = directory / name
            if file_digest(path) != expected:
                raise _damaged(f"{path} is damaged")
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(f"{path}: {getattr(error, 'strerror', None) or 'is not text'}") from error


def _damaged(message: str) -> LonghaulError:
    return LonghaulError(Code.ARTIFACT_DAMAGED, message, remedy="unpack the archive again", exit_code=2)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_artifact(directory: Path) -> bool:
    """Whether a directory is one that an archive unpacked to."""
    return (directory / NAME).is_file()


EXACT = Tolerance(pattern="*", share=0.05)
"""Of simulations and of runs on the virtual clock, where another version computes other results."""
MEASURED = Tolerance(pattern="*", share=0.15)
"""Of runs on the real clock."""
ON_THE_REAL_CLOCK = ("flows.*.goodput", "flows.*.rtt.p50", "probes.*.rtt.p50", "programs.*.wall_time")
"""Metrics of them that are compared; counts differ from run to run."""


def defaults(mode: Mode, metrics: Sequence[str]) -> tuple[tuple[str, ...], Tolerance]:
    """Patterns of metrics and the tolerance of a mode; ``metrics`` are the defaults of comparisons."""
    if mode in ("live", "mixed"):
        return ON_THE_REAL_CLOCK, MEASURED
    return tuple(metrics), EXACT
