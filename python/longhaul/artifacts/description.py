"""``artifact.json``: what an artifact holds, and how a repetition of it is evaluated."""

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from longhaul.artifacts import checksums
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.rerun import Mode
from longhaul.studies.claims import How

NAME = "artifact.json"


def _inside(place: str) -> str:
    if not checksums.is_inside(place):
        raise PydanticCustomError("place", "is not the name of a file or directory in the artifact")
    return place


Place = Annotated[str, AfterValidator(_inside)]
"""Of a file or a directory, relative to that of the artifact."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class About(_Model):
    """What artifacts of every kind have."""

    version: Literal[1] = 1
    name: str
    title: str
    authors: tuple[str, ...]
    license: str | None
    created: str
    """When the newest result was made, in ISO 8601."""
    longhaul: str
    """The version that wrote it."""


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
    """Their directories: places in an artifact, or paths of runs that are not in one."""
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


class RunsDescription(About):
    """An artifact of runs."""

    kind: Literal["runs"] = "runs"
    machine: dict[str, Any]
    """Where the runs were made."""
    certificate: dict[str, Any] | None
    """What ``longhaul calibrate`` measured there."""
    groups: tuple[Group, ...]

    @field_validator("groups")
    @classmethod
    def _inside_each(cls, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        for group in groups:
            for run in group.runs:
                _inside(run)
        return groups

    @property
    def counted(self) -> str:
        """How much it holds, in a few words."""
        return f"runs: {sum(len(group.runs) for group in self.groups)}"

    @property
    def took_s(self) -> float:
        """Execution of all, when they were made."""
        return sum(group.took_s for group in self.groups)


class PublishedPart(_Model):
    """A part of a study with its results."""

    name: str
    how: How
    about: str
    command: str
    """What measures it, in the directory of the artifact; its results replace those there."""
    figures: tuple[Place, ...]
    tables: tuple[Place, ...]
    notes: tuple[str, ...]
    provenance: dict[str, Any] | None
    """``None`` if it is not measured."""

    @property
    def took_s(self) -> float | None:
        """Execution and analysis together; ``None`` if it is not measured."""
        return None if self.provenance is None else float(self.provenance["took_s"])

    @property
    def analysis_s(self) -> float | None:
        """What of it is analysis: the time after the last measurement; ``None`` if that is not recorded."""
        recorded = (self.provenance or {}).get("analysis_s")
        return None if recorded is None else float(recorded)

    @property
    def execution_s(self) -> float | None:
        """The time without analysis; ``None`` if that is not recorded."""
        if self.took_s is None or self.analysis_s is None:
            return None
        return max(self.took_s - self.analysis_s, 0.0)


class StudyDescription(About):
    """An artifact of a study."""

    kind: Literal["study"] = "study"
    question: str
    folder: Place
    """Of the study: claims, programs, scenarios and published results."""
    parts: tuple[PublishedPart, ...]
    claims: tuple[dict[str, Any], ...]
    """Each with its rule, numbers, verdict and what was found, as ``longhaul study show --json`` has them."""

    @property
    def counted(self) -> str:
        """How much it holds, in a few words."""
        return f"claims: {len(self.claims)}, parts: {len(self.measured)}"

    @property
    def measured(self) -> tuple[PublishedPart, ...]:
        """The parts with results."""
        return tuple(each for each in self.parts if each.provenance is not None)

    @property
    def took_s(self) -> float:
        """Execution and analysis of all parts, when they were measured."""
        return sum(each.took_s or 0.0 for each in self.measured)


Description = RunsDescription | StudyDescription
_KINDS: Mapping[str, type[RunsDescription] | type[StudyDescription]] = {
    "runs": RunsDescription,
    "study": StudyDescription,
}


def read(directory: Path) -> Description:
    """The description of an artifact. Raises LonghaulError if it, or any file of the artifact, is damaged."""
    checksums.check(directory)
    path = directory / NAME
    content = path.read_bytes()
    try:
        kind = json.loads(content).get("kind", "runs")
        return _KINDS[kind].model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise _of_another_version(f"{path}: {place}: {first['msg'].lower()}") from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise _of_another_version(f"{path} does not describe runs or a study") from error


def _of_another_version(message: str) -> LonghaulError:
    remedy = "use the version of Longhaul that README.md names, or unpack the archive again"
    return LonghaulError(Code.ARTIFACT_DAMAGED, message, remedy=remedy, exit_code=2)


def read_one(directories: Sequence[Path]) -> Description | None:
    """The description of an artifact, if ``directories`` are one that an archive unpacked to; else ``None``.

    Raises LonghaulError if it is damaged.
    """
    if len(directories) == 1 and (directories[0] / NAME).is_file():
        return read(directories[0])
    return None


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
