"""``longhaul doctor``: check what this machine can emulate."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from longhaul.cli.options import set_option

_MARKS = {"good": "ok  ", "poor": "poor", "missing": "NO  "}


@click.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--apparmor-profile",
    is_flag=True,
    help="Print an AppArmor profile that allows longhaul user namespaces, for Ubuntu 24.04, and exit.",
)
@click.option("--no-self-test", is_flag=True, help="Do not bring up two hosts, for a ping and for each MPI.")
def doctor(
    scenario: Path | None, settings: dict[str, str], as_json: bool, apparmor_profile: bool, no_self_test: bool
) -> None:
    """Check this machine: privileges, devices, priorities, buffers, programs, MPI, and its certificate.

    With SCENARIO also what that asks beyond what longhaul calibrate has shown.

    Ends with 0 when live runs work here, 3 when they cannot.
    """
    if apparmor_profile:
        from longhaul.calibrate import user_namespaces

        click.echo(user_namespaces.apparmor_profile(Path(sys.argv[0]).resolve()), nl=False)
        return
    from longhaul.calibrate.preflight import preflight

    findings = []
    for finding in preflight(scenario, settings=settings, self_test=not no_self_test):
        findings.append(finding)
        if not as_json:
            click.echo(f"{_MARKS[finding.state]}  {finding.what:<20} {finding.detail}")
            if finding.fix:
                click.echo(f"      {'':<20} -> {finding.fix}")
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in findings], indent=1))
    sys.exit(3 if any(finding.state == "missing" for finding in findings) else 0)
