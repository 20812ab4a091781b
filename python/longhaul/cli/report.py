"""``longhaul report``: the report of a run or of a sweep, written again."""

from pathlib import Path

import click


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False, exists=True))
def report(directory: Path) -> None:
    """Write report.html of the run or sweep in DIRECTORY again, from its raw records or parts.

    \b
    longhaul report runs/three-clusters/latest
    """
    if (directory / "sweep.json").is_file():
        from longhaul.run.sweeps.sweep import rewrite

        click.echo(rewrite(directory))
        return
    from longhaul.report.html import write_report
    from longhaul.run.results import write_results

    write_results(directory)
    click.echo(write_report(directory))
