"""``longhaul report``: the report of a run or of a sweep, written again."""

from pathlib import Path

import click


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--format",
    "formats",
    type=click.Choice(["svg", "pdf", "png", "csv"]),
    multiple=True,
    help="Write each figure as a file of this format, too, or its points as CSV; may be repeated.",
)
def report(directory: Path, formats: tuple[str, ...]) -> None:
    """Write report.html of the run or sweep in DIRECTORY again, from its raw records or parts.

    \b
    longhaul report runs/three-clusters/latest
    longhaul report runs/three-clusters/latest --format pdf --format csv
    """
    if (directory / "sweep.json").is_file():
        from longhaul.run.sweeps.sweep import rewrite

        click.echo(rewrite(directory))
    else:
        from longhaul.report.html import write_report
        from longhaul.run.results import write_results

        write_results(directory)
        click.echo(write_report(directory))
    if formats:
        from longhaul.report.files import write_figures

        for path in write_figures(directory, formats):
            click.echo(path)
