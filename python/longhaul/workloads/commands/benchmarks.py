"""Times of messages: ping-pong, allreduce, exchanges with neighbours, alltoall."""

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import click

from longhaul.workloads.commands.options import json_option
from longhaul.workloads.main import show
from longhaul.workloads.parsing import SIZES_LIST

ALGORITHMS = ("library", "flat", "binomial", "recursive-doubling", "ring", "two-level")

_REPEAT = """Each size is repeated 1000 times, or as often as makes 40 MiB."""

Function = Callable[..., None]


def _options(function: Function) -> Function:
    for option in (
        json_option,
        click.option(
            "--repetitions",
            "most",
            type=click.IntRange(1),
            default=1_000,
            show_default=True,
            help="At most so many of each size.",
        ),
        click.option(
            "--sizes",
            type=SIZES_LIST,
            metavar="LIST",
            help="Bytes, such as 0,512,64K,4M; else 0 and powers of two up to 4M.",
        ),
    ):
        function = option(function)
    return function


class Pair(click.ParamType[tuple[int, int]]):
    """Two ranks."""

    name = "ranks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Parse ``0,7``."""
        if isinstance(value, tuple):
            return value
        parts = value.split(",")
        if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
            self.fail(f'"{value}" is not a pair of ranks; write "0,7"', param, ctx)
        return int(parts[0]), int(parts[1])


@click.command(help=f"Half round trips between two ranks; the others wait (IMB PingPong).\n\n{_REPEAT}")
@_options
@click.option("--between", type=Pair(), default="0,1", show_default=True, help="The two ranks, such as 0,7.")
def pingpong(between: tuple[int, int], sizes: tuple[int, ...] | None, most: int, *, as_json: bool) -> None:
    """Times, and the throughput of the mean."""
    from longhaul.workloads.measuring import SIZES, ping_pong

    def measure(job: Any) -> Sequence[Any]:
        return ping_pong(job, sizes or SIZES, between=between, most=most)

    _run("pingpong", measure, {"between": list(between)}, as_json=as_json)


@click.command(
    help="Sums of vectors of floats over all ranks (IMB Allreduce).\n\n"
    "two-level sends one message from each site to each other. Sites are those of --sites, or of the variable"
    ' LONGHAUL_SITES ("a1,a2;b1,b2"), or hosts whose names begin with the same letters. ' + _REPEAT
)
@_options
@click.option(
    "--algorithm",
    type=click.Choice((*ALGORITHMS, "all")),
    default="library",
    show_default=True,
    help="Who sends to whom; all: each of them.",
)
@click.option("--sites", metavar="RANKS", help="Ranks at each site, in order, such as 4,4.")
def allreduce(
    sites: str | None, algorithm: str, sizes: tuple[int, ...] | None, most: int, *, as_json: bool
) -> None:
    """Times by algorithm and size."""
    from longhaul.workloads.measuring import FLOATS, all_reduce
    from longhaul.workloads.sites import VARIABLE, sites_of

    if sites is not None and not all(part.strip().isdigit() for part in sites.split(",")):
        raise click.BadParameter(f'"{sites}" is not a list of numbers; write "4,4"', param_hint="--sites")
    ranks_of_sites = [int(part) for part in sites.split(",")] if sites else []
    extra: dict[str, Any] = {}

    def measure(job: Any) -> Sequence[Any]:
        hosts = job.comm.allgather(os.uname().nodename)
        groups = sites_of(hosts, sizes=ranks_of_sites, listed=os.environ.get(VARIABLE, ""))
        extra["sites"] = groups
        names = ALGORITHMS if algorithm == "all" else (algorithm,)
        return [
            (name, timing)
            for name in names
            for timing in all_reduce(job, sizes or FLOATS, algorithm=name, sites=groups, most=most)
        ]

    _run("allreduce", measure, extra, as_json=as_json)


@click.command(help=f"Exchanges with both neighbours in a ring (IMB Exchange).\n\n{_REPEAT}")
@_options
def halo(sizes: tuple[int, ...] | None, most: int, *, as_json: bool) -> None:
    """Times by size."""
    from longhaul.workloads.measuring import SIZES, neighbours

    _run("halo", lambda job: neighbours(job, sizes or SIZES, most=most), {}, as_json=as_json)


@click.command(help=f"A part of the size from each rank to each (IMB Alltoall).\n\n{_REPEAT}")
@_options
def alltoall(sizes: tuple[int, ...] | None, most: int, *, as_json: bool) -> None:
    """Times by size."""
    from longhaul.workloads.measuring import SIZES, all_to_all

    _run("alltoall", lambda job: all_to_all(job, sizes or SIZES, most=most), {}, as_json=as_json)


def _run(name: str, measure: Callable[[Any], Sequence[Any]], extra: dict[str, Any], *, as_json: bool) -> None:
    from longhaul.workloads.job import Job
    from longhaul.workloads.starting import communicator

    with communicator() as comm:
        job = Job(comm)
        timings = measure(job)
    if job.rank > 0:
        return
    rows = []
    for timing in timings:
        algorithm, plain = timing if isinstance(timing, tuple) else (None, timing)
        row = {key: value for key, value in asdict(plain).items() if value is not None}
        rows.append({"algorithm": algorithm, **row} if algorithm else row)
    show({"workload": name, "ranks": job.ranks, **extra, "rows": rows}, as_json=as_json, table=_lines)


def _lines(result: Any) -> str:
    """Columns as IMB has them."""
    lines = [f"{result['workload']}, {result['ranks']} ranks"]
    lines.append(f"{'bytes':>10} {'repeated':>9} {'min us':>11} {'mean us':>11} {'max us':>11}")
    speeds = any("megabytes_per_s" in row for row in result["rows"])
    lines[-1] += f" {'MB/s':>10}" if speeds else ""
    algorithm = None
    for row in result["rows"]:
        if row.get("algorithm") != algorithm:
            algorithm = row["algorithm"]
            lines.append(algorithm)
        times = " ".join(f"{row[key]:11.2f}" for key in ("least_us", "mean_us", "most_us"))
        speed = f" {row['megabytes_per_s']:10.2f}" if speeds else ""
        lines.append(f"{row['size']:10} {row['repetitions']:9} {times}{speed}")
    return "\n".join(lines)
