"""``longhaul shell``: one link, two hosts, your command."""

import sys
from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option("--delay", default="0ms", show_default=True, help="One-way delay, each way: 250us, 20ms.")
@click.option("--jitter", default=None, help="Standard deviation of the delay; order is kept.")
@click.option("--rate", default=None, help="Rate, each way: 10Mbit, 1.5Gbit. Unlimited by default.")
@click.option("--loss", default=None, help="Share of packets lost, each way: 0.1%.")
@click.option("--queue", default=None, help="Queue limit: 100p, 1MiB, 20ms, 1bdp. One BDP by default.")
@click.option("--duplicate", default=None, help="Share of packets that arrive twice: 1%.")
@click.option("--mtu", default=1500, show_default=True, help="Largest IP packet in bytes, up to 9000.")
@click.option("--cc", default=None, help="Congestion control of both hosts: cubic, bbr, scalable.")
@click.option("--seed", default=1, show_default=True, help="Seed of everything random.")
@click.option(
    "--isolation",
    type=click.Choice(["strict", "none"]),
    default="strict",
    show_default=True,
    help="What commands may do to this machine: what a network needs, or all that you may.",
)
@click.option(
    "--compensate", is_flag=True, help="Subtract this machine's own latency, as calibrate measured it."
)
@click.option(
    "--far", "far_command", default=None, metavar="COMMAND", help="Run this on far, beside the command."
)
@click.option("--internet", is_flag=True, help="Let near reach this machine's own network, beyond far.")
@click.option("--strict", is_flag=True, help="Exit with 4 when the emulation was degraded, too.")
@click.option("--quiet", "-q", is_flag=True, help="Do not print the fidelity at the end.")
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Keep the run directory here; a temporary one is removed otherwise.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def shell(command: tuple[str, ...], **options: object) -> None:
    """Run COMMAND (a shell by default) on host `near`, joined to host `far` by one link.

    Both names resolve on both hosts. Shells nest. The exit code is the command's, or 4 when the
    command succeeded on an emulation that was not faithful.

    \b
    longhaul shell --delay 20ms --rate 10Mbit -- ping -c 5 far
    longhaul shell --delay 5ms --far 'iperf3 -s -1' -- iperf3 -c far -t 5
    """
    from longhaul.run.shell import run_shell

    sys.exit(run_shell(command, argv=sys.argv, **options))  # type: ignore[arg-type]
