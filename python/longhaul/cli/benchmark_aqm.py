"""``longhaul benchmark-aqm``: queue disciplines compared, live and simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.benchmark_options import how_to_run, which_runs


@click.command("benchmark-aqm")
@click.argument("queues", nargs=-1, metavar="[QUEUE]...")
@which_runs("Simulate only. Needs no privilege; takes about a minute for each queue.")
@click.option("--full", is_flag=True, help="Run all cases: seven round-trip times, all four mixes of bursts.")
@how_to_run
def benchmark_aqm(
    queues: tuple[str, ...],
    mode: str | None,
    only: tuple[str, ...],
    seeds: int,
    repeat: int,
    full: bool,
    seed: int,
    at_once: int,
    tries: int,
    keep: bool,
    dry_run: bool,
    runs: Path,
    report: bool,
    as_json: bool,
) -> None:
    """Compare queue disciplines in the scenarios of RFC 7928 (Characterization Guidelines for AQM).

    Each QUEUE is fifo, head-drop, red, codel, pie, fq-codel or drr, with settings of the scenario language
    after commas: codel,target=10ms or fifo,limit=4bdp. Without a limit, every queue holds one bandwidth-delay
    product. Default: fifo red codel pie fq-codel. Live runs have the same queues with real programs and the
    kernel's TCP; every measure that differs from the simulation by more than 15 % is marked.

    Scenarios: tcp-friendly, initial-window, aggressive, unresponsive and background (transport protocols);
    rtt-fairness; bursts (web, video frames, datagrams); congestion, varying-load and varying-capacity
    (stability); mix and both-ways (traffic profiles).

    Measures: queueing delay and goodput and their trade-off, loss and its pattern, flows that lose together,
    completion and start-up times, jitter. Means have 95 % confidence intervals. Results: report.html,
    results.csv and results.json in runs/benchmark-aqm/<utc>/. Live, all of it takes 8 minutes for each queue
    and repetition.

    \b
    longhaul benchmark-aqm --sim
    longhaul benchmark-aqm fifo codel --only tcp-friendly --only congestion
    longhaul benchmark-aqm fifo,limit=0.5bdp fifo fifo,limit=4bdp --sim
    longhaul benchmark-aqm codel codel,target=15ms codel,ecn=true --sim --seeds 10

    Ends with 0; 1 if runs failed; 130 if it was interrupted (what was done is evaluated).
    """
    from longhaul.benchmark.aqm.suite import AQM
    from longhaul.benchmark.benchmark import Asked
    from longhaul.benchmark.suite import Size
    from longhaul.cli.benchmark_command import execute, modes

    asked = Asked(
        suite=AQM,
        subjects=queues or ("fifo", "red", "codel", "pie", "fq-codel"),
        modes=modes(mode),
        only=only,
        size=Size(most_bits_per_s=None, every_case=full),
        seeds=seeds,
        repeat=repeat,
        seed=seed,
        at_once=at_once,
        tries=tries,
        keep=keep,
        runs=runs,
    )
    sys.exit(execute(asked, dry_run=dry_run, report=report, as_json=as_json))
