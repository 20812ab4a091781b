"""``longhaul new``: write a scenario from a template."""

from pathlib import Path

import click

from longhaul.cli.options import settings
from longhaul.diagnostics import Code


@click.command()
@click.argument("name")
@click.option("--from", "kind", default="clusters", show_default=True, help="Template: pair or clusters.")
@click.option(
    "--topology", metavar="KIND", help="Topology instead of a template, for example dumbbell or fat-tree."
)
@click.option(
    "--with",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    callback=settings,
    help="Option of the topology; may be repeated.",
)
def new(name: str, kind: str, topology: str | None, options: dict[str, str]) -> None:
    """Write NAME.yaml, a commented scenario, into this directory.

    \b
    longhaul new atlantic
    longhaul new wire --from pair
    longhaul new grid --topology torus --with size="[4, 4]" --with hosts=2
    """
    from longhaul.errors import LonghaulError
    from longhaul.scenario.edit.templates import template, topology_template

    if options and not topology:
        raise click.UsageError("--with says how a topology is; add for example --topology dumbbell")
    text = topology_template(name, kind=topology, options=options) if topology else template(name, kind=kind)
    path = Path(f"{name}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"cannot write {path}: {error.strerror}",
            remedy="choose another name or place",
            exit_code=2,
        ) from error
    click.echo(f"wrote {path}; next: longhaul check {path}")
