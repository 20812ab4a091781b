"""``longhaul benchmark-cc``: congestion controls compared, live and simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import runs_option


def _rate(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    from longhaul.scenario.units import Rate

    try:
        return Rate.parse(value).bits_per_s
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("benchmark-cc")
@click.argument("controls", nargs=-1, required=True, metavar="CONTROL...")
@click.option("--sim", "mode", flag_value="sim", help="Simulate only: no privilege, a minute a control.")
@click.option("--live", "mode", flag_value="live", help="Run live only.")
@click.option("--only", multiple=True, metavar="SCENARIO", help="Run these scenarios alone; may be repeated.")
@click.option(
    "--seeds", type=click.IntRange(1, 1000), default=5, show_default=True, help="Simulated runs of each case."
)
@click.option(
    "--repeat", type=click.IntRange(1, 100), default=3, show_default=True, help="Live runs of each case."
)
@click.option(
    "--most",
    default="100Mbit",
    show_default=True,
    callback=_rate,
    metavar="RATE",
    help="Scale faster links down to this.",
)
@click.option("--full", is_flag=True, help="All cases of the draft: every queue, every pair of round trips.")
@click.option("--paper", is_flag=True, help="The draft's rates and longer runs, all cases; simulated only.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32),
    default=1,
    show_default=True,
    help="Of the first run; the others count up.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Live runs at a time; one is most faithful.",
)
@click.option(
    "--tries",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="How often a live run that the machine disturbs is tried; the best counts.",
)
@click.option("--keep", is_flag=True, help="Keep the run directory of every run.")
@click.option("--dry-run", is_flag=True, help="Say what would be run and how long it takes, and end.")
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
    """Compare congestion controls by the scenarios of the common TCP evaluation suite.

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
    from longhaul.run.benchmark.command import Options, execute

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
