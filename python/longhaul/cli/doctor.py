"""``longhaul doctor``: what this machine offers, and how to make it offer more."""

import json
import sys
from dataclasses import asdict

import click

_MARKS = {"good": "ok  ", "poor": "poor", "missing": "NO  "}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--no-self-test", is_flag=True, help="Do not bring up two hosts, for a ping and for each MPI.")
def doctor(as_json: bool, no_self_test: bool) -> None:
    """Examine this machine: privileges, devices, priorities, buffers, programs, MPI.

    Ends with 0 when live runs work here, 3 when they cannot.
    """
    from longhaul.measure.host import examine

    findings = []
    for finding in examine(self_test=not no_self_test):
        findings.append(finding)
        if not as_json:
            click.echo(f"{_MARKS[finding.state]}  {finding.what:<20} {finding.detail}")
            if finding.fix:
                click.echo(f"      {'':<20} -> {finding.fix}")
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    sys.exit(3 if any(finding.state == "missing" for finding in findings) else 0)
