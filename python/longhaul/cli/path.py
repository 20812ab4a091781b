"""``longhaul path``: a scenario of the paths to real hosts."""

from pathlib import Path
from typing import Any

import click

from longhaul.cli.topology import hand_over, out_options, quantity


@click.command()
@click.argument("hosts", metavar="[HOST]...", nargs=-1)
@click.option("--from", "saved", multiple=True, metavar="[PLACE=]FILE", help="Read a saved output.")
@click.option(
    "--with",
    "means",
    multiple=True,
    metavar="HOW",
    help="own, traceroute, tracepath, mtr, ping; may be repeated. Else own and what is installed.",
)
@click.option("-4", "version", flag_value="4", help="IPv4 only.")
@click.option("-6", "version", flag_value="6", help="IPv6 only.")
@click.option("--probes", type=click.IntRange(1, 100), default=6, show_default=True, help="Of each hop.")
@click.option("--pings", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Of each host.")
@click.option("--max-hops", type=click.IntRange(1, 64), default=30, show_default=True)
@click.option(
    "--wait", type=click.FloatRange(0.05, 30), default=1, show_default=True, help="For an answer, in s."
)
@click.option(
    "--interface-speed",
    "speeds",
    multiple=True,
    metavar="HOP=RATE",
    help="Of the link that leads to HOP; may be repeated.",
)
@quantity("Rate", "--rate", help="Of all other links; else not limited.")
@click.option(
    "--no-jitter", "jitter", flag_value=False, default=True, help="Do not write what jitter was found."
)
@click.option("--name", help="Of the scenario; else that of --out.")
@out_options
def path(
    hosts: tuple[str, ...],
    saved: tuple[str, ...],
    name: str | None,
    out: Path | None,
    force: bool,
    **given: Any,
) -> None:
    """Find the ways from here to each HOST and make one scenario of them: routers, delays, loss, jitter.

    Probes are UDP packets with small hop limits, which need no privilege, and those of traceroute and ping
    where they are installed. Outputs saved elsewhere become part of the same network; PLACE names where they
    were taken. Rates cannot be seen: say what you know of them.

    \b
    longhaul path example.org --out way.yaml
    longhaul path --from paris=trace.txt --from tokyo=mtr.json --rate 10Gbit --out ways.yaml
    longhaul path gw.example.org -6 --interface-speed 2001:db8::1=1Gbit --with own
    """
    from longhaul.measure.paths.discovering import discover, searched, written_as
    from longhaul.scenario.topologies.writing import written

    found = discover(
        hosts,
        saved,
        search=searched(given),
        written=written_as(given, name or (out.stem if out else "paths")),
        progress=lambda step: click.echo(f"  {step} ...", err=True),
    )
    hand_over(written(found), found.warnings, out=out, force=force)
