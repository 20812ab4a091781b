"""``longhaul runs``: runs and sweeps as experiments: listed, filtered, annotated, deleted and archived."""

from pathlib import Path

import click

from longhaul.cli.options import Decorator


class _ListByDefault(click.Group):
    """A group whose command ``list`` runs if the first argument is not a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``list`` before a filter or an option of the list."""
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


_runs: Decorator = click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Directory of run directories.",
)
_names: Decorator = click.argument("names", nargs=-1, metavar="RUN...")
_where: Decorator = click.option(
    "--where",
    "where",
    metavar="FILTER",
    help="Also all runs and sweeps that match, such as 'cc=reno seed>2'.",
)


@click.group(cls=_ListByDefault)
def runs() -> None:
    """List runs and sweeps with parameters, verdicts and key metrics; tag, rename, delete and archive them.

    Without a command, the runs that match FILTER are listed, newest first (see longhaul runs list --help).
    All terms of a filter must hold: words that occur anywhere, words after - that do not, and conditions with
    =, !=, < and > on parameters, metrics, tag, outcome, network, mode, name, note and lasted. Quote it, since
    < and > redirect in a shell.

    RUN is a run directory or one with several, a name in the list, or NAME/RUN below --runs.

    \b
    longhaul runs
    longhaul runs 'cc=reno goodput>10Mbit' --sort -goodput
    longhaul runs 'tag!=old "delay of link wan"=10ms'
    longhaul runs tag paper --where 'cc=reno delay=10ms'
    longhaul runs note "queue too short" runs/pair/latest-sim
    longhaul runs delete --where 'outcome=crashed'
    """


@runs.command("list")
@click.argument("words", nargs=-1, metavar="[FILTER]...")
@click.option(
    "--sort",
    "sort_by",
    metavar="[-]COLUMN",
    help="Sort by a column, such as goodput or delay; -goodput: the highest first. Default: -started.",
)
@click.option(
    "--columns",
    metavar="NAMES",
    help="Show these parameters and metrics only, such as cc,goodput. Default: all that fit in the terminal.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="List N runs and N sweeps at most.",
)
@_runs
@click.option("--json", "as_json", is_flag=True, help="Print all runs and sweeps that match as JSON.")
def list_(
    words: tuple[str, ...], sort_by: str | None, columns: str | None, limit: int, runs: Path, as_json: bool
) -> None:
    """List runs and sweeps that match a filter, newest first.

    Columns are the parameters that differ among them, their key metrics, title, tags and duration. All
    arguments together are the filter. Write -- before one that begins with -.

    \b
    longhaul runs list 'cc=reno goodput>10Mbit rtt_p99<50ms'
    longhaul runs list 'tag=paper outcome!=passed' --sort delay
    longhaul runs list degraded --columns cc,goodput --json
    """
    from longhaul.cli.runs_command import print_list

    print_list(
        runs,
        " ".join(words),
        sort_by=sort_by or "-started",
        columns=columns.split(",") if columns else None,
        limit=limit,
        as_json=as_json,
    )


@runs.command()
@click.argument("tags", metavar="TAG[,TAG...]")
@_names
@_where
@click.option("--remove", is_flag=True, help="Remove the tags instead.")
@_runs
def tag(tags: str, names: tuple[str, ...], where: str | None, remove: bool, runs: Path) -> None:
    """Add tags to runs and sweeps, or remove them.

    \b
    longhaul runs tag paper,baseline runs/pair/latest-sim
    longhaul runs tag paper --where 'cc=reno'
    longhaul runs tag paper --where tag=paper --remove
    """
    from longhaul.cli.runs_command import tag as tag_runs

    tag_runs(runs, names, where, tags=tags.split(","), remove=remove)


@runs.command()
@click.argument("text")
@_names
@_where
@click.option("--append", is_flag=True, help="Add a line to the note instead of replacing it.")
@_runs
def note(text: str, names: tuple[str, ...], where: str | None, append: bool, runs: Path) -> None:
    """Write a note on runs and sweeps; an empty text removes it.

    \b
    longhaul runs note "queue too short" runs/pair/latest-sim
    longhaul runs note "measured again on host b" 20260101T120000Z-live-1a2b3c4d --append
    """
    from longhaul.cli.runs_command import annotate

    annotate(runs, names, where, note=text, append=append)


@runs.command()
@click.argument("title")
@click.argument("name", metavar="RUN")
@_runs
def rename(title: str, name: str, runs: Path) -> None:
    """Give a run or sweep a title, which is shown instead of its name; an empty one removes it.

    The directory keeps its name.

    \b
    longhaul runs rename "far and slow" runs/pair/latest-sim
    """
    from longhaul.cli.runs_command import rename as rename_run

    rename_run(runs, name, title)


@runs.command()
@_names
@_where
@_runs
def delete(names: tuple[str, ...], where: str | None, runs: Path) -> None:
    """Move runs and sweeps that have ended to the trash, and print the command that restores them.

    The trash is the directory .trash in the directory of runs.

    \b
    longhaul runs delete runs/pair/latest-sim
    longhaul runs delete --where 'outcome=crashed lasted<1s'
    """
    from longhaul.cli.runs_command import delete as delete_runs

    delete_runs(runs, names, where)


@runs.command()
@click.argument("names", nargs=-1, metavar="RUN...")
@click.option("--all", "every", is_flag=True, help="Restore all runs and sweeps in the trash.")
@_runs
def restore(names: tuple[str, ...], every: bool, runs: Path) -> None:
    """Move runs and sweeps back from the trash.

    \b
    longhaul runs restore 20260101T120000Z-sim-1a2b3c4d
    longhaul runs restore --all
    """
    from longhaul.cli.runs_command import restore as restore_runs

    restore_runs(runs, names, every=every)


@runs.command()
@_runs
@click.option("--empty", is_flag=True, help="Remove all runs and sweeps in the trash for good.")
def trash(empty: bool, runs: Path) -> None:
    """List the runs and sweeps in the trash, or remove them for good.

    \b
    longhaul runs trash
    longhaul runs trash --empty
    """
    from longhaul.cli.runs_command import print_trash

    print_trash(runs, empty=empty)


@runs.command()
@_names
@_where
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="FILE",
    help="The archive, such as runs.tar.gz.",
)
@_runs
def archive(names: tuple[str, ...], where: str | None, output: Path, runs: Path) -> None:
    """Write runs to one archive: an artifact that others can repeat, or else their files with checksums.

    longhaul artifact adds a title, authors and tolerances.

    \b
    longhaul runs archive --where tag=paper --output paper.tar.gz
    """
    from longhaul.cli.runs_command import archive as archive_runs

    archive_runs(runs, names, where, output)
