"""``longhaul check``: report the problems of scenarios."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longhaul.cli.options import clock_option, kernel_option, set_option

if TYPE_CHECKING:
    from longhaul.run.virtual_clock import Clock


@click.command()
@click.argument("scenarios", metavar="SCENARIO...", nargs=-1, required=True, type=click.Path(path_type=Path))
@set_option
@clock_option
@kernel_option
@click.option("--json", "as_json", is_flag=True, help="Print problems and warnings as JSON.")
def check(
    scenarios: tuple[Path, ...], settings: dict[str, str], clock: "Clock", kernel: str | None, as_json: bool
) -> None:
    """Report all problems of SCENARIO: file, line, column, and what to write instead.

    With --clock virtual also says what that clock lacks, and whether a kernel is built.
    After longhaul calibrate also warns where a live run would ask more than this machine has shown.
    longhaul explain says more about the code in brackets. Exit codes: 0 nothing wrong; 2 something is.

    \b
    longhaul check scenarios/three-clusters.yaml
    longhaul check scenarios/*.yaml --json
    """
    from longhaul.results.certificate import load_certificate
    from longhaul.run.check import report

    text, code = report(
        scenarios,
        settings=settings,
        as_json=as_json,
        certificate=load_certificate(),
        clock=clock,
        kernel=kernel,
    )
    click.echo(text, err=bool(code) and not as_json)
    sys.exit(code)
