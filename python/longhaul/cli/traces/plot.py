"""``longhaul trace plot``: plot a trace."""

from pathlib import Path

import click

from longhaul.cli.traces.common import link_option, load, trace_argument


@click.command()
@trace_argument
@link_option
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output file: .svg, .pdf, .png, or .csv with the points.",
)
@click.option("--title", help="Title of the chart. Default: the name of TRACE.")
def plot(trace: str, link: tuple[str, str] | None, out: Path, title: str | None) -> None:
    """Plot TRACE: each column over time, and its distribution.

    \b
    longhaul trace plot wan.csv --out wan.png
    longhaul trace plot longcut:eventspace --link benedict:roadrunner --out spikes.svg
    """
    from longhaul.traces.charts import write_trace_chart

    write_trace_chart(load(trace, link=link), out, title=title or trace)
    click.echo(f"wrote {out}")
