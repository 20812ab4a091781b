"""``longhaul sim``: a scenario, simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import scenario_argument, seed_option, set_option


@click.command()
@scenario_argument
@set_option
@seed_option
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Where run directories go.",
)
@click.option("--no-report", is_flag=True, help="Do not write report.html.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table.")
def sim(
    scenario: Path, settings: dict[str, str], seed: int | None, runs: Path, no_report: bool, as_json: bool
) -> None:
    """Simulate SCENARIO, packet by packet: the network that runs live, on a clock that jumps.

    Needs no privilege. Hosts, their TCP and the traffic are simulated; equal scenarios give equal results,
    bit by bit. Exit codes: 0 good; 1 an expectation failed; 2 wrong scenario or usage; 130 interrupted,
    partial results kept.

    \b
    longhaul sim scenarios/two-clusters.yaml
    longhaul sim scenarios/two-clusters.yaml --set cc=cubic
    """
    from longhaul.run.experiment import simulate

    sys.exit(
        simulate(
            scenario,
            settings=settings,
            seed=seed,
            runs=runs,
            argv=sys.argv,
            report=not no_report,
            as_json=as_json,
        )
    )
