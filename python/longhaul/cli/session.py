"""``longhaul up``, ``down``, ``exec``, ``set``, ``status``: a network that stays up."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from longhaul.cli.options import (
    clock_option,
    json_option,
    kernel_option,
    machines_options,
    memory_option,
    prometheus_option,
    require_clock,
    runs_option,
    scenario_argument,
    set_option,
)
from longhaul.plan import Way
from longhaul.units.text import time_text

if TYPE_CHECKING:
    from longhaul.run.virtual_clock import Clock, PlaceHosts

name_option = click.option("--name", metavar="RUN", help="Name of the run, if several are up.")


@click.command()
@scenario_argument
@set_option
@click.option("--name", metavar="RUN", help="Name of the run. Default: the scenario's name.")
@runs_option
@click.option("--sudo", is_flag=True, help="Start only the live process as root, through sudo.")
@machines_options
@clock_option
@kernel_option
@memory_option
@prometheus_option
def up(
    scenario: Path,
    settings: dict[str, str],
    name: str | None,
    runs: Path,
    sudo: bool,
    on: str | None,
    ssh: str,
    tunnel: Literal["plain", "encrypted"],
    clock: "Clock",
    kernel: str | None,
    memory_bytes: int | None,
    prometheus: str | None,
) -> None:
    """Start the network of SCENARIO and keep it up, for `exec`, `set`, `status` and `down`.

    Its programs and traffic run as in `run`; the network stays when they have ended. On the virtual clock,
    its time passes no faster than real time; where hosts have more to do than this machine can in that time,
    it passes more slowly, and stays exact.
    """
    from longhaul.run.persistent_networks import bring_up

    require_clock(clock, kernel=kernel, sudo=sudo, tunnel=tunnel)
    if on is None or clock == "virtual":
        with nullcontext() if on is None else _hosts_on(on, ssh=ssh) as place:
            standing = bring_up(
                scenario,
                settings=settings,
                name=name,
                runs=runs,
                argv=sys.argv,
                sudo=sudo,
                prometheus=prometheus,
                memory_bytes=memory_bytes,
                clock=clock,
                kernel=kernel,
                place=place,
            )
    else:
        from longhaul.machines import persistent_networks as divided_networks
        from longhaul.machines.allocations import allocation_of
        from longhaul.machines.parts import Options

        with allocation_of(on, ssh=ssh, sudo=sudo, keep=True) as allocation:
            standing = divided_networks.bring_up(
                scenario,
                allocation,
                settings=settings,
                name=name,
                runs=runs,
                argv=sys.argv,
                sudo=sudo,
                options=Options(encrypts=tunnel == "encrypted", memory_bytes=memory_bytes, stays_up=True),
                prometheus=prometheus,
            )
    click.echo(
        f"{standing.name} is up: {standing.hosts} hosts in {standing.seconds:.2f} s; {standing.directory}"
    )


@contextmanager
def _hosts_on(on: str, *, ssh: str) -> "Iterator[PlaceHosts]":
    """What distributes hosts on the virtual clock over the machines that ``on`` names."""
    from longhaul.machines.allocations import allocation_of
    from longhaul.machines.kubernetes import SUFFIXES
    from longhaul.machines.virtual_hosts import place_hosts

    if Path(on).suffix in SUFFIXES:
        raise click.UsageError("up --clock virtual has no pods: use run, or machines of a hostfile")
    with allocation_of(on, ssh=ssh) as allocation:
        yield partial(place_hosts, machines=allocation.machines)


@click.command()
@name_option
@json_option
def down(name: str | None, as_json: bool) -> None:
    """Stop a running network, write and print its results; exit codes are those of `run`."""
    from longhaul.cli.experiments import conclude_ended
    from longhaul.run.persistent_networks import take_down

    sys.exit(conclude_ended(take_down(name), as_json=as_json))


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@name_option
@click.argument("host")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(name: str | None, host: str, command: tuple[str, ...]) -> None:
    """Run COMMAND on HOST of a running network, with this terminal.

    \b
    longhaul exec par1 -- ping -c 3 nyc1
    longhaul exec par1 bash
    """
    from longhaul.run.persistent_networks import run_in_host

    words = list(command)
    if words and words[0] == "--":
        words = words[1:]
    sys.exit(run_in_host(name, host, words))


@click.command("set")
@name_option
@click.option(
    "--forward",
    "way",
    flag_value="forward",
    help="Change only the direction from the first endpoint to the second.",
)
@click.option(
    "--reverse",
    "way",
    flag_value="reverse",
    help="Change only the direction from the second endpoint to the first.",
)
@click.option("--route", type=int, metavar="N", help="Change only this parallel route; the first is 1.")
@click.argument("link")
@click.argument("changes", nargs=-1, required=True, metavar="KEY=VALUE...")
def set_(name: str | None, way: "Way | None", route: int | None, link: str, changes: tuple[str, ...]) -> None:
    """Change LINK of a running network: any of its models, or up/down, all at one instant.

    KEY is delay, rate, loss, queue, reordering, duplicate, corrupt, count or coalesce; VALUE is written as
    in the scenario. Nothing is flushed: packets on the wire arrive as they would have, packets in the queue
    stay there. Every change is recorded with the run.

    LINK can also be a node. `leave` removes a link or a node from the network and `join` adds it again;
    routes are recomputed. For a host, attach=ROUTER activates its link to another router, and CLASS=RATE or
    CLASS=unpaced changes a class of its pacing.

    \b
    longhaul set par-nyc delay=60ms loss=0.1%
    longhaul set par-nyc 'delay={base: 60ms, jitter: {dist: normal, sd: 2ms}, reorder: true}'
    longhaul set par-nyc 'reordering={share: 1%, delay: 90ms}' count=ethernet
    longhaul set par-nyc 'loss={model: independent, mean: 1%, position: egress}' reordering=none
    longhaul set par-nyc --forward rate=100Mbit queue=1bdp
    longhaul set par-nyc down
    longhaul set bundle --route 2 down
    longhaul set par-nyc leave
    longhaul set ams join
    longhaul set par1 attach=ams
    longhaul set par1 bulk=250Mbit
    """
    from longhaul.run.interventions import change_link

    at_s = change_link(name, link, changes, by="cli", way=way, route=route)
    click.echo(f"{link} changed at {at_s:.6f} s")


@click.command()
@name_option
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def status(name: str | None, as_json: bool) -> None:
    """Show the state of a running network."""
    from longhaul.run.persistent_networks import ask_status

    answer = ask_status(name)
    click.echo(json.dumps(answer, indent=1) if as_json else describe_status(answer))


def describe_status(answer: Mapping[str, Any]) -> str:
    """The state of a run, one thing a line."""
    if "relay" in answer:
        return _counters(str(answer["name"]), answer["relay"])
    engine = answer["engine"]
    lines = [
        f"{answer['name']}: up for {engine['t_ns'] / 1e9:.1f} s, "
        f"{engine['delivered_packets']} packets delivered, {engine['held_packets']} on the way",
        f"lateness p50 {time_text(engine['lateness_p50_ns'])}, "
        f"p99 {time_text(engine['lateness_p99_ns'])}; {engine['gaps']} scheduling stalls over 100 µs",
    ]
    for program in answer["programs"]:
        lines.append(f"  {program['name']} on {program['host']}: {_state(program)}")
    return os.linesep.join(lines)


def _state(program: Mapping[str, Any]) -> str:
    if program["error"]:
        return str(program["error"])
    if program["end_ns"] is not None:
        ending = f"signal {program['signal']}" if program["signal"] else f"exit {program['exit']}"
        return f"ended ({ending})"
    return "running" if program["start_ns"] is not None else "waits for its start"


def _counters(name: str, counters: Mapping[str, Any]) -> str:
    """What a relay has counted so far, a thing a line; it may count more than is known here."""
    lines = [f"{name}: a relay"]
    for key, value in counters.items():
        if isinstance(value, Mapping):
            inner = ", ".join(f"{inner} {_figure(key, each)}" for inner, each in value.items())
            lines.append(f"  {key.removesuffix('_ns')}: {inner}")
        elif not isinstance(value, list):
            lines.append(f"  {key.removesuffix('_ns')}: {_figure(key, value)}")
    return os.linesep.join(lines)


def _figure(key: str, value: Any) -> str:
    return time_text(value) if key.endswith("_ns") else str(value)
