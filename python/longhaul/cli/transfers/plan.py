"""``longhaul transfer plan``: plan the start and the rate of each request."""

import json
from pathlib import Path

import click

from longhaul.cli.options import json_option, policy_option, set_option
from longhaul.cli.transfers.quantities import Unit, f_option, window_option
from longhaul.units.quantities import Rate, Span


@click.command()
@click.argument("requests", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@policy_option
@click.option(
    "--scenario",
    "--topology",
    "scenario",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Scenario with the hosts, rates of links and routes.",
)
@set_option
@click.option(
    "--capacity", type=Unit(Rate), help="Without a scenario: rate of each access point in each direction."
)
@f_option
@window_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Output directory of plan.json, gantt.svg and loads.svg.",
)
@json_option
def plan(
    requests: Path,
    policy: str,
    scenario: Path | None,
    settings: dict[str, str],
    capacity: Rate | None,
    f: float | None,
    window: Span | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Plan the transfers of REQUESTS by a scheduling policy.

    REQUESTS is YAML, or CSV with the columns name, from, to, volume, release, deadline and max_rate. Volumes,
    times and rates have units; release, deadline and max_rate may be left out. The network is a scenario's,
    or access points: points: in the file, or --capacity for all.

    \b
      version: 1
      points: {lyon: 1Gbit, tsukuba: {in: 1Gbit, out: 2Gbit}}
      requests:
        backup: {from: lyon, to: tsukuba, volume: 500MB, release: 0s, deadline: 60s}
    \b
    longhaul transfer plan requests.yaml --policy serial-edf
    longhaul transfer plan requests.csv --policy greedy-f --f 0.8 --capacity 1Gbit
    longhaul transfer plan requests.csv --policy linear --scenario scenarios/three-clusters.yaml -o plan
    """
    from longhaul.cli.terminal.transfers import print_plan
    from longhaul.scenario.check.load import load_scenario
    from longhaul.scenario.lower.resolve import resolve
    from longhaul.transfers.plan import plan_data, policies, request_files
    from longhaul.transfers.plan.networks import scenario_network
    from longhaul.transfers.report import write_plan

    told = policies.settings(policy, f=f, window_s=window.ns / 1e9 if window else None)
    file = request_files.read_requests(requests)
    network = None
    if scenario is not None:
        network = scenario_network(resolve(load_scenario(scenario, settings=settings)).plan)
    bits_per_s = capacity.bits_per_s if capacity else None
    case = request_files.placed(file, network=network, capacity_bits_per_s=bits_per_s)
    made = policies.plan(case, policy=policy, settings=told)
    if out is not None:
        write_plan(made, out)
    if as_json:
        click.echo(json.dumps(plan_data.plan_as_plain(made), indent=1, allow_nan=False))
    else:
        print_plan(made)
