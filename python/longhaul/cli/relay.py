"""``longhaul relay``: a WAN without privileges, for unmodified programs."""

import sys
from pathlib import Path
from typing import Any

import click

from longhaul.cli.options import json_option, runs_option, scenario_argument, set_option


class _WithDefault(click.Group):
    """A group whose first argument may also be what its command ``serve`` takes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put ``serve`` in front of what is not a command and no call for help."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["serve", *args]
        return super().parse_args(ctx, args)


def _span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    from longhaul.units.quantities import Span, UnitError

    try:
        return None if value is None else Span.parse(value).ns
    except UnitError as error:
        raise click.BadParameter(str(error)) from None


def _ports(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, int]:
    from longhaul.export.pathmap import port_range

    ports = port_range(value)
    if ports is None:
        raise click.BadParameter(f'"{value}" is not a range of ports; write for example 20000-20999')
    return ports


@click.group(cls=_WithDefault, invoke_without_command=False)
def relay() -> None:
    """Delay real connections between clusters, by gateways that need no privilege.

    A gateway takes connections by SOCKS, at forwarded ports, or redirected by the kernel, and passes their
    bytes on when a WAN would have brought them: with the delay, rate, loss and queue of the scenario's links.
    Programs stay as they are. Section `relay:` of the scenario says which addresses belong to which cluster;
    without a scenario one link is enough. Ctrl-C ends it and writes the results.

    \b
    longhaul relay scenarios/relay.yaml                        # short for relay serve
    longhaul relay --delay 18ms --rate 3Mbit --forward 8080=127.0.0.1:80
    longhaul relay paths scenarios/relay.yaml --node n1 --shell
    longhaul set --name relay tromso-aalborg delay=60ms
    """


@relay.command()
@click.argument("scenario", required=False, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@set_option
@click.option("--gateway", metavar="CLUSTER", help="Run only the gateway of this cluster.")
@click.option(
    "--for", "duration_ns", metavar="TIME", callback=_span, help="End after this time, for example 10min."
)
@click.option("--name", metavar="RUN", help="Name for set, status and down. Default: the scenario's name.")
@click.option("--no-log", "messages", flag_value=False, default=True, help="Do not record each message.")
@click.option("--delay", help="Without a scenario: one-way delay in each direction, for example 20ms.")
@click.option("--rate", help="Without a scenario: rate in each direction, for example 100Mbit.")
@click.option(
    "--loss", help="Without a scenario: loss rate in each direction; lost pieces arrive one RTT later."
)
@click.option("--jitter", help="Without a scenario: standard deviation of the delay; order is kept.")
@click.option(
    "--forward",
    "forwards",
    multiple=True,
    metavar="[udp:]LISTEN=TARGET",
    help="Without a scenario: forward a local port, or ADDRESS:PORT, to TARGET; may be repeated.",
)
@click.option("--socks", metavar="ADDRESS:PORT", help="Without a scenario: address of a SOCKS 5 proxy.")
@click.option(
    "--password-file",
    type=click.Path(exists=True, dir_okay=False),
    help="Without a scenario: file whose first line is the password of SOCKS clients, "
    "user longhaul (RFC 1929).",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="NETWORK",
    help="Without a scenario: allow SOCKS only to this network, for example 10.1.0.0/16; may be repeated.",
)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed instead of the scenario's.")
@click.option("--strict", is_flag=True, help="Exit with 4 also if the relay was degraded.")
@runs_option
@json_option
def serve(
    scenario: Path | None,
    settings: dict[str, str],
    gateway: str | None,
    duration_ns: int | None,
    name: str | None,
    messages: bool,
    strict: bool,
    runs: Path,
    as_json: bool,
    **link: Any,
) -> None:
    """Run the relay of SCENARIO, or of one link; `serve` may be left out.

    Exit codes: 0 good; 1 an expectation failed; 2 wrong scenario or usage; 3 this machine cannot (an address
    is in use); 4 the relay was invalid (with --strict: or degraded), an expectation with `else: untrusted`
    failed, or the log failed; 130 interrupted before the time of --for.

    \b
    longhaul relay scenarios/relay.yaml --for 10min
    longhaul relay three-sites.yaml --gateway tromso
    longhaul relay --delay 18ms --loss 1% --forward udp:5300=10.0.0.2:53 --socks 127.0.0.1:1080
    """
    from longhaul.cli.relay_command import run_relay
    from longhaul.relay.quick import Flags
    from longhaul.relay.server import Order

    order = Order(
        runs,
        sys.argv,
        gateway=gateway,
        name=name,
        duration_ns=duration_ns,
        messages=messages,
        strict=strict,
    )
    sys.exit(run_relay(scenario, order, settings=settings, flags=Flags(**link), as_json=as_json))


@relay.command()
@scenario_argument
@set_option
@click.option("--node", metavar="NAME", help="Print only the part of this machine or cluster.")
@click.option("--shell", "form", flag_value="shell", help="Print proxy variables for eval in a shell.")
@click.option("--ssh", "form", flag_value="ssh", help="Print lines for ~/.ssh/config.")
@click.option("--mpi", "form", flag_value="mpi", help="Print settings for Open MPI, MPICH and libfabric.")
@click.option(
    "--redirect", "form", flag_value="redirect", help="Print commands that an administrator runs once."
)
@click.option("--json", "form", flag_value="json", help="Print everything as JSON.")
@click.option(
    "--ports",
    default="20000-20999",
    show_default=True,
    callback=_ports,
    help="Ports of MPI, which --redirect redirects.",
)
def paths(
    scenario: Path, settings: dict[str, str], node: str | None, form: Any, ports: tuple[int, int]
) -> None:
    """Print the path map of SCENARIO: the path to each cluster, and the settings that machines need.

    \b
    longhaul relay paths scenarios/relay.yaml
    eval "$(longhaul relay paths scenarios/relay.yaml --node n1 --shell)"
    longhaul relay paths scenarios/relay.yaml --node n1 --ssh >> ~/.ssh/config
    """
    from longhaul.export.pathmap import path_map_text
    from longhaul.scenario import load_scenario, resolve

    resolved = resolve(load_scenario(scenario, settings=settings))
    click.echo(path_map_text(resolved, node=node, form=form or "words", ports=ports), nl=False)


@relay.command()
@click.option("--by", required=True, metavar="ADDRESS:PORT", help="SOCKS address of the gateway.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="File with the gateway's password, if it has one.",
)
@click.argument("host")
@click.argument("port", type=click.IntRange(1, 65_535))
def connect(by: str, password_file: Path | None, host: str, port: int) -> None:
    """Connect standard input and output to HOST and PORT through a gateway, for OpenSSH's ProxyCommand.

    \b
    ssh -o ProxyCommand='longhaul relay connect --by 127.1.0.1:1080 %h %p' n11
    """
    from longhaul.relay.socks_client import connect as connect_by

    connect_by(by, host, port, password_file=password_file)
