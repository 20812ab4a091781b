"""``longhaul path``: probe paths to hosts and write them as a scenario."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import hand_over, out_options, quantity


@click.command()
@click.argument("hosts", metavar="[HOST]...", nargs=-1)
@click.option(
    "--from",
    "saved",
    multiple=True,
    metavar="[PLACE=]FILE",
    help="Read this saved output instead of probing; may be repeated.",
)
@click.option(
    "--with",
    "means",
    multiple=True,
    metavar="HOW",
    help="Prober: own, traceroute, tracepath, mtr or ping; may be repeated. "
    "Default: own and all that are installed.",
)
@click.option("-4", "version", flag_value="4", help="Probe only over IPv4.")
@click.option("-6", "version", flag_value="6", help="Probe only over IPv6.")
@click.option(
    "--probes", type=click.IntRange(1, 100), default=6, show_default=True, help="Probes for each hop."
)
@click.option(
    "--pings", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Pings for each host."
)
@click.option(
    "--max-hops",
    type=click.IntRange(1, 64),
    default=30,
    show_default=True,
    help="Highest hop limit (TTL) of a probe.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0.05, 30),
    default=1,
    show_default=True,
    help="Timeout of a probe in seconds.",
)
@click.option(
    "--interface-speed",
    "speeds",
    multiple=True,
    metavar="HOP=RATE",
    help="Rate of the link that leads to HOP; may be repeated.",
)
@quantity("Rate", "--rate", help="Rate of all other links. Default: unlimited.")
@click.option(
    "--no-jitter", "jitter", flag_value=False, default=True, help="Do not write the measured jitter."
)
@click.option("--name", help="Name of the scenario. Default: that of --out.")
@out_options
def path(
    hosts: tuple[str, ...],
    saved: tuple[str, ...],
    name: str | None,
    out: Path | None,
    force: bool,
    **given: Any,
) -> None:
    """Probe the paths to each HOST and write them as one scenario: routers, delays, loss, jitter.

    Probes are UDP packets with small hop limits, which need no privilege, and those of traceroute and ping
    where they are installed. Outputs saved elsewhere become part of the same network; PLACE names where they
    were taken. Rates cannot be seen: say what you know of them.

    \b
    longhaul path example.org --out way.yaml
    longhaul path --from paris=trace.txt --from tokyo=mtr.json --rate 10Gbit --out ways.yaml
    longhaul path gw.example.org -6 --interface-speed 2001:db8::1=1Gbit --with own
    """
    from longhaul.scenario.expand.topologies.draft import written
    from longhaul.traces.paths.discovery import discover, searched, written_as

    found = discover(
        hosts,
        saved,
        search=searched(given),
        written=written_as(given, name or (out.stem if out else "paths")),
        progress=lambda step: click.echo(f"  {step} ...", err=True),
    )
    hand_over(written(found), found.warnings, out=out, force=force)
