"""``longhaul show``: what a scenario resolves to."""

import json
from pathlib import Path
from typing import Literal

import click

from longhaul.cli.options import scenario_argument, set_option, shards


@click.command()
@scenario_argument
@set_option
@click.option("--from", "source", metavar="NODE", help="Print only paths from this node.")
@click.option("--to", "destination", metavar="NODE", help="Print only paths to this node.")
@click.option(
    "--all",
    "all_pairs",
    is_flag=True,
    help="Print the paths between all pairs of hosts, not one of each kind.",
)
@click.option(
    "--paths", "flow_paths", is_flag=True, help="Print the path of each flow of the traffic, nothing else."
)
@click.option(
    "--shards",
    metavar="N|auto",
    callback=shards,
    help="Print the partition of longhaul sim --shards N and its expected speed-up.",
)
@click.option("--plan", "as_plan", is_flag=True, help="Print the plan that the engine executes, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the network as JSON.")
def show(
    scenario: Path,
    settings: dict[str, str],
    source: str | None,
    destination: str | None,
    all_pairs: bool,
    flow_paths: bool,
    shards: int | Literal["auto"] | None,
    as_plan: bool,
    as_json: bool,
) -> None:
    """Show addresses, links with every default filled in, and paths with RTT, bottleneck and BDP.

    \b
    longhaul show scenarios/three-clusters.yaml
    longhaul show scenarios/three-clusters.yaml --from par1 --to nyc1
    longhaul show scenarios/three-clusters.yaml --paths
    longhaul show scenarios/three-clusters.yaml --shards 2
    """
    from longhaul.results.certificate import load_certificate
    from longhaul.scenario import load_scenario, resolve
    from longhaul.scenario.lower.demands import concerns
    from longhaul.scenario.lower.preview import preview
    from longhaul.scenario.show.describe import describe

    resolved = resolve(load_scenario(scenario, settings=settings))
    if as_plan:
        click.echo(json.dumps(resolved.plan, indent=1))
        return
    if shards is not None:
        from longhaul.cli.terminal.shards import print_division
        from longhaul.run.shards import preview as divided
        from longhaul.run.sim import simulated_plan

        plan, _ = simulated_plan(resolved)
        division = divided(plan, shards)
        if as_json:
            click.echo(json.dumps(division, indent=1))
        else:
            print_division(division)
        return
    if flow_paths:
        from longhaul.scenario.show.flow_paths import flow_paths as paths_of
        from longhaul.scenario.show.flow_paths import path_table

        rows = paths_of(resolved, source=source, destination=destination)
        if as_json:
            click.echo(json.dumps(rows, indent=1))
            return
        from longhaul.report.console import Console

        Console(highlight=False).print(path_table(rows))
        return
    told = describe(resolved, source=source, destination=destination, all_pairs=all_pairs)
    warnings = (*resolved.warnings, *preview(resolved).warnings, *concerns(resolved, load_certificate()))
    told["warnings"] = [each.as_json() for each in warnings]
    if as_json:
        click.echo(json.dumps(told, indent=1))
        return
    from longhaul.report.console import Console
    from longhaul.scenario.show.tables import tables

    Console(highlight=False).print(tables(told))
    for warning in warnings:
        click.echo(f"warning: {warning.headline}", err=True)
