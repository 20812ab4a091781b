"""``longhaul transfer run``: run a plan, live or simulated."""

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
from longhaul.units.quantities import Span


@click.command()
@click.argument("requests", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--scenario",
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Scenario whose hosts are the ends of the requests.",
)
@policy_option
@click.option("--sim", "simulated", is_flag=True, help="Simulate the transfers instead of running them live.")
@set_option
@seed_option
@f_option
@window_option
@click.option(
    "--margin",
    type=click.FloatRange(0, 0.5),
    default=0.02,
    show_default=True,
    help="Share of the window, besides one RTT, that plans keep free before the deadline.",
)
@click.option(
    "--pacing",
    type=click.Choice(["kernel", "user"]),
    help="Pacing of our own sender: by the kernel (SO_MAX_PACING_RATE) or by its writes (user). "
    "Default: kernel.",
)
@click.option(
    "--with",
    "program",
    metavar="NAME",
    help="Transfer program: paced, iperf3, rsync or rclone. Default: paced.",
)
@click.option(
    "--command",
    metavar="TEMPLATE",
    help="Client command of your own, with {address}, {port}, {bytes}, {rate_bits} ... in it.",
)
@click.option("--server", metavar="TEMPLATE", help="Server command at the destination, for --command.")
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Most attempts to start a transfer.",
)
@click.option("--name", help="Name of the run. Default: the scenario's name.")
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
    program: str | None,
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
    """Plan the transfers of REQUESTS, run the plan, and compare it with the results.

    Requests become known at their release. The plan is made again when one arrives, when a transfer is late
    or its sender dies, and when the scenario takes a link down or changes its rate. Capacities of the plan
    are those for payload, without headers.

    Exit codes: 0 good; 1 a request that was accepted missed its deadline, a program or an expectation failed,
    or the memory limit was reached; 2 wrong input; 3 this machine cannot; 4 finished, but the network was
    invalid, or an expectation with `else: untrusted` failed; 130 interrupted.

    \b
    longhaul transfer run scenarios/transfers/two-sites-requests.yaml \\
        --scenario scenarios/transfers/two-sites.yaml --policy serial-fcfs --sim
    longhaul transfer run requests.yaml --scenario wan.yaml --policy greedy-min --pacing user
    longhaul transfer run requests.yaml --scenario wan.yaml --policy fcfs-rigid --with rsync
    longhaul transfer run requests.yaml --scenario wan.yaml --policy serial-edf \\
        --server 'iperf3 -s -1 -p {port}' --command 'iperf3 -c {address} -p {port} -n {bytes} -b {rate_bits}'
    """
    from longhaul.cli.transfers.execution import Wanted, carry_out
    from longhaul.transfers.plan.policies import settings as told
    from longhaul.transfers.plan.progress import Care

    _refuse_what_would_do_nothing(
        {
            "sim": simulated,
            "with": program,
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
        program=program or "paced",
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
