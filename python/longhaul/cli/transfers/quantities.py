"""Options with units, and those that policies have in common."""

from typing import Any

import click

from longhaul.cli.options import Decorator
from longhaul.scenario.units import Quantity, Span, UnitError


class Unit(click.ParamType[Quantity]):
    """A quantity of the scenario language."""

    def __init__(self, kind: type[Quantity]) -> None:
        """Of this kind."""
        self.kind = kind
        self.name = kind.__name__.lower()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Quantity:
        """Parse it, or say what to write."""
        if isinstance(value, self.kind):
            return value
        try:
            return self.kind.parse(value)
        except UnitError as error:
            self.fail(str(error), param, ctx)


f_option: Decorator = click.option("--f", "f", type=float, help="Of greedy-f and window-f; 0.5 if left out.")
window_option: Decorator = click.option(
    "--window", type=Unit(Span), help="Of window-min and window-f; 60s if left out."
)
