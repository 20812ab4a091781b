"""The command ``longhaul-workload``: parse, call one workload, print."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click

from longhaul.errors import LonghaulError
from longhaul.launch import collect_rarely

COMMANDS: dict[str, tuple[str, str]] = {
    "ep": ("kernels:ep", "Gaussian pairs: all computing, hardly a message (NPB EP)."),
    "is": ("kernels:is_", "Integer sort: all keys cross in each iteration (NPB IS)."),
    "cg": ("kernels:cg", "Conjugate gradients: rows and transposes of vectors (NPB CG)."),
    "mg": ("kernels:mg", "Multigrid: ghost faces from large to tiny (NPB MG)."),
    "ft": ("kernels:ft", "Fourier transforms: an alltoall of the whole array (NPB FT)."),
    "sor": ("grids:sor", "Red-black over-relaxation of a grid cut into rows."),
    "molecules": ("grids:molecules", "The messages of a molecular-dynamics program."),
    "pingpong": ("benchmarks:pingpong", "Half round trips between two ranks, by size (IMB)."),
    "allreduce": ("benchmarks:allreduce", "Sums over all ranks, by six algorithms (IMB)."),
    "halo": ("benchmarks:halo", "Exchanges with both neighbours in a ring (IMB Exchange)."),
    "alltoall": ("benchmarks:alltoall", "A part from each rank to each (IMB)."),
    "record": ("record:record", "Write a workload's messages into a file, for simulations."),
    "sockets": ("sockets:sockets", "Latency and bandwidth over TCP sockets, without MPI."),
}
"""Name, where it lives below ``commands``, and one line about it."""

SILENCE_S = 5.0


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        place = f"longhaul.workloads.commands.{module}"
        command: click.Command = getattr(import_module(place), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Workloads"):
            formatter.write_dl([(name, what) for name, (_, what) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
def workload() -> None:
    """Parallel programs to run over a network.

    All but "sockets" and "record" are MPI programs: start as many ranks as you like with mpirun, or one
    without it.
    The exit code is 1 if a result is wrong, 2 if the call is.

    \b
    longhaul-workload ep --class S
    mpirun -n 8 longhaul-workload ft --class W
    mpirun -n 8 longhaul-workload ft --class B --mode skeleton --json
    mpirun -n 2 longhaul-workload pingpong --sizes 0,1K,1M
    """


def main() -> None:
    """Run the command line; a problem of the user's becomes one line, from rank 0, and exit code 2."""
    collect_rarely()
    try:
        workload.main(prog_name="longhaul-workload", standalone_mode=False)
    except LonghaulError as error:
        _stop(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        if _speaks():
            click.echo(error.ctx.get_help() if error.ctx else "")
        sys.exit(2)
    except click.ClickException as error:
        _stop(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)


def _stop(message: str, exit_code: int) -> None:
    if _speaks():
        click.echo(f"longhaul-workload: {message}", err=True)
    elif "mpi4py.MPI" not in sys.modules:
        # The first that ends makes mpirun end the others: let that be rank 0, which has something to say.
        # Once MPI has begun, they end together.
        time.sleep(SILENCE_S)
    sys.exit(exit_code)


def _speaks() -> bool:
    """Whether this is rank 0, or the only one; known without MPI, whose start may be what failed."""
    names = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
    return next((os.environ[name] for name in names if name in os.environ), "0") == "0"


def show(result: Mapping[str, Any], *, as_json: bool, table: Callable[[Mapping[str, Any]], str]) -> None:
    """One line of JSON, or a table; in a run or a pipe, also a line with the time of each iteration."""
    click.echo(json.dumps(result) if as_json else table(result))
    # mpirun gives ranks a terminal of its own.
    is_watched = sys.stdout.isatty() and "LONGHAUL_HOSTS" not in os.environ
    if not as_json and not is_watched and result.get("iteration_s"):
        click.echo(json.dumps({"iteration_s": result["iteration_s"]}))


if __name__ == "__main__":
    main()
