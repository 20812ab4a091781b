"""The group of all commands; each is imported when it is called, so that help is fast."""

import errno
import os
import sys

import click

from longhaul.cli.lazy import Commands
from longhaul.cli.standard_streams import survive_closed_streams
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.launch import collect_rarely
from longhaul.run.signals import interrupt_on_signals
from longhaul.subprocesses import trusted_import_path

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("longhaul.cli.run:run", "Run a scenario live: real programs, real packets."),
    "sim": ("longhaul.cli.sim:sim", "Simulate a scenario: the same network in the discrete-event simulator."),
    "sweep": (
        "longhaul.cli.sweep:sweep",
        "Simulate many variants of a scenario, here or on a cluster.",
    ),
    "benchmark-cc": (
        "longhaul.cli.benchmark_cc:benchmark_cc",
        "Compare congestion-control algorithms, live and simulated.",
    ),
    "benchmark-aqm": (
        "longhaul.cli.benchmark_aqm:benchmark_aqm",
        "Compare queue disciplines, live and simulated.",
    ),
    "relay": ("longhaul.cli.relay:relay", "Run a WAN without privileges: gateways that delay connections."),
    "shell": ("longhaul.cli.shell:shell", "Run a command on two hosts with one link."),
    "check": ("longhaul.cli.check:check", "Check a scenario and report all problems."),
    "explain": ("longhaul.cli.explain:explain", "Explain the code of an error or a warning."),
    "show": ("longhaul.cli.show:show", "Show the resolved network: addresses, links, paths, RTT, BDP."),
    "new": ("longhaul.cli.new:new", "Write a new scenario from a template."),
    "import": (
        "longhaul.cli.import_:import_",
        "Convert a topology to a scenario: containerlab, Mininet, GraphML, ...",
    ),
    "constellation": (
        "longhaul.cli.constellation:constellation",
        "Write a satellite constellation as a scenario.",
    ),
    "path": ("longhaul.cli.path:path", "Probe the paths to hosts and write them as a scenario."),
    "trace": ("longhaul.cli.trace:trace", "Collect, show, convert and synthesise traces of delay and rate."),
    "transfer": ("longhaul.cli.transfer:transfer", "Schedule and run bulk transfers."),
    "export": ("longhaul.cli.export:export", "Export a scenario to real machines (tc, iproute2)."),
    "ui": ("longhaul.cli.ui:ui", "Open the graphical page in a browser."),
    "schema": ("longhaul.cli.schema:schema", "Print the JSON Schema of scenarios, for editors."),
    "up": ("longhaul.cli.session:up", "Start a network that stays up."),
    "exec": ("longhaul.cli.session:exec_", "Run a command on a host of a running network."),
    "set": ("longhaul.cli.session:set_", "Change a link of a running network."),
    "capture": ("longhaul.cli.capture:capture", "Show or save the packets of a link of a running network."),
    "status": ("longhaul.cli.session:status", "Show the state of a running network."),
    "down": ("longhaul.cli.session:down", "Stop a running network and write its results."),
    "report": ("longhaul.cli.report:report", "Write the report of a run again, or compare runs."),
    "dashboard": ("longhaul.cli.dashboard:dashboard", "Print a Grafana dashboard for live runs."),
    "runs": ("longhaul.cli.runs:runs", "List runs with their metrics; tag, rename, delete, archive them."),
    "compare": ("longhaul.cli.compare:compare", "Compare runs, or a live run with its model."),
    "oracle": ("longhaul.cli.oracle:oracle", "Compare Longhaul's links with netem and tbf of Linux."),
    "study": ("longhaul.cli.study:study", "List, show and run studies: claims, measured and evaluated."),
    "artifact": (
        "longhaul.cli.artifact:artifact",
        "Write one archive of a study or of runs, for others to repeat.",
    ),
    "reproduce": (
        "longhaul.cli.artifact:reproduce",
        "Repeat runs, or an artifact of a study or runs, and compare.",
    ),
    "fit": ("longhaul.cli.fit:fit", "Fit distributions to the gaps between losses."),
    "doctor": ("longhaul.cli.doctor:doctor", "Check what this machine can emulate, and how to improve it."),
    "calibrate": ("longhaul.cli.calibrate:calibrate", "Measure the accuracy and capacity of this machine."),
    "kernel": ("longhaul.cli.kernel:kernel", "Build and list guest kernels, for runs on the virtual clock."),
    "completion": (
        "longhaul.cli.manual:completion",
        "Print shell completion for commands, options and files.",
    ),
    "manual": ("longhaul.cli.manual:manual", "Print the manual page."),
    "clean": ("longhaul.cli.clean:clean", "Remove sockets, control groups and files of killed runs."),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="longhaul", prog_name="longhaul")
def longhaul() -> None:
    """A laboratory for wide-area networks between clusters.

    Describe sites, hosts, links and what runs on them in one file; run it live on this machine with real,
    unmodified programs and microsecond-accurate emulation, or simulate it packet by packet.

    \b
    longhaul shell --delay 20ms --rate 100Mbit -- ping -c 3 far
    longhaul run scenarios/three-clusters.yaml
    longhaul sim scenarios/two-clusters.yaml
    """
    from longhaul import log

    log.print_with(lambda line: click.echo(line, err=True))


def main() -> None:
    """Run the command line; problems of the user's become one line and an exit code."""
    collect_rarely()
    sys.path[:] = trusted_import_path()
    survive_closed_streams()
    interrupt_on_signals()
    try:
        longhaul.main(standalone_mode=False)
    except LonghaulError as error:
        _end_with(error.headline, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        sys.exit(2)
    except click.ClickException as error:
        _end_with(f"{_with_remedy(error)} [{_code_of(error)}]", 2)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            place = f" {error.filename}" if error.filename else ""
            _end_with(
                f"cannot write{place}: {error.strerror}; make room, or name another place with --runs "
                f"[{Code.FILE_UNWRITABLE}]",
                3,
            )
        if os.environ.get("LONGHAUL_DEBUG"):
            raise
        kind = type(error).__name__
        _end_with(
            f"internal error: {kind}: {error}; set LONGHAUL_DEBUG=1 to see where, and report it "
            f"[{Code.INTERNAL}]",
            70,
        )


def _with_remedy(error: click.ClickException) -> str:
    """The message of click, with the help to read where it names no valid value itself."""
    message = error.format_message()
    match error:
        case click.MissingParameter():
            pass
        case click.BadParameter() | click.NoSuchOption(possibilities=[_, *_]):
            return message
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return message
    return f"{message.rstrip('.')}; see {error.ctx.command_path} --help"


def _code_of(error: click.ClickException) -> Code:
    """The code of a problem that click found."""
    if isinstance(error, click.MissingParameter):
        return Code.ARGUMENT_MISSING
    if isinstance(error, click.NoSuchOption):
        return Code.WORD_UNKNOWN
    return Code.ARGUMENT_INVALID


def _end_with(message: str, exit_code: int) -> None:
    click.echo(f"longhaul: {message}", err=True)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
