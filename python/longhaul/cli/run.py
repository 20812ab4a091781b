"""``longhaul run``: a scenario, live."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from longhaul.cli.options import (
    clock_option,
    json_option,
    kernel_option,
    live_shards_option,
    machines_options,
    memory_option,
    prometheus_option,
    refuse_together,
    report_option,
    require_clock,
    runs_option,
    scenario_argument,
    seed_option,
    set_option,
)

if TYPE_CHECKING:
    from longhaul.run.virtual_clock import Clock


@click.command()
@scenario_argument
@set_option
@seed_option
@runs_option
@click.option("--sudo", is_flag=True, help="Start only the live process as root, through sudo.")
@click.option(
    "--strict", is_flag=True, help="Exit with 4 also if the network was degraded, or hosts starved."
)
@click.option(
    "--journal",
    is_flag=True,
    help="Record all packets that enter and leave the network, for compare --replay.",
)
@machines_options
@live_shards_option
@clock_option
@kernel_option
@click.option("--watch", is_flag=True, help="Show the links on the terminal while it runs.")
@prometheus_option
@memory_option
@report_option
@json_option
def run(
    scenario: Path,
    settings: dict[str, str],
    seed: int | None,
    runs: Path,
    sudo: bool,
    strict: bool,
    journal: bool,
    on: str | None,
    ssh: str,
    tunnel: Literal["plain", "encrypted"],
    shards: int | Literal["auto"],
    clock: "Clock",
    kernel: str | None,
    watch: bool,
    prometheus: str | None,
    memory_bytes: int | None,
    report: bool,
    as_json: bool,
) -> None:
    """Run SCENARIO live: real programs and packets, and simulated traffic where it says so.

    Exit codes: 0 good; 1 a program or an expectation failed; 2 wrong scenario or usage; 3 this machine
    cannot; 4 finished, but the network was invalid (with --strict: or degraded, or hosts starved), or an
    expectation with `else: untrusted` failed; 130 interrupted, partial results kept.

    \b
    longhaul run scenarios/three-clusters.yaml
    longhaul run scenarios/three-clusters.yaml --set cc=bbr
    longhaul run scenarios/three-clusters.yaml --watch
    longhaul run scenarios/mixed.yaml
    longhaul run scenarios/three-clusters.yaml --clock virtual
    longhaul run scenarios/three-clusters.yaml --prometheus
    longhaul run scenarios/three-clusters.yaml --on hostfile
    longhaul run scenarios/three-clusters.yaml --on hostfile --clock virtual
    """
    from longhaul.cli.experiments import run_experiment

    require_clock(clock, kernel=kernel, sudo=sudo, tunnel=tunnel)
    if on is not None:
        refuse_together("--on", {"--shards": shards != 1})
    if shards != 1:
        refuse_together("--shards", {"--clock virtual": clock == "virtual"})
    sys.exit(
        run_experiment(
            scenario,
            settings=settings,
            seed=seed,
            runs=runs,
            argv=sys.argv,
            sudo=sudo,
            strict=strict,
            journal=journal,
            clock=clock,
            kernel=kernel,
            watch=watch,
            prometheus=prometheus,
            report=report,
            as_json=as_json,
            memory_bytes=memory_bytes,
            on=on,
            ssh=ssh,
            tunnel=tunnel,
            shards=shards,
        )
    )
