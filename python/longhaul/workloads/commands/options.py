"""Options that several workloads share."""

from collections.abc import Callable
from typing import Any

import click

from longhaul.workloads.problems import CLASSES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

MODES = ("real", "skeleton")

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
class_option: Decorator = click.option(
    "--class",
    "problem",
    type=click.Choice(CLASSES),
    default="S",
    show_default=True,
    help="Size of the problem.",
)
sleep_option: Decorator = click.option(
    "--sleep",
    is_flag=True,
    help="Sleep between looks for a message instead of polling: for more ranks than cores, and for the"
    " virtual clock. A message is noticed up to a twentieth of the wait later.",
)


def mode_option(what: str | None = None) -> Decorator:
    """``--mode``; ``what`` it means is its help."""
    return click.option("--mode", type=click.Choice(MODES), default="real", show_default=True, help=what)
