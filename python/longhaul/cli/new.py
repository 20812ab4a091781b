"""``longhaul new``: a scenario to begin with."""

from pathlib import Path

import click


@click.command()
@click.argument("name")
@click.option("--from", "kind", default="clusters", show_default=True, help="Template: pair or clusters.")
def new(name: str, kind: str) -> None:
    """Write NAME.yaml, a commented scenario, into this directory.

    \b
    longhaul new atlantic
    longhaul new wire --from pair
    """
    from longhaul.errors import LonghaulError
    from longhaul.scenario.templates import template

    text = template(name, kind=kind)
    path = Path(f"{name}.yaml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise LonghaulError(
            f"cannot write {path}: {error.strerror}", remedy="choose another name or place", exit_code=2
        ) from error
    click.echo(f"wrote {path}; next: longhaul check {path}")
