"""The NAS parallel benchmarks: EP, IS, CG, MG, FT."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import click

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.workloads.commands.options import class_option, json_option, mode_option, wait_option
from longhaul.workloads.main import show
from longhaul.workloads.parsing import DURATION

MODULES = {
    "ep": "gaussian_pairs",
    "is": "integer_sort",
    "cg": "conjugate_gradient",
    "mg": "multigrid",
    "ft": "fourier",
}


def _command(name: str, what: str) -> click.Command:
    @click.command(name, help=f"{what}\n\n{_REST}")
    @class_option
    @mode_option(
        "Compute and verify; or send the same messages, and sleep while the real program would compute."
    )
    @click.option(
        "--compute",
        type=DURATION,
        metavar="TIME",
        help="Skeleton: how long one rank alone would compute, such as 3.2s. Else as calibrated.",
    )
    @click.option("--spin", is_flag=True, help="Skeleton: keep the core busy instead of sleeping.")
    @wait_option
    @click.option(
        "--calibrate",
        is_flag=True,
        help="Run for real on one rank, and keep what phases cost, for skeletons.",
    )
    @json_option
    def command(
        problem: str,
        mode: str,
        compute: float | None,
        *,
        wait: str,
        spin: bool,
        calibrate: bool,
        as_json: bool,
    ) -> None:
        _run(name, problem, mode, compute, wait=wait, spin=spin, calibrate=calibrate, as_json=as_json)

    return command


_REST = """Classes S and W take seconds, A some ten seconds on one core, B and C minutes.
The number of ranks is a power of two. The exit code is 1 if a result differs from the published one."""


def _run(
    name: str,
    problem: str,
    mode: str,
    compute_s: float | None,
    *,
    wait: str,
    spin: bool,
    calibrate: bool,
    as_json: bool,
) -> None:
    from longhaul.workloads import costs as table
    from longhaul.workloads.job import Job
    from longhaul.workloads.starting import communicator

    if compute_s is not None and mode == "real":
        raise click.UsageError("--compute is for --mode skeleton: a real run computes as long as it takes")
    if calibrate and mode != "real":
        raise click.UsageError("--calibrate measures a real run: leave --mode out")
    with communicator(sleep=wait == "sleep") as comm:
        kernel: ModuleType = import_module(f"longhaul.workloads.{MODULES[name]}")
        costs = None
        if mode == "skeleton":
            costs = table.known(name)
            if compute_s is not None:
                costs = table.scaled(costs, kernel.totals(problem), compute_s)
        job = Job(comm, costs_ns=costs, spin=spin)
        if calibrate and job.ranks > 1:
            raise LonghaulError(
                Code.RANKS_UNSUITABLE,
                "--calibrate requires one rank",
                remedy="start it without mpirun",
                exit_code=2,
            )
        outcome = kernel.run(job, problem)
        result = {
            "workload": name,
            "class": problem,
            "mode": mode,
            "ranks": job.ranks,
            **measured(job),
            "verified": outcome.verified,
            **outcome.figures,
        }
    if calibrate and outcome.verified:
        per_unit = {phase: job.spent_s[phase] / units * 1e9 for phase, units in job.units.items() if units}
        path = table.keep(name, per_unit, measured_with=problem)
        click.echo(f"kept in {path}", err=True)
    if job.rank == 0:
        show(result, as_json=as_json, table=lines)
    if outcome.verified is False:
        sys.exit(1)


def measured(job: Any) -> dict[str, Any]:
    """Time and messages of the timed part, over all ranks; every rank calls it."""
    wall = job.spread(job.wall_s)
    compute = job.spread(sum(job.spent_s.values()))
    sent = job.spread(job.sent_bytes)
    messages = job.spread(job.messages)
    return {
        "wall_s": wall[2],
        "compute_s": compute[2],
        "sent_bytes_per_rank": sent[1],
        "most_sent_bytes": int(sent[2]),
        "messages_per_rank": messages[1],
        "iteration_s": job.slowest_iterations(),
    }


def lines(result: Any) -> str:
    """A short table."""
    share = 100.0 * (1.0 - min(1.0, result["compute_s"] / max(result["wall_s"], 1e-9)))
    name = result["workload"].upper()
    verdict = {True: "right", False: "WRONG", None: "not computed"}[result["verified"]]
    return "\n".join(
        (
            f"{name}, class {result['class']}, ranks: {result['ranks']}, {result['mode']}",
            f"  time       {result['wall_s']:.3f} s",
            f"  computing  {result['compute_s']:.3f} s on the busiest rank; {share:.0f} % of the time is not",
            f"  sent       {result['sent_bytes_per_rank'] / 1e6:.3f} MB and"
            f" {result['messages_per_rank']:.0f} messages by each rank",
            f"  result     {verdict}",
        )
    )


ep = _command("ep", "Gaussian deviates, counted by size: all computing, three small sums at the end.")
is_ = _command("is", "Rank integer keys by buckets: all keys cross the network in each of 10 iterations.")
cg = _command("cg", "The smallest eigenvalue of a sparse matrix: thousands of exchanges of vectors.")
mg = _command("mg", "Poisson's equation by V-cycles: ghost faces from large to tiny, latency and bandwidth.")
ft = _command(
    "ft", "A diffusion equation by Fourier transforms: an alltoall of the whole array in each step."
)
