"""A workload's messages in a file, for simulations."""

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.workloads.commands.kernels import MODULES
from longhaul.workloads.commands.options import class_option
from longhaul.workloads.parsing import DURATION

MOST_RANKS = 1024


@click.command(
    help="Write what the ranks of a workload compute and send, without starting any.\n\n"
    "A scenario's simulate: {kind: recorded, file: FILE} then has the same messages in a simulation.\n\n"
    "\b\nlonghaul-workload record ft --class B --ranks 8 --compute 90s ft-B-8.csv"
)
@click.argument("name", type=click.Choice([*MODULES, "molecules"]))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--ranks", type=click.IntRange(1, MOST_RANKS), required=True, help="A power of two.")
@class_option
@click.option(
    "--compute", type=DURATION, metavar="TIME", help="How long one rank alone would compute; else as shipped."
)
@click.option("--atoms", type=click.IntRange(1), default=10_000, show_default=True, help="Of molecules.")
@click.option("--steps", type=click.IntRange(1), default=1_000, show_default=True, help="Of molecules.")
def record(
    name: str, file: Path, ranks: int, problem: str, compute: float | None, atoms: int, steps: int
) -> None:
    """Record and say where."""
    from longhaul.workloads import costs as table
    from longhaul.workloads import recording

    if ranks & (ranks - 1):
        raise LonghaulError(
            Code.RANKS_UNSUITABLE,
            f"{ranks} ranks are not a power of two",
            remedy="write 2, 4, 8 ...",
            exit_code=2,
        )
    if name == "molecules":
        from longhaul.workloads.molecules import DEFAULT_STEP_S, Simulation, run

        step_s = DEFAULT_STEP_S if compute is None else compute / steps
        simulation = Simulation(atoms=atoms, steps=steps, step_s=step_s)
        recorded = recording.record(lambda job: run(job, simulation), ranks=ranks, costs_ns={"forces": 1.0})
        title = f"molecules, {atoms} atoms, {steps} steps"
    else:
        kernel: Any = import_module(f"longhaul.workloads.{MODULES[name]}")
        costs = table.shipped(name)
        if compute is not None:
            costs = table.scaled(costs, kernel.totals(problem), compute)
        recorded = recording.record(lambda job: kernel.run(job, problem), ranks=ranks, costs_ns=costs)
        title = f"{name}, class {problem}"
    try:
        recording.write(recorded, file, title=f"{title}, {ranks} ranks")
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"{file}: {str(error.strerror).lower()}",
            remedy="name a file that can be written",
            exit_code=2,
        ) from error
    click.echo(f"{file}: {sum(len(each) for each in recorded)} steps of {ranks} ranks", err=True)
