"""``longhaul trace show``: show the statistics of a trace."""

import json

import click

from longhaul.cli.traces.common import link_option, load, trace_argument


@click.command()
@trace_argument
@link_option
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON.")
def show(trace: str, link: tuple[str, str] | None, as_json: bool) -> None:
    """Show rows, span, period and gaps of TRACE, and mean, deviation and percentiles of each column.

    TRACE is a file (CSV, Parquet, or mahimahi's .up and .down) or the name of a built-in one. rtt_ms is of
    both ways, delay_ms of one.

    \b
    longhaul trace show wan.csv
    longhaul trace show longcut:eventspace --link benedict:vvgw
    """
    from longhaul.cli.terminal.traces import print_traces
    from longhaul.traces.validation import as_plain

    traces = load(trace, link=link)
    if as_json:
        click.echo(json.dumps([as_plain(each) for each in traces], indent=1))
    else:
        print_traces(traces)
