"""Arguments and options that several commands share."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import click

from longhaul.report.formats import FORMATS, MARKDOWN

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def settings(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """The callback of an option with NAME=VALUE: its values by name."""
    found = {}
    for value in values:
        name, equals, content = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE; write for example cc=bbr")
        found[name] = content
    return found


def _address(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    address, _, port = (value or "").rpartition(":")
    if value is not None and not (address and port.isdecimal() and 0 < int(port) < 65_536):
        raise click.BadParameter(
            f'"{value}" is not ADDRESS:PORT; write --prometheus=127.0.0.1:9464, or put --prometheus last'
        )
    return value


def _size(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    from longhaul.units.quantities import Size, UnitError

    try:
        return None if value is None else Size.parse(value).bytes
    except UnitError as error:
        raise click.BadParameter(str(error)) from error


def _policy(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    if value is None:
        raise click.UsageError(
            "--policy is missing; longhaul transfer policies lists them: fair is what TCP would do"
        )
    return value


def shards(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> int | Literal["auto"] | None:
    """The callback of an option with a number of shards, or ``auto``."""
    if value is None or value == "auto":
        return value  # type: ignore[return-value]
    from longhaul.run.shards import MOST_SHARDS

    if value.isdecimal() and 1 <= int(value) <= MOST_SHARDS:
        return int(value)
    raise click.BadParameter(f"{value!r} is neither auto nor a number from 1 to {MOST_SHARDS}")


scenario_argument: Decorator = click.argument(
    "scenario", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
seed_option: Decorator = click.option(
    "--seed",
    type=click.IntRange(0, 2**64 - 1),
    help="Seed instead of the scenario's; another seed makes a repetition.",
)
clock_option: Decorator = click.option(
    "--clock",
    type=click.Choice(["real", "virtual"]),
    default="real",
    show_default=True,
    help="Real: hosts are namespaces, and time passes. Virtual: every host runs a Linux of its own, which "
    "waits for the network; see longhaul kernel.",
)
kernel_option: Decorator = click.option(
    "--kernel",
    metavar="VERSION",
    help="The Linux of --clock virtual, for example 6.12. Default: the scenario's, or the newest built.",
)


def require_clock(clock: str, *, kernel: str | None, sudo: bool, tunnel: str = "plain") -> None:
    """Refuse options that do not belong to the clock."""
    if clock == "real" and kernel is not None:
        raise click.UsageError("--kernel is the hosts' own: add --clock virtual")
    if clock == "virtual" and sudo:
        raise click.UsageError("--clock virtual needs no root: leave out --sudo")
    if clock == "virtual" and tunnel != "plain":
        raise click.UsageError(
            "--tunnel is for the real clock: with --clock virtual, connections to machines are always "
            "encrypted; leave it out"
        )


def refuse_together(option: str, others: Mapping[str, bool]) -> None:
    """Refuse ``option`` with each of the ``others`` that is given."""
    for other in (name for name, is_given in others.items() if is_given):
        raise click.UsageError(f"{option} does not support {other} yet: leave one of them out")


set_option: Decorator = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    callback=settings,
    help="Set a parameter of the scenario, for example delay=40ms; may be repeated.",
)
runs_option: Decorator = click.option(
    "--runs",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs"),
    show_default=True,
    help="Directory for run directories.",
)
report_option: Decorator = click.option(
    "--no-report", "report", flag_value=False, default=True, help="Do not write report.html."
)
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON instead of a table."
)
memory_option: Decorator = click.option(
    "--memory",
    "memory_bytes",
    callback=_size,
    metavar="SIZE",
    help="Memory limit of the run, for example 4GB. At the limit the run ends early and keeps its results. "
    "Default: half of the free memory.",
)


def size_option(name: str, *, default: str, text: str) -> Decorator:
    """An option that is a size, which the command gets in bytes."""
    return click.option(name, callback=_size, metavar="SIZE", default=default, show_default=True, help=text)


shards_option: Decorator = click.option(
    "--shards",
    metavar="N|auto",
    callback=shards,
    default="auto",
    show_default=True,
    help="Number of parts of the network that run in parallel. Results do not depend on it. "
    "auto: the number that is expected to be fastest, if the simulation takes more than 5 s of CPU time.",
)
live_shards_option: Decorator = click.option(
    "--shards",
    metavar="N|auto",
    callback=shards,
    default="1",
    show_default=True,
    help="Number of engine threads, each with a part of the network, cut at links with a delay. "
    "auto: half of the CPU cores, or as many as the network can be cut into.",
)
prometheus_option: Decorator = click.option(
    "--prometheus",
    is_flag=False,
    flag_value="127.0.0.1:9464",
    callback=_address,
    is_eager=True,
    metavar="[ADDRESS:PORT]",
    help="Serve metrics for Prometheus during the run. Default address: 127.0.0.1:9464.",
)
policy_option: Decorator = click.option(
    "--policy",
    metavar="NAME",
    callback=_policy,
    help="Scheduling policy; longhaul transfer policies lists them.",
)

_MACHINES_OPTIONS = (
    click.option(
        "--on",
        metavar="MACHINES",
        help="Run on several machines: a file with one machine per line, slurm for the nodes of an "
        "allocation, or a YAML file that describes pods of Kubernetes.",
    ),
    click.option(
        "--ssh",
        metavar="COMMAND",
        default="ssh",
        show_default=True,
        help="Command that connects to the machines of --on FILE.",
    ),
    click.option(
        "--tunnel",
        type=click.Choice(["plain", "encrypted"]),
        default="plain",
        show_default=True,
        help="Protection of packets between the machines of --on: plain authenticates them, encrypted also "
        "encrypts them.",
    ),
)


def machines_options(command: Any) -> Any:
    """``--on``, ``--ssh`` and ``--tunnel``: the machines of a network, and how they are connected."""
    for option in reversed(_MACHINES_OPTIONS):
        command = option(command)
    return command


def format_option(text: str) -> Decorator:
    """``--format``, as ``formats``: files for papers."""
    return click.option(
        "--format", "formats", type=click.Choice([*FORMATS, MARKDOWN]), multiple=True, help=text
    )
