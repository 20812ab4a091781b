"""``longhaul trace convert``: convert a trace to another format."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longhaul.cli.topology import quantity
from longhaul.cli.traces.common import hand_over, link_option, load, out_options, trace_argument

if TYPE_CHECKING:
    from longhaul.units.quantities import Span


@click.command()
@trace_argument
@link_option
@click.option("--one-way", "way", flag_value="one", help="Convert rtt_ms to delay_ms: half of it.")
@click.option("--two-way", "way", flag_value="two", help="Convert delay_ms to rtt_ms: twice as much.")
@quantity(
    "Span",
    "--bin",
    "width",
    default="1s",
    show_default=True,
    help="Interval over which the packets of a mahimahi trace are counted.",
)
@out_options
def convert(
    trace: str, link: tuple[str, str] | None, way: str | None, width: "Span", out: Path | None, force: bool
) -> None:
    """Convert TRACE: CSV, Parquet, or the packet times of mahimahi.

    The ends of the names say which. To mahimahi goes the rate alone; its last line is the period, so the last
    packet leaves when the trace ends. Back, packets are counted over each --bin.

    \b
    longhaul trace convert wan.csv --out wan.parquet
    longhaul trace convert wan.csv --link par:nyc --out wan.up
    longhaul trace convert verizon.down --bin 100ms --out verizon.csv
    longhaul trace convert wan.csv --one-way --out delay.csv
    """
    from longhaul.scenario.traces.reshaping import turned

    traces = load(trace, link=link, bin_s=width.ns / 1e9)
    hand_over(turned(traces, way), out=out, force=force)
