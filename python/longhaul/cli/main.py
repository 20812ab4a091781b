"""The group of all commands; each is imported when it is called, so that help is quick."""

import errno
import os
import sys
from importlib.metadata import version

import click

from longhaul.cli.lazy import Commands
from longhaul.cli.streams import survive_closed_streams
from longhaul.errors import LonghaulError
from longhaul.run.signals import interrupt_on_signals
from longhaul.subprocesses import trusted_import_path

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("longhaul.cli.run:run", "Run a scenario live: real programs, real packets."),
    "sim": ("longhaul.cli.sim:sim", "Simulate a scenario: the same network on a clock that jumps."),
    "sweep": (
        "longhaul.cli.sweep:sweep",
        "Simulate a scenario many times, here or on a cluster.",
    ),
    "benchmark-cc": (
        "longhaul.cli.benchmark_cc:benchmark_cc",
        "Compare congestion controls, live and simulated.",
    ),
    "relay": ("longhaul.cli.relay:relay", "A WAN without privileges: gateways that delay connections."),
    "shell": ("longhaul.cli.shell:shell", "One link, two hosts, your command."),
    "check": ("longhaul.cli.check:check", "Check a scenario and say everything that is wrong."),
    "show": ("longhaul.cli.show:show", "Show what a scenario resolves to: paths, RTT, BDP, queues."),
    "new": ("longhaul.cli.new:new", "Write a scenario to begin with."),
    "import": ("longhaul.cli.import_:import_", "Make a scenario of a topology: GraphML, SNDlib, TeraGrid."),
    "path": ("longhaul.cli.path:path", "Probe the paths to hosts and make a scenario of them."),
    "trace": ("longhaul.cli.trace:trace", "Traces of delay and rate: collect, look at, convert, make."),
    "transfer": ("longhaul.cli.transfer:transfer", "Bulk transfers: plan who moves when, and how fast."),
    "export": ("longhaul.cli.export:export", "Write what sets a scenario up on real machines."),
    "ui": ("longhaul.cli.ui:ui", "Draw, run and compare scenarios in a page of your browser."),
    "schema": ("longhaul.cli.schema:schema", "Print the JSON Schema of scenarios, for editors."),
    "up": ("longhaul.cli.session:up", "Bring a scenario up and leave it up."),
    "exec": ("longhaul.cli.session:exec_", "Run a command in a host of a network that is up."),
    "set": ("longhaul.cli.session:set_", "Change a link while it runs."),
    "status": ("longhaul.cli.session:status", "Say how a run that is up is doing."),
    "down": ("longhaul.cli.session:down", "Take a network down and write its results."),
    "report": ("longhaul.cli.report:report", "Write the report of a run again."),
    "dashboard": ("longhaul.cli.dashboard:dashboard", "Print a Grafana dashboard for runs."),
    "compare": ("longhaul.cli.compare:compare", "Compare runs, or a live run with the model it ran."),
    "fit": ("longhaul.cli.fit:fit", "Find the distribution of the gaps between losses."),
    "doctor": ("longhaul.cli.doctor:doctor", "Examine this machine, and say how to make it better."),
    "calibrate": ("longhaul.cli.calibrate:calibrate", "Measure what emulation costs on this machine."),
    "completion": ("longhaul.cli.manual:completion", "Make the shell complete commands, options and files."),
    "manual": ("longhaul.cli.manual:manual", "Print the manual page."),
    "clean": ("longhaul.cli.clean:clean", "Remove what killed runs left behind."),
}
"""Name, where it lives, and one line about it."""


@click.group(cls=Commands, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("longhaul"), prog_name="longhaul")
def longhaul() -> None:
    """A laboratory for wide-area networks between clusters.

    Describe sites, hosts, links and what runs on them in one file; run it live on this machine with real,
    unmodified programs and microsecond-accurate emulation, or simulate it packet by packet.

    \b
    longhaul shell --delay 20ms --rate 100Mbit -- ping -c 3 far
    longhaul run scenarios/three-clusters.yaml
    longhaul sim scenarios/two-clusters.yaml
    """


def main() -> None:
    """Run the command line; problems of the user's become one line and an exit code."""
    sys.path[:] = trusted_import_path()
    survive_closed_streams()
    interrupt_on_signals()
    try:
        longhaul.main(standalone_mode=False)
    except LonghaulError as error:
        _complain(str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        sys.exit(2)
    except click.ClickException as error:
        _complain(error.format_message(), 2)
    except (KeyboardInterrupt, click.Abort):
        sys.exit(130)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            place = f" {error.filename}" if error.filename else ""
            _complain(
                f"cannot write{place}: {error.strerror}; make room, or name another place with --runs", 3
            )
        if os.environ.get("LONGHAUL_DEBUG"):
            raise
        kind = type(error).__name__
        _complain(f"internal error: {kind}: {error}; set LONGHAUL_DEBUG=1 to see where, and report it", 70)


def _complain(message: str, exit_code: int) -> None:
    click.echo(f"longhaul: {message}", err=True)
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
