"""``longhaul schema``: the JSON Schema of scenarios, and of the page's API."""

import json

import click


@click.command()
@click.option("--page", is_flag=True, help="That of what the server of the page answers and tells, instead.")
def schema(page: bool) -> None:
    """Print the JSON Schema of scenario files.

    Editors with yaml-language-server complete and check with it: put the line
    "# yaml-language-server: $schema=scenario.schema.json" into a scenario.

    \b
    longhaul schema > scenario.schema.json
    """
    if page:
        from longhaul.page.schema import json_schema
    else:
        from longhaul.scenario import json_schema

    click.echo(json.dumps(json_schema(), indent=1))
