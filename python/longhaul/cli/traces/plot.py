"""``longhaul trace plot``: a picture of a trace."""

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
    help="Write here: .png or .svg.",
)
@click.option("--title", help="Above the figure; else the name of TRACE.")
def plot(trace: str, link: tuple[str, str] | None, out: Path, title: str | None) -> None:
    """Draw TRACE: each column over time, with gaps left open, and its distribution beside it.

    \b
    longhaul trace plot wan.csv --out wan.png
    longhaul trace plot longcut:eventspace --link benedict:roadrunner --out spikes.svg
    """
    from longhaul.report.trace_figures import draw_traces

    draw_traces(load(trace, link=link), out, title=title or trace)
    click.echo(f"wrote {out}")
