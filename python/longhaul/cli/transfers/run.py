"""``longhaul transfer run``: a plan that is carried out, live or simulated."""

import sys
from collections.abc import Mapping
from pathlib import Path

import click

from longhaul.cli.options import (
    json_option,
    memory_option,
    policy_option,
    report_option,
    runs_option,
    seed_option,
    set_option,
)
from longhaul.cli.transfers.quantities import f_option, window_option
from longhaul.scenario.units import Span


@click.command()
@click.argument("requests", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--scenario",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The network, whose hosts are the ends of requests.",
)
@policy_option
@click.option("--sim", "simulated", is_flag=True, help="Simulate, instead of moving data live.")
@set_option
@seed_option
@f_option
@window_option
@click.option(
    "--margin",
    type=click.FloatRange(0, 0.5),
    default=0.02,
    show_default=True,
    help="Plans end so much of a window, and a round trip, before the deadline; 0: on it.",
)
@click.option(
    "--pacing",
    type=click.Choice(["kernel", "user"]),
    help="Who paces our own sender: kernel (SO_MAX_PACING_RATE), as if left out, or user, by its writes.",
)
@click.option(
    "--with",
    "mover",
    metavar="NAME",
    help="What moves data live: paced, as if left out, iperf3, rsync or rclone.",
)
@click.option(
    "--command",
    metavar="TEMPLATE",
    help="A command of your own that moves data, with {address}, {port}, {bytes}, {rate_bits} ... in it.",
)
@click.option("--server", metavar="TEMPLATE", help="What has to run at the destination first, for --command.")
@click.option("--attempts", type=click.IntRange(1), default=3, show_default=True, help="To begin a transfer.")
@click.option("--name", help="Of the run, and its directory; the scenario's if left out.")
@click.option("--sudo", is_flag=True, help="Start only the live process as root, through sudo.")
@memory_option
@runs_option
@report_option
@json_option
def run(
    requests: Path,
    scenario: Path,
    policy: str,
    simulated: bool,
    settings: dict[str, str],
    seed: int | None,
    f: float | None,
    window: Span | None,
    margin: float,
    pacing: str | None,
    mover: str | None,
    command: str | None,
    server: str | None,
    attempts: int,
    name: str | None,
    sudo: bool,
    memory_bytes: int | None,
    runs: Path,
    report: bool,
    as_json: bool,
) -> None:
    """Plan the transfers that REQUESTS asks for, carry the plan out, and compare both.

    Requests become known at their release. The plan is made again when one arrives, when a transfer is late
    or its sender dies, and when the scenario takes a link down or changes its rate. Capacities of the plan
    are those for payload, without headers.

    Exit codes: 0 good; 1 a request that was accepted missed its deadline, a program or an expectation failed,
    or the memory limit was reached; 2 wrong input; 3 this machine cannot; 4 finished, but not faithful; 130
    interrupted.

    \b
    longhaul transfer run scenarios/transfers/two-sites-requests.yaml \\
        --scenario scenarios/transfers/two-sites.yaml --policy serial-fcfs --sim
    longhaul transfer run requests.yaml --scenario wan.yaml --policy greedy-min --pacing user
    longhaul transfer run requests.yaml --scenario wan.yaml --policy fcfs-rigid --with rsync
    longhaul transfer run requests.yaml --scenario wan.yaml --policy serial-edf \\
        --server 'iperf3 -s -1 -p {port}' --command 'iperf3 -c {address} -p {port} -n {bytes} -b {rate_bits}'
    """
    from longhaul.run.moving.experiment import Wanted, carry_out
    from longhaul.scheduling.policies import settings as told
    from longhaul.scheduling.steering import Care

    _refuse_what_would_do_nothing(
        {
            "sim": simulated,
            "with": mover,
            "command": command,
            "server": server,
            "pacing": pacing,
            "sudo": sudo,
        }
    )
    care = Care(
        policy=policy,
        settings=told(policy, f=f, window_s=window.ns / 1e9 if window else None),
        margin=margin,
        attempts=attempts,
    )
    wanted = Wanted(
        simulated=simulated,
        mover=mover or "paced",
        command=command,
        server=server,
        pacing=pacing or "kernel",
        sudo=sudo,
        memory_bytes=memory_bytes,
    )
    sys.exit(
        carry_out(
            requests,
            scenario,
            care=care,
            wanted=wanted,
            settings=settings,
            seed=seed,
            name=name,
            runs=runs,
            argv=sys.argv,
            report=report,
            as_json=as_json,
        )
    )


def _refuse_what_would_do_nothing(given: Mapping[str, object]) -> None:
    """Say of the first option that another one makes useless that it is."""
    asked = {name for name, value in given.items() if value}
    for name in ("with", "command", "server", "pacing", "sudo"):
        if name in asked and "sim" in asked:
            raise click.UsageError(f"--{name} is about live transfers; leave it out, or --sim")
    if {"with", "command"} <= asked:
        raise click.UsageError("--with and --command both say what moves data; leave one out")
    if "server" in asked and "command" not in asked:
        raise click.UsageError("--server is for --command; leave it out, or add the command that it serves")
    if "pacing" in asked and ("command" in asked or given["with"] not in (None, "paced")):
        raise click.UsageError("--pacing is about our own sender; leave it out, or have --with paced")
