"""``longhaul trace resample``: resample a trace to a fixed period."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longhaul.cli.topology import quantity
from longhaul.cli.traces.common import hand_over, link_option, load, out_options, trace_argument

if TYPE_CHECKING:
    from longhaul.units.quantities import Span


@click.command()
@trace_argument
@link_option
@quantity("Span", "--period", required=True, help="Time between the new rows.")
@click.option(
    "--by",
    "rule",
    type=click.Choice(["mean", "hold", "median"]),
    default="mean",
    show_default=True,
    help="Value of a period: mean and median are weighted by time; hold is the value at its start.",
)
@out_options
def resample(
    trace: str, link: tuple[str, str] | None, period: "Span", rule: Any, out: Path | None, force: bool
) -> None:
    """Resample TRACE to a fixed period. Gaps have no weight; a period of gaps remains a gap.

    \b
    longhaul trace resample wan.csv --period 10s --out slow.csv
    longhaul trace resample wan.csv --period 100ms --by hold --out fast.csv
    """
    from longhaul.scenario.traces.reshaping import resampled

    traces = [resampled(each, period.ns / 1e9, rule) for each in load(trace, link=link)]
    hand_over(traces, out=out, force=force)
