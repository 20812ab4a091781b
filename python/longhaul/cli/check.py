"""``longhaul check``: report the problems of scenarios."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import set_option


@click.command()
@click.argument("scenarios", metavar="SCENARIO...", nargs=-1, required=True, type=click.Path(path_type=Path))
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print problems and warnings as JSON.")
def check(scenarios: tuple[Path, ...], settings: dict[str, str], as_json: bool) -> None:
    """Report all problems of SCENARIO: file, line, column, and what to write instead.

    After longhaul calibrate also warns where a live run would ask more than this machine has shown.
    longhaul explain says more about the code in brackets. Exit codes: 0 nothing wrong; 2 something is.

    \b
    longhaul check scenarios/three-clusters.yaml
    longhaul check scenarios/*.yaml --json
    """
    from longhaul.results.certificate import load_certificate
    from longhaul.run.check import report

    text, code = report(scenarios, settings=settings, as_json=as_json, certificate=load_certificate())
    click.echo(text, err=bool(code) and not as_json)
    sys.exit(code)
