"""``longhaul report``: the report of a run or of a sweep, written again; or one that compares runs."""

import sys
from pathlib import Path

import click

from longhaul.errors import LonghaulError


@click.command()
@click.argument(
    "directories",
    metavar="DIRECTORY...",
    nargs=-1,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option(
    "--events-of",
    "changed",
    metavar="DIRECTORY",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Print the changes of the network in this run, also those made by hand, as events for a scenario.",
)
@click.option("--compare", "compared", is_flag=True, help="Hold runs, or groups of runs, side by side.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the comparison goes; comparison.html if left out.",
)
@click.option(
    "--format",
    "formats",
    type=click.Choice(["svg", "pdf", "png", "csv"]),
    multiple=True,
    help="Write each figure as a file of this format, too, or its points as CSV; may be repeated.",
)
def report(
    directories: tuple[Path, ...],
    changed: Path | None,
    compared: bool,
    output: Path | None,
    formats: tuple[str, ...],
) -> None:
    """Write report.html of the run or sweep in DIRECTORY again, from its raw records or parts.

    With --compare, write one file about several runs: configuration differences and results. Each
    DIRECTORY is a run, or has several, which count as repetitions; of a single one, live, mixed and simulated
    runs are compared, as by longhaul compare.

    \b
    longhaul report runs/three-clusters/latest-live
    longhaul report runs/three-clusters/latest-live --format pdf --format csv
    longhaul report --compare runs/atlantic
    longhaul report --events-of runs/three-clusters/latest-live
    longhaul report --compare runs/atlantic-cubic runs/atlantic-bbr --output algorithms.html
    """
    if changed is not None:
        if directories or compared or output or formats:
            raise click.UsageError("--events-of prints the events of one run, and takes nothing beside it")
        from longhaul.run.changes import events_of

        click.echo(events_of(changed), nl=False)
        return
    if not directories:
        raise click.UsageError("Missing argument 'DIRECTORY...'.")
    if compared:
        made = _compare(directories, output or Path("comparison.html"), formats)
    else:
        if len(directories) > 1 or output is not None:
            raise LonghaulError(
                "one run or sweep has its report in its own directory",
                remedy="name one DIRECTORY and no --output, or compare several runs with --compare",
                exit_code=2,
            )
        made = _write_again(directories[0], formats)
    for path in made:
        click.echo(path)


def _write_again(directory: Path, formats: tuple[str, ...]) -> list[Path]:
    from longhaul.report.files import write_figures
    from longhaul.run.rewriting import write_again

    written = write_again(directory)
    return [written, *(write_figures(directory, formats) if formats else ())]


def _compare(directories: tuple[Path, ...], output: Path, formats: tuple[str, ...]) -> list[Path]:
    import shlex

    from longhaul.report.comparison_page import draw, write_comparison
    from longhaul.report.files import write_drawn
    from longhaul.report.sides import sides
    from longhaul.run.comparison import check_comparable, find_all
    from longhaul.scenario.metrics import DEFAULT_METRICS

    groups = find_all(directories)
    check_comparable(groups)
    found = sides([(group.name, group.runs) for group in groups])
    again = shlex.join(["longhaul", *sys.argv[1:]])
    made = [write_comparison(output, found, first=DEFAULT_METRICS, again=again)]
    if formats:
        place = output.with_name(f"{output.stem}-figures")
        made += write_drawn(lambda: draw(found, first=DEFAULT_METRICS), place, formats)
    return made
