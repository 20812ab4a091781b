"""``longhaul report``: write the report of a run, relay, sweep or benchmark again, or compare runs."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import format_option
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.formats import MARKDOWN


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
    help="Print all changes of the network in this run, including interventions, as events of a scenario.",
)
@click.option("--compare", "compared", is_flag=True, help="Compare runs, or groups of runs.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output file of the comparison. Default: comparison.html.",
)
@format_option(
    "Also write each figure in this format, or its points as CSV; md: the tables and the scenario as "
    "report.md, for the appendix of a paper. May be repeated."
)
@click.option(
    "--figure",
    "figures",
    metavar="NAME",
    multiple=True,
    help="Write this figure alone, as PDF if no --format is given; may be repeated. Default: all figures.",
)
@click.option("--list-figures", "listed", is_flag=True, help="Print the names of the figures of DIRECTORY.")
def report(
    directories: tuple[Path, ...],
    changed: Path | None,
    compared: bool,
    output: Path | None,
    formats: tuple[str, ...],
    figures: tuple[str, ...],
    listed: bool,
) -> None:
    """Write report.html of the run, relay, sweep or benchmark in DIRECTORY again, from its raw records.

    With --compare, write one file about several runs: configuration differences and results. Each
    DIRECTORY is a run, or has several, which count as repetitions; of a single one, live, mixed and simulated
    runs are compared, as by longhaul compare.

    \b
    longhaul report runs/three-clusters/latest-live
    longhaul report runs/three-clusters/latest-live --format pdf --format csv
    longhaul report runs/three-clusters/latest-live --format md
    longhaul report runs/three-clusters/latest-live --list-figures
    longhaul report runs/three-clusters/latest-live --figure rtts --figure round-trips --format png
    longhaul report --compare runs/atlantic
    longhaul report --events-of runs/three-clusters/latest-live
    longhaul report --compare runs/atlantic-cubic runs/atlantic-bbr --output algorithms.html
    """
    if changed is not None:
        if directories or compared or output or formats or figures or listed:
            raise click.UsageError("--events-of prints the events of one run, and takes nothing beside it")
        from longhaul.results.changes import events_of

        click.echo(events_of(changed), nl=False)
        return
    if not directories:
        raise click.UsageError("Missing argument 'DIRECTORY...'.")
    if figures and not set(formats) - {MARKDOWN}:
        formats = (*formats, "pdf")
    if MARKDOWN in formats and compared:
        raise LonghaulError(
            Code.OPTION_CONFLICT,
            "--format md writes the results of one run, relay, sweep or benchmark",
            remedy="name one DIRECTORY without --compare",
            exit_code=2,
        )
    if compared:
        if listed:
            raise click.UsageError("--list-figures is for one run, relay, sweep or benchmark")
        made = _compare(directories, output or Path("comparison.html"), formats, figures)
    else:
        if len(directories) > 1 or output is not None:
            raise LonghaulError(
                Code.OPTION_CONFLICT,
                "one run, relay, sweep or benchmark has its report in its own directory",
                remedy="name one DIRECTORY and no --output, or compare several runs with --compare",
                exit_code=2,
            )
        if listed:
            _list_figures(directories[0])
            return
        made = _write_again(directories[0], formats, figures)
    for path in made:
        click.echo(path)


def _list_figures(directory: Path) -> None:
    from longhaul.cli.figures import titles

    found = titles(directory)
    for name, title in found.items():
        click.echo(f"{name.ljust(max(map(len, found)))}  {title}")


def _write_again(directory: Path, formats: tuple[str, ...], figures: tuple[str, ...]) -> list[Path]:
    from longhaul.cli.regeneration import write_again

    first = write_again(directory)
    if not formats:
        return [first]
    from longhaul.cli.figures import write_files

    return [first, *write_files(directory, formats, figures)]


def _compare(
    directories: tuple[Path, ...], output: Path, formats: tuple[str, ...], figures: tuple[str, ...]
) -> list[Path]:
    import shlex

    from longhaul.report.comparison_page import charts, write_comparison
    from longhaul.report.comparison_runs import sides_of
    from longhaul.results.comparison import check_comparable, find_all
    from longhaul.scenario.model.metrics import DEFAULT_METRICS

    groups = find_all(directories)
    check_comparable(groups)
    found = sides_of(groups)
    command = shlex.join(["longhaul", *sys.argv[1:]])
    made = [write_comparison(output, found, first=DEFAULT_METRICS, command=command)]
    if formats:
        from longhaul.report.files import chosen, write_charts

        place = output.with_name(f"{output.stem}-figures")
        made += write_charts(chosen(charts(found, first=DEFAULT_METRICS), figures), place, formats)
    return made
