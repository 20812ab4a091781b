"""``longhaul trace``: the group of all that deals with measured delay and rate."""

import click

from longhaul.cli.lazy import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "collect": ("longhaul.cli.traces.collect:collect", "Measure a path to another host, without privilege."),
    "list": ("longhaul.cli.traces.list_:list_", "List the traces that come with Longhaul."),
    "show": ("longhaul.cli.traces.show:show", "Count, span, mean, percentiles and gaps of a trace."),
    "plot": ("longhaul.cli.traces.plot:plot", "Draw delay and rate over time, and their distributions."),
    "validate": ("longhaul.cli.traces.validate:validate", "Say everything that is wrong with traces."),
    "convert": ("longhaul.cli.traces.convert:convert", "CSV, Parquet, mahimahi; round trip to one way."),
    "resample": ("longhaul.cli.traces.resample:resample", "Bring a trace to an even period."),
    "stitch": ("longhaul.cli.traces.stitch:stitch", "Join traces end to end, or as links of one file."),
    "synthesise": ("longhaul.cli.traces.synthesise:synthesise", "Draw a trace from means and deviations."),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS)
def trace() -> None:
    """Traces: round-trip time and rate of a path over time, as measured, for links to follow.

    A trace is a CSV file with the columns t_s, rtt_ms and rate_mbit; an empty value is a gap. A link follows
    it by delay: {trace: FILE} and rate: {trace: FILE}.

    \b
    longhaul trace list
    longhaul trace show longcut:eventspace/benedict-vvgw
    longhaul trace synthesise --rtt 20ms --rtt-sd 3ms --rate 50Mbit --duration 1h --out wan.csv
    """
