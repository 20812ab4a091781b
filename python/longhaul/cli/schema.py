"""``longhaul schema``: the scenario language for editors."""

import json

import click


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files.

    Editors with yaml-language-server complete and check with it: put the line
    "# yaml-language-server: $schema=scenario.schema.json" into a scenario.

    \b
    longhaul schema > scenario.schema.json
    """
    from longhaul.scenario import json_schema

    click.echo(json.dumps(json_schema(), indent=1))
