"""``longhaul sweep``, from the scenario to the summary."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.pictures import Drawings, Drawn
from longhaul.results import ending, manifest, run_record
from longhaul.results.frames import Library, frame
from longhaul.run.memory import MemoryLimitError
from longhaul.scenario.expand.axes import value_of
from longhaul.scenario.model.metrics import matching_metrics
from longhaul.storage import replace_text, replacing
from longhaul.sweeps import folder as folders
from longhaul.sweeps.folder import Folder
from longhaul.sweeps.local import Workers
from longhaul.sweeps.parts import refuse_duplicates, set_aside
from longhaul.sweeps.pilot import try_one
from longhaul.sweeps.preparation import Prepared, prepare
from longhaul.sweeps.progress import Logged, Watching
from longhaul.sweeps.summary import (
    MOST_DRAWN,
    count_points,
    count_verdicts,
    first_errors,
    more_runs,
    summarise,
    variants_without_runs,
)
from longhaul.sweeps.trials import LiveTrials

Json = dict[str, Any]


@dataclass(frozen=True)
class Share:
    """One of several processes that do a sweep together without knowing each other."""

    number: int
    """From 0."""
    of: int


@dataclass(frozen=True)
class Swept(Drawn):
    """A sweep that has ended, or come as far as it could. A notebook shows its first variants."""

    directory: Path
    summary: Json = field(repr=False)
    """The contents of ``summary.json``; empty for a :class:`Share`."""
    exit_code: int
    """0 all runs done; 1 some failed, or could not be done; 130 interrupted."""

    def table(self, name: str = "summary") -> dict[str, Any]:
        """``summary`` (a row for each variant and metric) or ``parts`` (every run), as columns."""
        columns: dict[str, Any] = self._arrow(name).to_pydict()
        return columns

    def frame(self, name: str = "summary", library: Library = "pandas") -> Any:
        """The same table as a data frame of ``pandas`` or ``polars``.

        Install the library with ``pip install "longhaul[pandas]"`` or ``"longhaul[polars]"``. Raises
        LonghaulError if it is not installed.
        """
        return frame(self._arrow(name), library)

    def _arrow(self, name: str) -> pa.Table:
        return pq.read_table(self.directory / ("summary.parquet" if name == "summary" else "parts"))

    def _drawings(self) -> Drawings:
        from longhaul.sweeps.page import drawings

        return drawings(self.directory)

    def _repr_html_(self) -> str:
        from longhaul.sweeps.wording import sweep_html

        table = self.directory / "summary.parquet"
        return sweep_html(self.summary, pq.read_table(table).to_pylist() if table.is_file() else [])


def begin(prepared: Prepared, *, runs: Path, argv: list[str], name: str | None = None) -> Folder:
    """Make the directory of a sweep that is new."""
    trials = prepared.job.trials
    point_s = 0.0 if trials else try_one(prepared).point_s(prepared.sweep.repeats)
    return folders.create(
        runs,
        name or prepared.name,
        content=prepared.content,
        settings=prepared.job.settings,
        options=prepared.options,
        inputs=prepared.inputs,
        facts={
            "axes": [
                {"name": axis.name, "column": column, "values": list(axis.values)}
                for axis, (column, _kind) in zip(prepared.design.axes, prepared.job.columns, strict=True)
            ],
            "design": prepared.design.kind,
            "variants": prepared.design.variants,
            "repeats": prepared.sweep.repeats,
            "seeds": prepared.sweep.seeds,
            "shard_points": prepared.shard_size(point_s),
            "clock": trials.clock if trials else "simulated",
            "trials": trials and trials.as_json(),
        },
        argv=argv,
    )


def prepare_rest(path: Path) -> tuple[Folder, Prepared]:
    """A sweep that began before. Raises LonghaulError if ``path`` is not one."""
    folder = folders.find(path)
    record = folder.read()
    live = record.get("trials")
    return folder, prepare(
        folder.path / "scenario.yaml",
        settings=record["settings"],
        options=folder.options(),
        inputs=folder.inputs(),
        trials=LiveTrials.from_json(live) if live else None,
    )


def execute(
    folder: Folder,
    prepared: Prepared,
    workers: Workers,
    *,
    share: Share | None = None,
    report: bool = True,
    watching: Watching | None = None,
) -> Swept:
    """Do what is missing of a sweep, and write its results unless others do a share of it.

    ``watching`` receives its progress; if left out, warnings and failures are logged.
    """
    with ending.recorded(folder.path):
        if share is None:
            folder.begin()
        return _execute(folder, prepared, workers, share=share, report=report, watching=watching)


def _execute(
    folder: Folder,
    prepared: Prepared,
    workers: Workers,
    *,
    share: Share | None,
    report: bool,
    watching: Watching | None,
) -> Swept:
    errors: list[Exception] = []
    status, why = "done", None
    beyond: MemoryLimitError | None = None
    with watching or Logged() as progress:
        for warning in prepared.warnings:
            progress.warn(warning.headline)
        try:
            _rounds(folder, prepared, workers, progress, errors, share)
        except KeyboardInterrupt as interruption:
            status, why = "interrupted", str(interruption) or None
        except MemoryLimitError as exceeded:
            progress.fail(str(exceeded), exceeded.code)
            beyond = exceeded
        for error in errors[:1]:
            code = error.code if isinstance(error, LonghaulError) else Code.RUN_FAILED
            progress.fail(f"{len(errors)} shards could not be done, the first: {error}", code)
    if share is not None:
        return Swept(folder.path, {}, 130 if status == "interrupted" else int(bool(errors or beyond)))
    if beyond:
        summary = conclude(folder, prepared, status="incomplete", reason=str(beyond))
    elif errors:
        why = f"{len(errors)} shards could not be done, the first: {errors[0]}"
        summary = conclude(folder, prepared, status="incomplete", reason=why)
    else:
        summary = conclude(folder, prepared, status=status, reason=why)
    if report:
        _write_report(folder)
    failed = bool(errors or beyond or summary["failed"])
    return Swept(folder.path, summary, 130 if status == "interrupted" else int(failed))


def rewrite(path: Path) -> Path:
    """Summary and report of the sweep in ``path`` again, from its parts; returns the report's path."""
    folder, prepared = prepare_rest(path)
    ended = ending.settle(folder.path)
    conclude(folder, prepared, status=ended.status, reason=ended.reason)
    return _write_report(folder)


def _write_report(folder: Folder) -> Path:
    from longhaul.sweeps.page import write_sweep_report

    return write_sweep_report(folder.path)


def _rounds(
    folder: Folder,
    prepared: Prepared,
    workers: Workers,
    progress: Watching,
    errors: list[Exception],
    share: Share | None,
) -> None:
    """Round by round: which runs a round has follows from the parts of the rounds before alone."""
    size = int(folder.read()["shard_points"])
    runs = dict.fromkeys(range(prepared.design.variants), prepared.sweep.repeats)
    added: dict[int, tuple[int, int]] | None = None
    complete: list[Path] = []
    round_ = 0
    while True:
        done = _good_parts(folder, progress).keys()
        progress.found(
            sum(each.points for each in prepared.shards(round_, added, size=size) if each.name in done)
        )
        missing = (
            each
            for each in prepared.spread_shards(round_, added, size=size)
            if each.name not in done and (share is None or each.number % share.of == share.number)
        )
        for shard, part in workers.run(prepared.job, missing):
            if isinstance(part, Exception):
                errors.append(part)
                continue
            folder.keep(shard.name, part)
            progress.done(shard.points)
        if errors or share is not None or prepared.sweep.until is None:
            return
        found = folder.find_parts().good
        complete += [path for name, path in found.items() if name.startswith(f"{round_:02d}-")]
        added = more_runs(prepared.sweep.until, complete, runs)
        if not added:
            return
        for variant, (first, more) in added.items():
            runs[variant] = first + more
        progress.add(sum(more for _first, more in added.values()))
        round_ += 1


def _good_parts(folder: Folder, progress: Watching) -> dict[str, Path]:
    """The parts that are there by shard; damaged ones are moved away, so that their runs are repeated."""
    found = folder.find_parts()
    for path, what in found.damaged.items():
        if set_aside(path):
            progress.warn(f"parts/{path.name} {what}; moved to damaged/, and its runs are repeated")
    return found.good


def conclude(folder: Folder, prepared: Prepared, *, status: str, reason: str | None = None) -> Json:
    """Write ``summary.parquet`` and ``summary.json`` of the parts that there are, and how the sweep ended."""
    found = folder.find_parts()
    if found.damaged and status != ending.RUNNING:
        path, what = next(iter(found.damaged.items()))
        others = f", and {len(found.damaged) - 1} more" if len(found.damaged) > 1 else ""
        status, reason = "incomplete", f"parts/{path.name} {what}{others}; repeat its runs with --resume"
    parts = list(found.good.values())
    refuse_duplicates(parts)
    points, failed = count_points(parts)
    axes = [column for column, _kind in prepared.job.columns]
    is_mapped = prepared.design.kind == "grid" and prepared.design.variants <= MOST_DRAWN
    summary: Json = {
        "name": folder.read()["name"],
        "status": status,
        "design": prepared.design.kind,
        "variants": prepared.design.variants,
        "points": points,
        "failed": failed,
        "verdicts": count_verdicts(parts),
        "errors": [
            {"variant": variant, "repeat": repeat, "error": error}
            for variant, repeat, error in first_errors(parts)
        ],
        "axes": [
            {
                "name": axis.name,
                "column": column,
                "values": [value_of(axis.name, each, is_number=kind != "string") for each in axis.values],
            }
            for axis, (column, kind) in zip(prepared.design.axes, prepared.job.columns, strict=True)
        ],
        "not_run": variants_without_runs(parts, prepared.design.variants) if is_mapped else [],
        "not_measured": [],
    }
    if parts:
        table = summarise(parts, prepared.sweep.metrics, axes=axes)
        names = [str(each) for each in table["metric"].unique().to_pylist()]
        asked = prepared.sweep.metrics if "metrics" in prepared.sweep.model_fields_set else ()
        summary["not_measured"] = [each for each in asked if not matching_metrics(each, names)]
        with replacing(folder.path / "summary.parquet") as file:
            pq.write_table(table, file, compression="zstd")
    replace_text(folder.path / "summary.json", json.dumps(summary, indent=1) + "\n")
    was_running = folder.read()["status"] == ending.RUNNING
    folder.update(status=status, reason=reason or ending.REASONS.get(status))
    if status != ending.RUNNING:
        run_record.release(folder.path)
        ending.remove_unfinished(folder.path, may_be_shared=not was_running)
        manifest.write(folder.path)
    return summary


def share_of(text: str) -> Share:
    """The share that ``3/20`` names: the third of twenty, counted from 0. Raises LonghaulError."""
    number, slash, of = text.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal() or int(number) >= int(of):
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f'"{text}" is not a share of a sweep',
            remedy='write for example "0/20" to "19/20"',
            exit_code=2,
        )
    return Share(int(number), int(of))
