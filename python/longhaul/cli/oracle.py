"""``longhaul oracle``: Longhaul's links compared with those of Linux."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import kernel_option, runs_option, scenario_argument, seed_option, set_option


@click.command()
@scenario_argument
@set_option
@seed_option
@runs_option
@kernel_option
@click.option(
    "--super-packets",
    is_flag=True,
    help="Let Linux's devices take super-packets (GSO), as they do by default: netem loses each as a whole.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON instead of a table.")
def oracle(
    scenario: Path,
    settings: dict[str, str],
    seed: int | None,
    runs: Path,
    kernel: str | None,
    super_packets: bool,
    as_json: bool,
) -> None:
    """Compare Longhaul's links with netem, tbf and the queueing disciplines of Linux.

    Runs SCENARIO twice on the virtual clock: as longhaul run --clock virtual does, and in one guest kernel
    whose network namespaces are joined by Linux's own models. Prints packets, losses, goodput and RTT of
    both, with the difference and whether it is to be expected. Needs a kernel of longhaul kernel build, and
    no privilege. What tc cannot do is refused, with its place.

    Exit codes: 0 all differences are to be expected; 1 some are not; 2 wrong scenario or usage, or tc cannot
    do it; 3 this machine cannot; 130 interrupted.

    \b
    longhaul oracle scenarios/two-clusters.yaml
    longhaul oracle scenarios/two-clusters.yaml --set loss=0% --json
    longhaul oracle scenarios/two-clusters.yaml --super-packets
    """
    from longhaul.cli.experiments import consult_oracle

    sys.exit(
        consult_oracle(
            scenario,
            settings=settings,
            seed=seed,
            runs=runs,
            argv=sys.argv,
            kernel=kernel,
            super_packets=super_packets,
            as_json=as_json,
        )
    )
