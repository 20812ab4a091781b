"""``longhaul trace validate``: report the problems of traces."""

import sys

import click


@click.command()
@click.argument("traces", metavar="TRACE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def validate(traces: tuple[str, ...], as_json: bool) -> None:
    """Check each TRACE: ascending times, possible values, the checksum of the metadata file.

    Warns of pauses of more than ten periods and of columns that are not read. Ends with 2 if one is wrong.

    \b
    longhaul trace validate wan.csv back.csv
    """
    from longhaul.traces.validation import validation

    text, exit_code = validation(traces, as_json=as_json)
    click.echo(text)
    sys.exit(exit_code)
