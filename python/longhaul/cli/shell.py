"""``longhaul shell``: one link, two hosts, your command."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click


@click.command(context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "--delay", default="0ms", show_default=True, help="One-way delay in each direction, for example 20ms."
)
@click.option("--jitter", default=None, help="Standard deviation of the delay; order is kept.")
@click.option("--rate", default=None, help="Rate in each direction, for example 10Mbit. Default: unlimited.")
@click.option("--loss", default=None, help="Loss rate in each direction, for example 0.1%. Default: 0%.")
@click.option("--queue", default=None, help="Queue limit: 100p, 1MiB, 20ms or 1bdp. Default: 1bdp.")
@click.option("--duplicate", default=None, help="Share of duplicated packets, for example 1%. Default: 0%.")
@click.option("--mtu", default=1500, show_default=True, help="Largest IP packet in bytes, up to 9000.")
@click.option(
    "--cc",
    default=None,
    help="Congestion-control algorithm of both hosts, for example cubic, bbr or scalable.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of all random numbers.")
@click.option(
    "--isolation",
    type=click.Choice(["strict", "none"]),
    default="strict",
    show_default=True,
    help="Permissions of commands: only what a network needs (strict), or all of this user.",
)
@click.option(
    "--compensate", is_flag=True, help="Subtract this machine's own latency, as calibrate measured it."
)
@click.option(
    "--far",
    "far_command",
    default=None,
    metavar="COMMAND",
    help="Run this command on host far at the same time.",
)
@click.option(
    "--internet", is_flag=True, help="Connect host near to this machine's own network, behind host far."
)
@click.option(
    "--strict", is_flag=True, help="Exit with 4 also if the network was degraded, or hosts starved."
)
@click.option("--quiet", "-q", is_flag=True, help="Do not print the fidelity at the end.")
@click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Directory for the run directory. Default: a temporary directory, which is removed.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def shell(
    command: tuple[str, ...],
    quiet: bool,
    internet: bool,
    strict: bool,
    runs: Path | None,
    **flags: Any,
) -> None:
    """Run COMMAND (a shell by default) on host `near`, joined to host `far` by one link.

    Both names resolve on both hosts. Shells nest. The exit code is the command's, or 4 when the
    command succeeded on a network that was invalid (with --strict: or degraded, or hosts starved).

    \b
    longhaul shell --delay 20ms --rate 10Mbit -- ping -c 5 far
    longhaul shell --delay 5ms --far 'iperf3 -s -1' -- iperf3 -c far -t 5
    """
    from longhaul import log
    from longhaul.cli.terminal.run import print_outcome, print_verdict
    from longhaul.report.console import Console
    from longhaul.run.shell import Flags, run_shell

    def show(directory: Path, summary: Mapping[str, Any]) -> None:
        if quiet:
            return
        if flags["far_command"]:
            _print_log(directory, "far")
        print_verdict(summary, Console(stderr=True))
        if summary["outcome"]["failures"]:
            print_outcome(summary["outcome"], Console(stderr=True))

    if quiet:
        log.leave_out_notes()
    sys.exit(
        run_shell(
            command,
            Flags(**flags),
            argv=sys.argv,
            internet=internet,
            strict=strict,
            runs=runs,
            shown=show,
        )
    )


def _print_log(directory: Path, program: str) -> None:
    for suffix, stream in (("out", sys.stdout), ("err", sys.stderr)):
        log = directory / "logs" / f"{program}.{suffix}"
        if log.exists() and (text := log.read_text(errors="replace")):
            print(f"--- {program} ---\n{text}", end="", file=stream)
