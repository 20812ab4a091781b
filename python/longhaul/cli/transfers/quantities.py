"""Options with units, and options that several policies share."""

from typing import Any

import click

from longhaul.cli.options import Decorator
from longhaul.units.quantities import Quantity, Span, UnitError


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


f_option: Decorator = click.option(
    "--f", "f", type=float, help="Parameter f of greedy-f and window-f. Default: 0.5."
)
window_option: Decorator = click.option(
    "--window", type=Unit(Span), help="Window of window-min and window-f. Default: 60s."
)
