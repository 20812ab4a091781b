"""``longhaul trace list``: the traces that come with Longhaul."""

import json

import click


@click.command("list")
@click.option("--provenance", is_flag=True, help="Print where the numbers are from.")
@click.option("--json", "as_json", is_flag=True, help="Print names, links and figures as JSON.")
def list_(provenance: bool, as_json: bool) -> None:
    """List the built-in traces; their names stand wherever the name of a file can.

    \b
    longhaul trace list
    longhaul trace list --provenance
    longhaul trace show longcut:eventspace/benedict-vvgw
    """
    from longhaul.report.traces import print_sets
    from longhaul.scenario.traces.builtin import provenance_of, sets_as_plain

    if provenance:
        click.echo(provenance_of("longcut"), nl=False)
    elif as_json:
        click.echo(json.dumps(sets_as_plain(), indent=1))
    else:
        print_sets()
