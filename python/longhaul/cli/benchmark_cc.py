"""``longhaul benchmark-cc``: congestion controls compared, live and simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.benchmark_options import how_to_run, which_runs
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError


def _rate(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    from longhaul.units.quantities import Rate

    try:
        return Rate.parse(value).bits_per_s
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("benchmark-cc")
@click.argument("controls", nargs=-1, required=True, metavar="CONTROL...")
@which_runs("Simulate only. Needs no privilege; takes about a minute for each algorithm.")
@click.option(
    "--most",
    default="100Mbit",
    show_default=True,
    callback=_rate,
    metavar="RATE",
    help="Highest rate of a link; faster links are scaled down to it.",
)
@click.option(
    "--full", is_flag=True, help="Run all cases of the draft: every queue, every pair of round-trip times."
)
@click.option(
    "--paper", is_flag=True, help="Run all cases with the rates and durations of the draft; simulated only."
)
@how_to_run
def benchmark_cc(
    controls: tuple[str, ...],
    mode: str | None,
    only: tuple[str, ...],
    seeds: int,
    repeat: int,
    most: int,
    full: bool,
    paper: bool,
    seed: int,
    at_once: int,
    tries: int,
    keep: bool,
    dry_run: bool,
    runs: Path,
    report: bool,
    as_json: bool,
) -> None:
    """Compare congestion-control algorithms in the scenarios of the common TCP evaluation suite.

    Each CONTROL is a model of Longhaul (reno, cubic, bbr, htcp, scalable ...), simulated, or one of this
    host's kernel (longhaul doctor lists them), run live with real programs; or both, on equal networks, and
    then every measure that differs by more than 15 % is marked.

    Scenarios: access, data-centre, trans-oceanic, satellite, wireless and dial-up links; trade-off (delay
    against throughput); ramp-up (a second transfer joins); release and arrival (bandwidth becomes free, or is
    taken); impact (on Reno and CUBIC); fairness and rtt-fairness; bottlenecks (three in a row).

    Means have 95 % confidence intervals. Results: report.html, results.csv and results.json in
    runs/benchmark-cc/<utc>/. Live, all of it takes 5 minutes for each control and repetition.

    \b
    longhaul benchmark-cc cubic bbr
    longhaul benchmark-cc reno cubic bbr htcp highspeed scalable --sim
    longhaul benchmark-cc cubic bbr --only ramp-up --only release --repeat 5
    longhaul benchmark-cc reno scalable --paper --only trans-oceanic

    Ends with 0; 1 if runs failed; 130 if it was interrupted (what was done is evaluated).
    """
    from longhaul.benchmark.benchmark import Asked
    from longhaul.benchmark.cc.suite import CC, size
    from longhaul.cli.benchmark_command import execute, modes

    if paper and mode == "live":
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "the draft's scale is simulated only",
            remedy="leave out --live or --paper",
            exit_code=2,
        )
    asked = Asked(
        suite=CC,
        subjects=controls,
        modes=modes("sim" if paper else mode),
        only=only,
        size=size(most, full=full, paper=paper),
        seeds=seeds,
        repeat=repeat,
        seed=seed,
        at_once=at_once,
        tries=tries,
        keep=keep,
        runs=runs,
    )
    sys.exit(execute(asked, dry_run=dry_run, report=report, as_json=as_json))
