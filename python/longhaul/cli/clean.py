"""``longhaul clean``: remove what killed runs left."""

import click


@click.command()
@click.option("--all", "everything", is_flag=True, help="End runs that are still up, too.")
def clean(everything: bool) -> None:
    """Remove what runs that were killed left behind: sockets, control groups, temporary files.

    Namespaces, devices and programs need no cleaning: the kernel ends them with their run.
    """
    from longhaul.run.cleaning import remove_leftovers

    for line in remove_leftovers(everything=everything):
        click.echo(line)
