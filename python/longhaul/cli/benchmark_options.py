"""Options that the commands of all suites of the benchmark have."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from longhaul.cli.options import Decorator, runs_option


def which_runs(sim_help: str) -> Decorator:
    """Options that choose the runs; ``sim_help`` is the help of ``--sim``."""
    return _all(
        [
            click.option("--sim", "mode", flag_value="sim", help=sim_help),
            *_WHICH,
        ]
    )


def how_to_run(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for how runs are made, and what is written."""
    return _all(_HOW)(command)


def _all(options: Sequence[Decorator]) -> Decorator:
    """One decorator of several; in help they have the same order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


_WHICH: Sequence[Decorator] = (
    click.option("--live", "mode", flag_value="live", help="Run live only; needs root."),
    click.option(
        "--only", multiple=True, metavar="SCENARIO", help="Run only this scenario; may be repeated."
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        default=5,
        show_default=True,
        help="Number of simulated runs of each case.",
    ),
    click.option(
        "--repeat",
        type=click.IntRange(1, 100),
        default=3,
        show_default=True,
        help="Number of live runs of each case.",
    ),
)
_HOW: Sequence[Decorator] = (
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32),
        default=1,
        show_default=True,
        help="Seed of the first run; the others count up from it.",
    ),
    click.option(
        "--at-once",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        help="Number of live runs at the same time; 1 is most faithful.",
    ),
    click.option(
        "--tries",
        type=click.IntRange(1, 20),
        default=3,
        show_default=True,
        help="Most attempts of a live run that is not faithful; the best attempt counts.",
    ),
    click.option("--keep", is_flag=True, help="Keep the run directory of every run."),
    click.option(
        "--dry-run", is_flag=True, help="Print the runs and the estimated time, without running them."
    ),
    runs_option,
    click.option("--no-report", "report", flag_value=False, default=True, help="Do not write report.html."),
    click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of tables."),
)
