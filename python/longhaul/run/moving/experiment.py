"""From requests to the report: what ``longhaul transfer run`` does."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from longhaul.run.moving.preparing import prepare
from longhaul.scheduling.steering import Care


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """How data are to be moved."""

    simulated: bool = False
    mover: str = "paced"
    command: str | None = None
    server: str | None = None
    pacing: str = "kernel"
    """Who paces our own sender: ``kernel`` or ``user``."""
    sudo: bool = False
    memory_bytes: int | None = None
    """That the run may use; half of what is free if left out."""


def carry_out(
    requests: Path,
    scenario: Path,
    *,
    care: Care,
    wanted: Wanted,
    settings: Mapping[str, str],
    seed: int | None = None,
    name: str | None = None,
    runs: Path,
    argv: list[str],
    report: bool = True,
    as_json: bool = False,
) -> int:
    """Plan, move, compare; returns the exit code."""
    from longhaul.run import experiment
    from longhaul.run.moving import living, simulated
    from longhaul.run.moving.movers import mover
    from longhaul.run.progress import Progress, Simulating
    from longhaul.scheduling.policies import known

    known(care.policy)
    chosen = mover(wanted.mover, command=wanted.command, server=wanted.server)
    job = prepare(requests, scenario, settings=settings, care=care, seed=seed)
    for warning in job.resolved.warnings:
        print(f"longhaul: {warning}", file=sys.stderr)
    if wanted.simulated:
        with Simulating(None) as progress:
            made = simulated.run(
                job,
                runs=runs,
                argv=argv,
                name=name,
                progress=progress.tell,
                memory_bytes=wanted.memory_bytes,
            )
        directory, reason = made.directory, made.reason
    else:
        finished = living.run(
            job,
            runs=runs,
            argv=argv,
            name=name,
            mover=chosen,
            pacing=wanted.pacing,
            watched=Progress,
            sudo=wanted.sudo,
            report=report,
            memory_bytes=wanted.memory_bytes,
        )
        directory, reason = finished.directory, finished.reason
    summary = experiment.conclude(directory, reason=reason, report=report)
    experiment.show(summary, directory, as_json=as_json, report=report)
    return experiment.exit_code(summary)
