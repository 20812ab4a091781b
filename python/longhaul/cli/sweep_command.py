"""``longhaul sweep`` from its options to its output."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from longhaul import log
from longhaul.cli.sweep_progress import SweepProgress
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.arrays import write_scripts
from longhaul.sweeps.pilot import estimate_cost
from longhaul.sweeps.preparation import prepare
from longhaul.sweeps.trials import SweepClock, trials_of
from longhaul.sweeps.workers import workers_of
from longhaul.units.text import count_text

SHOWN = 5000
"""Rows of the summary that are looked at for the table on the terminal."""


@dataclass(frozen=True)
class Asked:
    """The options, as they were given."""

    scenario: Path | None
    settings: dict[str, str]
    axes: dict[str, str]
    repeat: int | None
    design: str | None
    points: int | None
    seeds: str | None
    metrics: tuple[str, ...]
    until: str | None
    clock: SweepClock | None
    kernel: str | None
    workers: int | None
    cluster: str | None
    resume: Path | None
    share: str | None
    array: int | None
    dry_run: bool
    runs: Path
    report: bool
    as_json: bool
    memory_bytes: int | None = None

    @property
    def options(self) -> Options:
        """What they say about the sweep."""
        return Options(
            axes=self.axes or None,
            design=self.design,
            points=self.points,
            repeat=self.repeat,
            seeds=self.seeds,
            metrics=self.metrics,
            until=self.until,
        )


def run_command(asked: Asked, *, argv: list[str]) -> int:
    """Run the sweep, print its results, and return the exit code. Raises LonghaulError."""
    _check(asked)

    if asked.resume is not None:
        folder, prepared = sweeps.prepare_rest(asked.resume)
        share = sweeps.share_of(asked.share) if asked.share else None
        with workers_of(
            asked.workers, asked.cluster, trials=prepared.job.trials, memory_bytes=asked.memory_bytes
        ) as workers:
            progress = SweepProgress(prepared.points, workers=workers.describe())
            swept = sweeps.execute(
                folder, prepared, workers, share=share, report=asked.report, watching=progress
            )
        return swept.exit_code if share else _show(swept, as_json=asked.as_json)
    assert asked.scenario is not None
    trials = trials_of(asked.clock or "simulated", asked.kernel)
    prepared = prepare(asked.scenario, settings=asked.settings, options=asked.options, trials=trials)
    if asked.dry_run:
        log.warn(*prepared.warnings)
        one = 1 if trials is not None and trials.take_turns else len(os.sched_getaffinity(0))
        _show_estimate(estimate_cost(prepared, cores=asked.workers or one), as_json=asked.as_json)
        return 0
    if asked.array:
        folder = sweeps.begin(prepared, runs=asked.runs, argv=argv)
        folder.update(status="incomplete", reason="separate jobs run its shares")
        for script, start in write_scripts(folder.path, jobs=asked.array, memory_bytes=asked.memory_bytes):
            print(f"{script}\n  {start}")
        print(f"when all have ended: longhaul sweep --resume {folder.path}")
        return 0
    with workers_of(asked.workers, asked.cluster, trials=trials, memory_bytes=asked.memory_bytes) as workers:
        folder = sweeps.begin(prepared, runs=asked.runs, argv=argv)
        progress = SweepProgress(prepared.points, workers=workers.describe())
        swept = sweeps.execute(folder, prepared, workers, report=asked.report, watching=progress)
    return _show(swept, as_json=asked.as_json)


def _check(asked: Asked) -> None:
    if (asked.scenario is None) == (asked.resume is None):
        raise LonghaulError(
            Code.ARGUMENT_MISSING,
            "name a scenario, or a sweep to resume",
            remedy="longhaul sweep SCENARIO, or longhaul sweep --resume DIR",
            exit_code=2,
        )
    given = asked.options != Options() or asked.settings or asked.array or asked.clock or asked.kernel
    if asked.resume is not None and given:
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "a resumed sweep keeps its options",
            remedy="leave its options out, or begin a new one",
            exit_code=2,
        )
    if asked.kernel is not None and asked.clock != "virtual":
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "--kernel is the hosts' own",
            remedy="add --clock virtual",
            exit_code=2,
        )
    if asked.share is not None and asked.resume is None:
        raise LonghaulError(
            Code.OPTION_CONFLICT, "--share requires --resume", remedy="add --resume DIR", exit_code=2
        )


def _show(swept: sweeps.Swept, *, as_json: bool) -> int:
    from longhaul.cli.terminal.sweep import print_sweep

    table = swept.directory / "summary.parquet"
    found = pq.read_table(table) if table.is_file() else None
    rows: list[dict[str, Any]] = []
    if found is not None:
        rows = (found if as_json else found.slice(0, SHOWN)).to_pylist()
    if as_json:
        print(json.dumps({"directory": str(swept.directory), **swept.summary, "metrics": rows}, indent=1))
    else:
        print_sweep(swept.summary, rows)
    to = sys.stderr if as_json else sys.stdout
    place = swept.directory / "report.html"
    print(f"report: {place}" if place.is_file() else f"results: {swept.directory}", file=to)
    if swept.summary["status"] != "done":
        print(f"to resume: longhaul sweep --resume {swept.directory}", file=to)
    return swept.exit_code


def _show_estimate(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found, indent=1))
        return
    about = "about " if found["extrapolated"] else ""
    more = " at first" if found["more_until"] else ""
    print(
        f"{count_text(found['variants'], 'variant')} x {count_text(found['repeats'], 'seed')} = "
        f"{count_text(found['points'], 'run')}{more}"
    )
    print(f"{count_text(found['shards'], 'shard')} of at most {count_text(found['shard_points'], 'run')}")
    tried = f"{count_text(found['tried'], 'variant')} tried here"
    one = _span(found["point_least_s"], found["point_most_s"])
    if found["live"]:
        print(f"{tried}: one run takes {about}{one}")
        workers = found["cores"]
        how = "one after another" if workers == 1 else f"{workers} at the same time"
        print(f"all runs: {about}{_estimated(found, 'wall')}, {how}")
    else:
        print(f"{tried}: one run takes {about}{one} of one core")
        print(
            f"all runs: {about}{_estimated(found, 'core')} of one core, "
            f"{_estimated(found, 'wall')} on {count_text(found['cores'], 'core')}"
        )
    print(f"beside them: {_hours(found['start_s'])} to start and to check, then summary and report")


def _estimated(found: dict[str, Any], what: str) -> str:
    """``12 s (9.1 to 15 s)``."""
    low, mean, high = (found[f"{what}_{key}"] for key in ("low_s", "s", "high_s"))
    return _hours(mean) if _hours(low) == _hours(high) else f"{_hours(mean)} ({_span(low, high)})"


def _span(low: float, high: float) -> str:
    least, most = _hours(low), _hours(high)
    if least == most:
        return least
    unit = f" {most.rpartition(' ')[2]}"
    return f"{least.removesuffix(unit)} to {most}"


def _hours(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms" if seconds < 0.1 else f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.2g} min" if seconds < 7200 else f"{seconds / 3600:.2g} h"
