"""``longhaul trace``: traces of links, measured and played."""

import click

from longhaul.cli.traces.collect import collect


@click.group()
def trace() -> None:
    """Traces of latency and bandwidth over time: collect them on real links."""


trace.add_command(collect)
