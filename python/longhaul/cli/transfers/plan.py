"""``longhaul transfer plan``: which requests move when, and how fast."""

import json
from pathlib import Path

import click

from longhaul.cli.options import json_option, policy_option, set_option
from longhaul.cli.transfers.quantities import Unit, f_option, window_option
from longhaul.scenario.units import Rate, Span


@click.command()
@click.argument("requests", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@policy_option
@click.option(
    "--scenario",
    "--topology",
    "scenario",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Take places, rates of links and routes from this scenario.",
)
@set_option
@click.option("--capacity", type=Unit(Rate), help="Each place is an access point of this rate, each way.")
@f_option
@window_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write plan.json, gantt.svg and loads.svg to this directory.",
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
    """Plan the transfers that REQUESTS asks for, by a policy.

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
    from longhaul.report.transfers import print_plan, write_plan
    from longhaul.scenario.load import load_scenario
    from longhaul.scenario.resolve import resolve
    from longhaul.scheduling import policies, reading, writing
    from longhaul.scheduling.networks import scenario_network

    told = policies.settings(policy, f=f, window_s=window.ns / 1e9 if window else None)
    file = reading.read_requests(requests)
    network = None
    if scenario is not None:
        network = scenario_network(resolve(load_scenario(scenario, settings=settings)).plan)
    bits_per_s = capacity.bits_per_s if capacity else None
    case = reading.placed(file, network=network, capacity_bits_per_s=bits_per_s)
    made = policies.plan(case, policy=policy, settings=told)
    if out is not None:
        write_plan(made, out)
    if as_json:
        click.echo(json.dumps(writing.plan_as_plain(made), indent=1, allow_nan=False))
    else:
        print_plan(made)
