"""``longhaul export``: export a scenario to real machines."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.options import scenario_argument, set_option
from longhaul.cli.topology import quantity


@click.command()
@click.argument("kind", type=click.Choice(["tc", "shell", "ansible", "containerlab", "compose"]))
@scenario_argument
@set_option
@click.option(
    "--machines",
    "machines_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File that maps nodes and links to machines and interfaces.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Output directory. Default: print."
)
@click.option(
    "--hz",
    type=click.IntRange(24, 10_000),
    default=250,
    show_default=True,
    help="CONFIG_HZ of the machines' kernels.",
)
@quantity(
    "Rate", "--line-rate", default="10Gbit", show_default=True, help="Line rate of the machines' interfaces."
)
@click.option(
    "--style",
    type=click.Choice(["longhaul", "ewan"]),
    default="longhaul",
    show_default=True,
    help="Style of the scripts.",
)
@click.option(
    "--image", help="Image of containerlab's nodes, with iproute2 and ethtool. Default: nicolaka/netshoot."
)
def export(
    kind: Any,
    scenario: Path,
    settings: dict[str, str],
    machines_file: Path | None,
    out: Path | None,
    hz: int,
    line_rate: Any,
    style: Any,
    image: str | None,
) -> None:
    """Write files that set up SCENARIO on real machines, with iproute2, netem and tbf, or in containers.

    tc: the commands of tc alone, link by link. shell: one script for each machine, with addresses, routes
    and an undo. ansible: an inventory, playbooks and these scripts. What tc cannot express is refused with
    its place; what it expresses roughly gives a warning. containerlab: a lab whose nodes run these scripts.
    compose: docker-compose.override.yml, with the names of hosts for services that are hosts
    (port: docker:NAME).

    \b
    longhaul export tc scenarios/two-clusters.yaml
    longhaul export shell scenarios/two-clusters.yaml --machines machines.yaml --out scripts
    longhaul export containerlab scenarios/two-clusters.yaml --out lab
    longhaul export compose ocean.yaml --out .
    """
    from longhaul.export.files import export as export_scenario
    from longhaul.export.files import write
    from longhaul.export.machines import read_machines
    from longhaul.export.qdiscs import Kernel
    from longhaul.scenario import load_scenario, resolve

    exported = export_scenario(
        resolve(load_scenario(scenario, settings=settings)),
        kind,
        machines=read_machines(machines_file) if machines_file else None,
        kernel=Kernel(hz, line_rate.bits_per_s),
        style=style,
        image=image,
    )
    for warning in exported.warnings:
        click.echo(f"warning: {warning.headline}", err=True)
    if out is None:
        click.echo(exported.together(), nl=False)
        return
    written = write(exported, out)
    click.echo(f"wrote {len(written)} file{'s' if len(written) > 1 else ''} into {out}")
