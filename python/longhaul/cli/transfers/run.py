"""``longhaul transfer run``: a plan that is carried out, live or simulated."""

import sys
from pathlib import Path

import click

from longhaul.cli.options import (
    json_option,
    policy_option,
    report_option,
    runs_option,
    seed_option,
    set_option,
)
from longhaul.cli.transfers.quantities import Unit
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
@click.option("--f", "f", type=float, default=0.5, show_default=True, help="Of greedy-f and window-f.")
@click.option(
    "--window", type=Unit(Span), default="60s", show_default=True, help="Of window-min and window-f."
)
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
    default="kernel",
    show_default=True,
    help="Who paces our own sender: TCP (SO_MAX_PACING_RATE, with or without fq), or its writes.",
)
@click.option(
    "--with",
    "mover",
    default="paced",
    show_default=True,
    metavar="NAME",
    help="What moves data live: paced, iperf3, rsync or rclone.",
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
    f: float,
    window: Span,
    margin: float,
    pacing: str,
    mover: str,
    command: str | None,
    server: str | None,
    attempts: int,
    name: str | None,
    sudo: bool,
    runs: Path,
    report: bool,
    as_json: bool,
) -> None:
    """Plan the transfers that REQUESTS asks for, carry the plan out, and compare both.

    Requests become known at their release. The plan is made again when one arrives, when a transfer is late
    or its sender dies, and when the scenario takes a link down or changes its rate. Capacities of the plan
    are those for payload, without headers.

    Exit codes: 0 good; 1 a request that was accepted missed its deadline, or a program or an expectation
    failed; 2 wrong input; 3 this machine cannot; 4 finished, but not faithful; 130 interrupted.

    \b
    longhaul transfer run scenarios/transfers/two-sites-requests.yaml \\
        --scenario scenarios/transfers/two-sites.yaml --policy serial-fcfs --sim
    longhaul transfer run requests.yaml --scenario wan.yaml --policy greedy-min --pacing user
    longhaul transfer run requests.yaml --scenario wan.yaml --policy fcfs-rigid --with rsync
    longhaul transfer run requests.yaml --scenario wan.yaml --policy serial-edf \\
        --server 'iperf3 -s -1 -p {port}' --command 'iperf3 -c {address} -p {port} -n {bytes} -b {rate_bits}'
    """
    from longhaul.run.moving.experiment import Wanted, carry_out
    from longhaul.scheduling.policies import Settings
    from longhaul.scheduling.steering import Care

    care = Care(
        policy=policy, settings=Settings(f=f, window_s=window.ns / 1e9), margin=margin, attempts=attempts
    )
    wanted = Wanted(
        simulated=simulated, mover=mover, command=command, server=server, pacing=pacing, sudo=sudo
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
