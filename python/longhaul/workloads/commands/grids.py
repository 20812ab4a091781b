"""Programs beside the NAS parallel benchmarks: over-relaxation, molecular dynamics."""

import sys
from typing import Any

import click

from longhaul.workloads.commands.kernels import measured
from longhaul.workloads.commands.options import json_option, mode_option, wait_option
from longhaul.workloads.main import show
from longhaul.workloads.parsing import DURATION, SIZE

PRESETS = {"longcut": {"rows": 48_002, "columns": 48_000, "message_bytes": 19_800}}
"""48000 rows between two fixed ones: 1200 rows for each of 40 workers."""

VERIFY_UP_TO = 5_000_000
"""Points that rank 0 computes again by itself, unless told otherwise."""


@click.command(
    help="Red-black over-relaxation of a grid cut into rows.\n\n"
    "After each colour, border rows go to the neighbours; after each iteration comes an allreduce of 8 bytes."
    " The grid is compared with a sequential one, bit for bit (exit code 1: it differs). --preset longcut is"
    " the program of the Longcut paper: 48000 x 48000 points, messages of 19800 bytes, meant for 40 ranks as"
    " a skeleton."
)
@click.option("--rows", type=click.IntRange(3), default=1_000, show_default=True, help="Edges included.")
@click.option("--columns", type=click.IntRange(3), default=1_000, show_default=True, help="Edges included.")
@click.option("--iterations", type=click.IntRange(1), default=100, show_default=True)
@click.option("--tolerance", type=click.FloatRange(0), default=0.0, help="Stop when no point changes more.")
@click.option(
    "--omega",
    type=click.FloatRange(0, 2, min_open=True, max_open=True),
    help="Else 2 / (1 + sin(pi / longer side)).",
)
@mode_option()
@click.option("--compute", type=DURATION, metavar="TIME", help="Skeleton: what one rank alone would compute.")
@click.option("--message-bytes", type=SIZE, help="Skeleton: messages between neighbours, if not a row's.")
@click.option("--preset", type=click.Choice(tuple(PRESETS)), help="Rows, columns and messages of a paper.")
@click.option(
    "--verify/--no-verify", default=None, help="Compute it again sequentially; else if it is small."
)
@wait_option
@json_option
def sor(
    mode: str,
    compute: float | None,
    preset: str | None,
    *,
    verify: bool | None,
    wait: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Run, print, and end with 1 if the grid is wrong."""
    from longhaul.workloads import costs as table
    from longhaul.workloads.job import Job
    from longhaul.workloads.relaxation import Task, run, totals
    from longhaul.workloads.starting import communicator

    task = Task(**{**given, **(PRESETS[preset] if preset else {})})
    if mode == "real" and (compute is not None or given["message_bytes"] is not None):
        raise click.UsageError("--compute and --message-bytes are for --mode skeleton")
    costs = None
    if mode == "skeleton":
        costs = table.known("sor")
        if compute is not None:
            costs = table.scaled(costs, totals(task), compute)
    if verify is None:
        verify = task.rows * task.columns <= VERIFY_UP_TO
    with communicator(sleep=wait == "sleep") as comm:
        job = Job(comm, costs_ns=costs)
        outcome = run(job, task, verify=verify)
        result = {
            "workload": "sor",
            "rows": task.rows,
            "columns": task.columns,
            "mode": mode,
            "ranks": job.ranks,
            **measured(job),
            "verified": outcome.verified,
            **outcome.figures,
        }
    if job.rank == 0:
        show(result, as_json=as_json, table=_lines)
        if outcome.verified is False:
            sys.exit(1)


@click.command(
    help="The messages of a molecular-dynamics program (a stand-in for Gromacs with d.villin).\n\n"
    "In each step positions go half-way round a ring of the ranks, forces come back, and energies are added"
    " up. Computing is only waited for. The figure is simulations a day, of so many steps each."
)
@click.option("--atoms", type=click.IntRange(1), default=10_000, show_default=True)
@click.option("--steps", type=click.IntRange(1), default=1_000, show_default=True)
@click.option(
    "--step-time", type=DURATION, default="4ms", show_default=True, help="What one rank alone would compute."
)
@click.option("--spin", is_flag=True, help="Keep the core busy instead of sleeping.")
@wait_option
@json_option
def molecules(atoms: int, steps: int, step_time: float, *, wait: str, spin: bool, as_json: bool) -> None:
    """Run and print."""
    from longhaul.workloads.job import Job
    from longhaul.workloads.molecules import Simulation, run
    from longhaul.workloads.starting import communicator

    with communicator(sleep=wait == "sleep") as comm:
        job = Job(comm, costs_ns={"forces": 1.0}, spin=spin)
        outcome = run(job, Simulation(atoms=atoms, steps=steps, step_s=step_time))
        result = {
            "workload": "molecules",
            "atoms": atoms,
            "ranks": job.ranks,
            **measured(job),
            "verified": None,
            **outcome.figures,
        }
    if job.rank == 0:
        show(result, as_json=as_json, table=_lines)


def _lines(result: Any) -> str:
    return "\n".join(f"{key:<22} {value}" for key, value in result.items() if key != "iteration_s")
