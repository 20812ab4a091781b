"""``longhaul benchmark-cc``: congestion controls compared, live and simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import runs_option


def _rate(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    from longhaul.units.quantities import Rate

    try:
        return Rate.parse(value).bits_per_s
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("benchmark-cc")
@click.argument("controls", nargs=-1, required=True, metavar="CONTROL...")
@click.option(
    "--sim",
    "mode",
    flag_value="sim",
    help="Simulate only. Needs no privilege; takes about a minute for each algorithm.",
)
@click.option("--live", "mode", flag_value="live", help="Run live only; needs root.")
@click.option("--only", multiple=True, metavar="SCENARIO", help="Run only this scenario; may be repeated.")
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Number of simulated runs of each case.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Number of live runs of each case.",
)
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
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32),
    default=1,
    show_default=True,
    help="Seed of the first run; the others count up from it.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of live runs at the same time; 1 is most faithful.",
)
@click.option(
    "--tries",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="Most attempts of a live run that is not faithful; the best attempt counts.",
)
@click.option("--keep", is_flag=True, help="Keep the run directory of every run.")
@click.option("--dry-run", is_flag=True, help="Print the runs and the estimated time, without running them.")
@runs_option
@click.option("--no-report", "report", flag_value=False, default=True, help="Do not write report.html.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables.")
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
    from longhaul.cli.benchmark_command import Options, execute

    options = Options(
        controls=controls,
        mode=mode,
        only=only,
        seeds=seeds,
        repeat=repeat,
        most_bits_per_s=most,
        full=full,
        paper=paper,
        seed=seed,
        at_once=at_once,
        tries=tries,
        keep=keep,
        runs=runs,
        report=report,
    )
    sys.exit(execute(options, dry_run=dry_run, as_json=as_json))
