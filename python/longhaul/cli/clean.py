"""``longhaul clean``: remove what killed runs left behind."""

from pathlib import Path

import click


@click.command()
@click.option("--all", "everything", is_flag=True, help="End runs that are still up, too.")
@click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Also remove unfinished run directories below this directory.",
)
def clean(everything: bool, runs: Path) -> None:
    """Remove what killed runs left behind: sockets, control groups, temporary files.

    Namespaces, devices and programs need no cleaning: the kernel ends them with their run.
    """
    from longhaul.run.cleanup import remove_leftovers

    for line in remove_leftovers(everything=everything, runs=runs):
        click.echo(line)
