"""``longhaul sim``: a scenario, simulated."""

import sys
from pathlib import Path
from typing import Literal

import click

from longhaul.cli.options import (
    json_option,
    memory_option,
    report_option,
    runs_option,
    scenario_argument,
    seed_option,
    set_option,
    shards_option,
)


@click.command()
@scenario_argument
@set_option
@seed_option
@runs_option
@memory_option
@shards_option
@report_option
@json_option
def sim(
    scenario: Path,
    settings: dict[str, str],
    seed: int | None,
    runs: Path,
    memory_bytes: int | None,
    shards: int | Literal["auto"],
    report: bool,
    as_json: bool,
) -> None:
    """Simulate SCENARIO packet by packet: the same network as live, in the discrete-event simulator.

    Needs no privilege. Hosts, their TCP and the traffic are simulated; equal scenarios give equal results,
    bit by bit. Exit codes: 0 good; 1 an expectation failed, or the memory limit was reached; 2 wrong scenario
    or usage; 130 interrupted, partial results kept.

    \b
    longhaul sim scenarios/two-clusters.yaml
    longhaul sim scenarios/two-clusters.yaml --set cc=cubic
    """
    from longhaul.cli.experiments import simulate
    from longhaul.launch import configure_libraries

    configure_libraries()
    sys.exit(
        simulate(
            scenario,
            settings=settings,
            seed=seed,
            runs=runs,
            argv=sys.argv,
            report=report,
            as_json=as_json,
            memory_bytes=memory_bytes,
            shards=shards,
        )
    )
