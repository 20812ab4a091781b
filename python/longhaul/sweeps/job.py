"""The job that every worker of a sweep has, and the runs of one shard."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import islice
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from longhaul import _longhaul
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.plan import WAYS, Measure, Plan
from longhaul.run.sim import simulated_plan
from longhaul.scenario.expand.axes import value_of
from longhaul.scenario.model.metrics import LINK, matching_metrics
from longhaul.scenario.sweeps.design import seed_of
from longhaul.scenario.sweeps.variants import Base, base_of
from longhaul.scenario.syntax.yaml_tree import read_tree
from longhaul.sweeps.columns import schema
from longhaul.sweeps.live_rows import rows_of_summary
from longhaul.sweeps.parts import SHARD
from longhaul.sweeps.rows import Variant, rows_of
from longhaul.sweeps.trials import LiveTrials, UnableMachineError, run_trial

Json = dict[str, Any]

RUNS_AT_ONCE = 32
"""Plans handed to one native call: enough to hide its cost, few enough to hold in memory."""
NEVER_SAMPLE_NS = 10**15
"""A sampling interval that no run reaches: series are not kept."""


@dataclass(frozen=True)
class Piece:
    """Some repetitions of one variant."""

    variant: int
    values: tuple[str, ...]
    first: int
    """The first repetition, from 0."""
    count: int


@dataclass(frozen=True)
class Shard:
    """The runs of one part. The same shard gives the same part, byte for byte, wherever it runs."""

    round: int
    number: int
    pieces: tuple[Piece, ...]

    @property
    def name(self) -> str:
        """What the file name of its part begins with."""
        return f"{self.round:02d}-{self.number:06d}"

    @property
    def points(self) -> int:
        """How many runs it has."""
        return sum(piece.count for piece in self.pieces)


@dataclass(frozen=True)
class Job:
    """A sweep as workers see it: no files, nothing of the machine."""

    name: str
    """What errors call the scenario."""
    content: bytes
    settings: Mapping[str, str]
    axes: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    """Name and type of the column of each axis."""
    contents: Mapping[str, bytes]
    """The files that variants name."""
    seeds: Literal["paired", "independent"]
    metrics: tuple[str, ...]
    """Patterns of the metrics that are asked for; of links that end at a host, rows are kept only then."""
    version: str
    """Of Longhaul: another would give other results."""
    trials: LiveTrials | None = None
    """How live runs are made; ``None`` if trials are simulations."""

    def wants(self, link: str) -> bool:
        """Whether a metric of ``link`` (``links.NAME``) is asked for by more than its ending."""
        names = [f"{link}.{way}.{measure}" for way in WAYS for measure in LINK]
        asked = (each for each in self.metrics if each.startswith("links."))
        return any(matching_metrics(each, names) for each in asked)

    @cached_property
    def base(self) -> Base:
        """The scenario, read once in every process."""
        source, root = read_tree(self.name, self.content)
        return base_of(source, root, self.axes, settings=self.settings, contents=self.contents)


@dataclass(frozen=True)
class _Run:
    """One run that is ready, or why it cannot be."""

    head: Json
    variant: Variant | None
    text: str
    error: str | None = None


def run_shard(
    job: Job, shard: Shard, stop: _longhaul.Stop | None = None, *, memory_bytes: int | None = None
) -> bytes | None:
    """Do every run of ``shard``; returns its part as Parquet, or ``None`` if stopped.

    A run that cannot be has a row with its error; the others go on. A live run, which is a process of its
    own, may use ``memory_bytes`` of memory. Raises LonghaulError for what another machine, or this one later,
    may be able to do.
    """
    if version("longhaul") != job.version:
        raise LonghaulError(
            Code.VERSION_MISMATCH,
            f"this worker has longhaul {version('longhaul')}, the sweep began with {job.version}",
            remedy="install the same version everywhere",
        )
    if job.trials is not None:
        found = _live_rows(job, job.trials, shard, stop, memory_bytes)
        return None if found is None else as_parquet(found, schema(job.columns, live=True), shard=shard.name)
    rows: list[Json] = []
    runs = (run for piece in shard.pieces for run in _runs(job, piece))
    while batch := list(islice(runs, RUNS_AT_ONCE)):
        ready = [run for run in batch if run.error is None]
        outcomes = _longhaul.simulate_many([run.text for run in ready], stop=stop)
        if len(outcomes) < len(ready):
            return None
        results = iter(outcomes)
        for run in batch:
            result, pings, error = (None, None, run.error) if run.error else next(results)
            if result is None or run.variant is None:
                rows.append({**run.head, "error": error})
                continue
            rows += [{**run.head, **row} for row in rows_of(run.variant, result, pings)]
    return as_parquet(rows, schema(job.columns), shard=shard.name)


def point_plan(
    base: Base, values: Sequence[str], *, seed: int | None = None
) -> tuple[Plan, list[Json], str, bool]:
    """The plan of a variant, its traffic, the plan's JSON without seed and opening brace, and a flag.

    The flag says whether something starts at random: then the rest of the plan depends on the seed, too.
    Raises LonghaulError.
    """
    resolved = base.resolve(values, seed=seed)
    plan, traffic = simulated_plan(resolved)
    measure: Measure = {
        **plan["measure"],
        "monitor": None,
        "every_ns": NEVER_SAMPLE_NS,
        "captures": [],
        "packet_links": [],
        "journal": False,
    }
    plan = {**plan, "measure": measure}
    rest = json.dumps({key: value for key, value in plan.items() if key != "seed"})
    return plan, traffic, rest[1:], bool(resolved.starts)


def with_seed(rest: str, seed: int) -> str:
    """A whole plan again; nothing but this depends on the seed."""
    return f'{{"seed": {seed}, {rest}'


def _live_rows(
    job: Job,
    trials: LiveTrials,
    shard: Shard,
    stop: _longhaul.Stop | None,
    memory_bytes: int | None,
) -> list[Json] | None:
    """The rows of live runs, one after another; ``None`` if stopped."""
    rows: list[Json] = []
    for piece in shard.pieces:
        for repeat in range(piece.first, piece.first + piece.count):
            head: Json = {**_head(job, piece), "repeat": repeat}
            try:
                resolved = job.base.resolve(piece.values)
                plan = resolved.plan
                head["seed"] = seed_of(plan["seed"], piece.variant, repeat, kind=job.seeds)
                planned = trials.plan_here(replace(resolved, plan={**plan, "seed": head["seed"]}))
            except UnableMachineError:
                raise
            except LonghaulError as error:
                rows.append({**head, "error": str(error).partition("\n")[0]})
                continue
            trial = run_trial(planned, trials.directory, stop=stop, memory_bytes=memory_bytes)
            if trial is None:
                return None
            # A trial whose program or expectation failed was measured nevertheless.
            if trial.summary is not None:
                found = rows_of_summary(trial.summary, planned, job.wants)
                rows += [{**head, **row} for row in found]
            if trial.error is not None:
                rows.append({**head, "error": trial.error})
    return rows


def _head(job: Job, piece: Piece) -> Json:
    """What every row of a variant begins with: its number, and its values by column."""
    head: Json = {"variant": piece.variant}
    for axis, (column, kind), text in zip(job.axes, job.columns, piece.values, strict=True):
        head[column] = value_of(axis, text, is_number=kind != "string")
    return head


def _runs(job: Job, piece: Piece) -> Iterator[_Run]:
    """The runs of a piece: the plan is made once, as only the seed differs."""
    head = _head(job, piece)
    repeats = range(piece.first, piece.first + piece.count)
    try:
        plan, traffic, rest, starts_vary = point_plan(job.base, piece.values)
        base_seed = plan["seed"]
    except LonghaulError as error:
        words = str(error).partition("\n")[0]
        yield from (_Run({**head, "repeat": repeat}, None, "", words) for repeat in repeats)
        return
    variant = Variant(plan, traffic, job.wants)
    for repeat in repeats:
        seed = seed_of(base_seed, piece.variant, repeat, kind=job.seeds)
        if starts_vary:
            # Not only the seed differs, but what starts at random, too.
            plan, traffic, rest, _ = point_plan(job.base, piece.values, seed=seed)
            variant = replace(variant, plan=plan, traffic=traffic)
        yield _Run({**head, "repeat": repeat, "seed": seed}, variant, with_seed(rest, seed))


def as_parquet(rows: Sequence[Json], columns: pa.Schema, *, shard: str) -> bytes:
    """``rows`` as a Parquet file that names its shard; what a row does not have is null."""
    arrays = [pa.array([row.get(field.name) for row in rows], type=field.type) for field in columns]
    out = io.BytesIO()
    named = columns.with_metadata({SHARD: shard})
    pq.write_table(pa.Table.from_arrays(arrays, schema=named), out, compression="zstd")
    return out.getvalue()
