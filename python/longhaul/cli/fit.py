"""``longhaul fit``: fit distributions to gaps between losses."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longhaul.cli.options import format_option
from longhaul.report.formats import MARKDOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longhaul.analysis.captures import Capture
    from longhaul.analysis.fitting import Fits
    from longhaul.analysis.fitting.loss import LossBlock
    from longhaul.analysis.gaps import Gaps

RTT = "rtt"


def _span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | str | None:
    if value is None or value == RTT:
        return value
    try:
        span = float(value)
    except ValueError:
        span = -1.0
    if not 0 <= span < float("inf"):
        raise click.BadParameter(f"{value!r} is not a span; write for example 0.065, or {RTT} for a capture")
    return span


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--times", is_flag=True, help="FILE contains times or packet numbers of losses, not gaps.")
@click.option(
    "--unit", metavar="UNIT", help="Unit: s, ms, us, ns or packets. Default: the suffix of the column's name."
)
@click.option("--column", metavar="NAME", help="Column of a CSV or Parquet file with several.")
@click.option(
    "--merge",
    callback=_span,
    metavar="SPAN",
    help="Merge losses within this span, in the unit of FILE, into one event; rtt is the RTT of a capture.",
)
@click.option(
    "--flow", metavar="A:PORT-B:PORT", help="Flow of a capture: data from A to B, a number, or all."
)
@click.option(
    "--direction", type=click.Choice(["forward", "reverse"]), help="Direction of the data in a capture."
)
@click.option("--interface", metavar="NAME", help="Interface of a capture with several.")
@click.option(
    "--losses",
    "losses_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output file for the losses of a capture: .csv or .parquet.",
)
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Fit only this family; may be repeated."
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="Seed of the bootstrap replicates.",
)
@click.option(
    "--replicates",
    type=click.IntRange(min=0),
    default=999,
    show_default=True,
    help="Number of bootstrap replicates for p-values and standard errors; 0 computes neither.",
)
@click.option(
    "--packets-per-s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="RATE",
    help="Packet rate of the measured traffic, to convert between packets and time.",
)
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Output file of an HTML report."
)
@format_option(
    "With --report fit.html: also write each figure in this format, or its points as CSV, into fit-figures; "
    "md: the tables as fit.md. May be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print the fits as JSON.")
def fit(
    file: Path,
    times: bool,
    unit: str | None,
    column: str | None,
    merge: float | str | None,
    flow: str | None,
    direction: str | None,
    interface: str | None,
    losses_file: Path | None,
    families: tuple[str, ...],
    seed: int,
    replicates: int,
    packets_per_s: float | None,
    report: Path | None,
    formats: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fit distributions to the gaps between losses in FILE, and rank them.

    FILE is text with a number on each line, CSV with a header, Parquet, or a capture (pcap, pcapng, also
    packed with gzip or zstd) of TCP connections. The order is by Anderson-Darling, with p-values from a
    parametric bootstrap; the best becomes a loss: block of a scenario.

    \b
    longhaul fit gaps.txt --unit s
    longhaul fit losses.csv --times --column t_s --merge 0.065 --report fit.html
    longhaul fit gaps.csv --family weibull --family normal --json
    longhaul fit gaps.csv --report fit.html --format pdf --format md
    longhaul fit transfer.pcap.zst --flow 10.0.0.1:5001-10.0.0.2:39210 --merge rtt --losses losses.csv
    """
    from longhaul.analysis.captures import chosen, loss_gaps, within
    from longhaul.analysis.fitting import FAMILIES, fit_gaps
    from longhaul.cli.terminal import captures
    from longhaul.cli.terminal.fits import print_fits
    from longhaul.report.fitting import as_plain, loss_blocks
    from longhaul.traces.captures import is_capture, write_losses
    from longhaul.traces.gaps import read_gaps

    if formats and report is None:
        raise click.UsageError("--format writes files beside the report; add for example --report fit.html")
    context: dict[str, object] = {}
    if is_capture(file):
        _refuse("a capture has no columns", {"--times": times, "--column": column})
        capture = within(_read(file), interface)
        if flow is None and not as_json:
            captures.print_flows(capture)
        picked = chosen(capture, name=flow, direction=direction)
        if losses_file is not None:
            write_losses(losses_file, capture, picked)
        if not as_json:
            captures.print_flow(capture, picked)
        context["capture"] = captures.as_plain(capture, picked)
        span = None if isinstance(merge, str) else merge
        gaps = loss_gaps(capture, picked, unit=unit or "s", merge=span, merge_rtt=merge == RTT)
        packets_per_s = packets_per_s or picked.packets_per_s
    else:
        needs_capture = {
            "--flow": flow,
            "--direction": direction,
            "--interface": interface,
            "--losses": losses_file,
        }
        _refuse("this is not a capture", {**needs_capture, "--merge rtt": merge == RTT})
        span = None if isinstance(merge, str) else merge
        gaps = read_gaps(file, unit=unit, column=column, times=times, merge=span)
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
        _write_files(report, formats, gaps, fits, blocks)
    if as_json:
        click.echo(json.dumps({**context, **as_plain(gaps, fits, blocks)}, indent=1, allow_nan=False))
    else:
        print_fits(gaps, fits, blocks, report)


def _write_files(
    report: Path, formats: tuple[str, ...], gaps: "Gaps", fits: "Fits", blocks: "Sequence[LossBlock]"
) -> None:
    """The figures and tables beside the report."""
    from longhaul.report.files import write_charts
    from longhaul.report.fitting_charts import charts
    from longhaul.report.fitting_markdown import write_fits

    if MARKDOWN in formats:
        write_fits(report.with_suffix(".md"), gaps, fits, blocks)
    drawn = [each for each in formats if each != MARKDOWN]
    if drawn:
        write_charts(charts(fits, gaps.unit), report.with_name(f"{report.stem}-figures"), drawn)


def _refuse(why: str, options: dict[str, object]) -> None:
    for option, value in options.items():
        if value:
            raise click.UsageError(f"{why}; leave out {option}")


def _read(file: Path) -> "Capture":
    from longhaul.traces.captures import read_capture

    size, hidden = file.stat().st_size, not sys.stderr.isatty()
    with click.progressbar(length=size, label=f"reading {file.name}", file=sys.stderr, hidden=hidden) as bar:
        return read_capture(file, progress=lambda read: bar.update(read - bar.pos))
