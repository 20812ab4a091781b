"""Options that several workloads share."""

from collections.abc import Callable
from typing import Any

import click

from longhaul.workloads.problems import CLASSES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

MODES = ("real", "skeleton")
WAYS_TO_WAIT = ("poll", "sleep")

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
class_option: Decorator = click.option(
    "--class",
    "problem",
    type=click.Choice(CLASSES),
    default="S",
    show_default=True,
    help="Size of the problem.",
)
wait_option: Decorator = click.option(
    "--wait",
    type=click.Choice(WAYS_TO_WAIT),
    default="poll",
    show_default=True,
    help="How ranks wait for messages: poll, which uses a whole core, or sleep between polls, for more ranks"
    " than cores and for the virtual clock. A message is then noticed up to a twentieth of the wait later.",
)


def mode_option(what: str | None = None) -> Decorator:
    """``--mode``; ``what`` it means is its help."""
    return click.option("--mode", type=click.Choice(MODES), default="real", show_default=True, help=what)
