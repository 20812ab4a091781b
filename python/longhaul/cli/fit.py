"""``longhaul fit``: which distribution gaps between losses follow."""

import json
from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--times", is_flag=True, help="FILE has times of losses (or packet numbers), not gaps.")
@click.option("--unit", metavar="UNIT", help="s, ms, us, ns or packets; else the end of the column's name.")
@click.option("--column", metavar="NAME", help="Of a CSV or Parquet file with several.")
@click.option(
    "--merge",
    type=click.FloatRange(min=0),
    metavar="SPAN",
    help="Losses within so much, say one RTT, in the unit of FILE, are one event.",
)
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Fit this family only; may be repeated."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Of the replicates."
)
@click.option(
    "--replicates",
    type=click.IntRange(min=0),
    default=999,
    show_default=True,
    help="Fits of each family to its own gaps, for p-values and standard errors; 0 for neither.",
)
@click.option(
    "--packets-per-s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="RATE",
    help="Of the traffic that met the losses, to write the loss in the other unit too.",
)
@click.option("--report", type=click.Path(path_type=Path, dir_okay=False), help="Write an HTML report here.")
@click.option("--json", "as_json", is_flag=True, help="Print the fits as JSON.")
def fit(
    file: Path,
    times: bool,
    unit: str | None,
    column: str | None,
    merge: float | None,
    families: tuple[str, ...],
    seed: int,
    replicates: int,
    packets_per_s: float | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Fit distributions to the gaps between losses in FILE, and say which goes with them best.

    FILE is text with a number on each line, CSV with a header, or Parquet. The order is by Anderson-Darling,
    with p-values from a parametric bootstrap; the best becomes a loss: block of a scenario.

    \b
    longhaul fit gaps.txt --unit s
    longhaul fit losses.csv --times --column t_s --merge 0.065 --report fit.html
    longhaul fit gaps.csv --family weibull --family normal --json
    """
    from longhaul.analysis.fitting import FAMILIES, fit_gaps
    from longhaul.measure.gaps import read_gaps
    from longhaul.report.fitting import as_plain, loss_blocks, print_fits

    gaps = read_gaps(file, unit=unit, column=column, times=times, merge=merge)
    fits = fit_gaps(
        gaps.values,
        families=families or tuple(FAMILIES),
        seed=seed,
        replicates=replicates,
        progress=lambda family: click.echo(f"  {family} ...", err=True),
    )
    blocks = loss_blocks(fits, gaps.unit, packets_per_s)
    if report is not None:
        from longhaul.report.fitting_page import write_fitting

        write_fitting(report, gaps, fits, blocks)
    if as_json:
        click.echo(json.dumps(as_plain(gaps, fits, blocks), indent=1, allow_nan=False))
    else:
        print_fits(gaps, fits, blocks, report)
