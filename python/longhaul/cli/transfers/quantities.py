"""Options with units."""

from typing import Any

import click

from longhaul.scenario.units import Quantity, UnitError


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
