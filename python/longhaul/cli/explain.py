"""``longhaul explain``: what the code of a message means."""

import click


@click.command()
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
def explain(code: str | None, as_json: bool) -> None:
    """Explain CODE, the letter and four digits in brackets after an error or a warning.

    The explanation says what the problem is, why Longhaul reports it and how to fix it, with a wrong example
    and its correction where a scenario is at fault. Without CODE, list all codes. E codes are errors, W codes
    are warnings; a code keeps its meaning in later versions.

    \b
    longhaul explain E0301
    longhaul explain w0101 --json
    longhaul explain
    """
    from longhaul.cli.explanation_text import explain as explained

    click.echo(explained(code, as_json=as_json))
