"""``longhaul trace``: the group of commands for traces of delay and rate."""

import click

from longhaul.cli.lazy import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "collect": (
        "longhaul.cli.traces.collect:collect",
        "Measure the path to another host, without privileges.",
    ),
    "list": ("longhaul.cli.traces.list_:list_", "List the built-in traces."),
    "show": ("longhaul.cli.traces.show:show", "Show the statistics of a trace."),
    "plot": ("longhaul.cli.traces.plot:plot", "Plot delay and rate over time, and their distributions."),
    "validate": ("longhaul.cli.traces.validate:validate", "Check traces and report all problems."),
    "convert": (
        "longhaul.cli.traces.convert:convert",
        "Convert between CSV, Parquet and mahimahi, and between RTT and one-way delay.",
    ),
    "resample": ("longhaul.cli.traces.resample:resample", "Resample a trace to a fixed period."),
    "stitch": ("longhaul.cli.traces.stitch:stitch", "Join traces end to end, or as links of one file."),
    "synthesise": (
        "longhaul.cli.traces.synthesise:synthesise",
        "Synthesise a trace from means and standard deviations.",
    ),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS)
def trace() -> None:
    """Traces: measured round-trip time and rate of a path over time, which links can follow.

    A trace is a CSV file with the columns t_s, rtt_ms and rate_mbit; an empty value is a gap. A link follows
    it by delay: {trace: FILE} and rate: {trace: FILE}.

    \b
    longhaul trace list
    longhaul trace show longcut:eventspace/benedict-vvgw
    longhaul trace synthesise --rtt 20ms --rtt-sd 3ms --rate 50Mbit --duration 1h --out wan.csv
    """
