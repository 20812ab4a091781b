"""``longhaul transfer run``, from the requests to the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from longhaul import log
from longhaul.transfers.execute.preparation import prepare
from longhaul.transfers.plan.progress import Care


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """How data are to be moved."""

    simulated: bool = False
    program: str = "paced"
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
    from longhaul.cli.experiments import conclude, show
    from longhaul.cli.progress import Progress, Simulating
    from longhaul.run import conclusion
    from longhaul.transfers.execute import live, simulation
    from longhaul.transfers.execute.transfer_programs import transfer_program
    from longhaul.transfers.plan.policies import known

    known(care.policy)
    chosen = transfer_program(wanted.program, command=wanted.command, server=wanted.server)
    job = prepare(requests, scenario, settings=settings, care=care, seed=seed)
    log.warn(*job.resolved.warnings)
    if wanted.simulated:
        with Simulating(None) as progress:
            made = simulation.run(
                job,
                runs=runs,
                argv=argv,
                name=name,
                progress=progress.tell,
                memory_bytes=wanted.memory_bytes,
            )
        directory, reason = made.directory, made.reason
    else:
        finished = live.run(
            job,
            runs=runs,
            argv=argv,
            name=name,
            transfer_program=chosen,
            pacing=wanted.pacing,
            watched=Progress,
            sudo=wanted.sudo,
            report=report,
            memory_bytes=wanted.memory_bytes,
        )
        directory, reason = finished.directory, finished.reason
    summary = conclude(directory, reason=reason, report=report)
    show(summary, directory, as_json=as_json, report=report)
    return conclusion.exit_code(summary)
