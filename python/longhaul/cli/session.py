"""``longhaul up``, ``down``, ``exec``, ``set``, ``status``: a network that stays up."""

import json
import sys
from pathlib import Path

import click

from longhaul.cli.options import (
    json_option,
    prometheus_option,
    runs_option,
    scenario_argument,
    set_option,
)

name_option = click.option("--name", metavar="RUN", help="Which run, when several are up.")


@click.command()
@scenario_argument
@set_option
@click.option("--name", metavar="RUN", help="How to call it; the scenario's name by default.")
@runs_option
@click.option("--sudo", is_flag=True, help="Start only the live process as root, through sudo.")
@prometheus_option
def up(
    scenario: Path,
    settings: dict[str, str],
    name: str | None,
    runs: Path,
    sudo: bool,
    prometheus: str | None,
) -> None:
    """Bring SCENARIO up and leave it up, for `exec`, `set`, `status` and `down`.

    Its programs and traffic run as in `run`; the network stays when they have ended.
    """
    from longhaul.run.standing import bring_up

    standing = bring_up(
        scenario,
        settings=settings,
        name=name,
        runs=runs,
        argv=sys.argv,
        sudo=sudo,
        prometheus=prometheus,
    )
    click.echo(
        f"{standing.name} is up: {standing.hosts} hosts in {standing.seconds:.2f} s; {standing.directory}"
    )


@click.command()
@name_option
@json_option
def down(name: str | None, as_json: bool) -> None:
    """Take a run down, write its results, and print them; exit codes are those of `run`."""
    from longhaul.run.standing import take_down

    sys.exit(take_down(name, as_json=as_json))


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@name_option
@click.argument("host")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(name: str | None, host: str, command: tuple[str, ...]) -> None:
    """Run COMMAND in HOST of a network that is up, with this terminal.

    \b
    longhaul exec par1 -- ping -c 3 nyc1
    longhaul exec par1 bash
    """
    from longhaul.run.standing import run_in_host

    words = list(command)
    if words and words[0] == "--":
        words = words[1:]
    sys.exit(run_in_host(name, host, words))


@click.command("set")
@name_option
@click.option("--forward", "way", flag_value="forward", help="Only from the first endpoint to the second.")
@click.option("--reverse", "way", flag_value="reverse", help="Only from the second endpoint to the first.")
@click.option("--route", type=int, metavar="N", help="Only this one of its parallel routes, from 1.")
@click.argument("link")
@click.argument("changes", nargs=-1, required=True, metavar="KEY=VALUE...")
def set_(name: str | None, way: str | None, route: int | None, link: str, changes: tuple[str, ...]) -> None:
    """Change LINK while it runs: any model of it, or up/down, all at one instant.

    KEY is delay, rate, loss, queue, reordering, duplicate, corrupt, count or coalesce; VALUE is written as
    in the scenario. Nothing is flushed: packets on the wire arrive as they would have, packets in the queue
    stay there. A host's name in place of LINK changes classes of its pacing: CLASS=RATE, CLASS=unpaced. Every
    change is recorded with the run.

    \b
    longhaul set par-nyc delay=60ms loss=0.1%
    longhaul set par-nyc 'delay={base: 60ms, jitter: {dist: normal, sd: 2ms}, reorder: true}'
    longhaul set par-nyc 'reordering={share: 1%, delay: 90ms}' count=ethernet
    longhaul set par-nyc 'loss={model: independent, mean: 1%, position: egress}' reordering=none
    longhaul set par-nyc --forward rate=100Mbit queue=1bdp
    longhaul set par-nyc down
    longhaul set bundle --route 2 down
    longhaul set par1 bulk=250Mbit
    """
    from longhaul.run.interventions import change_link

    at_s = change_link(name, link, changes, by="cli", way=way, route=route)
    click.echo(f"{link} changed at {at_s:.6f} s")


@click.command()
@name_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def status(name: str | None, as_json: bool) -> None:
    """Say how a run that is up is doing."""
    from longhaul.run.standing import ask_status, describe_status

    answer = ask_status(name)
    click.echo(json.dumps(answer, indent=1) if as_json else describe_status(answer))
