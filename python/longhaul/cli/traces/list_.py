"""``longhaul trace list``: list the built-in traces."""

import json

import click


@click.command("list")
@click.option("--provenance", is_flag=True, help="Print the source of each trace.")
@click.option("--json", "as_json", is_flag=True, help="Print names, links and figures as JSON.")
def list_(provenance: bool, as_json: bool) -> None:
    """List the built-in traces; their names can be used in place of a file name.

    \b
    longhaul trace list
    longhaul trace list --provenance
    longhaul trace show longcut:eventspace/benedict-vvgw
    """
    from longhaul.cli.terminal.traces import print_sets
    from longhaul.scenario.traces.builtin import provenance_of, sets_as_plain

    if provenance:
        click.echo(provenance_of("longcut"), nl=False)
    elif as_json:
        click.echo(json.dumps(sets_as_plain(), indent=1))
    else:
        print_sets()
