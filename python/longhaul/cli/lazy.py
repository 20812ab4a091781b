"""Groups of commands that are imported when they are called, so that help is fast."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

Table = Mapping[str, tuple[str, str]]
"""Commands by name: where each lives, as ``module:attribute``, and one line about it."""


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def __init__(self, *args: Any, table: Table, **settings: Any) -> None:
        """The commands of ``table``, in its order."""
        super().__init__(*args, **settings)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Those that are installed, in the order of the table."""
        return [name for name in self.table if self._has(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if not self._has(cmd_name):
            return None
        module, _, attribute = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest."""
        name = args[0]
        if not self._has(name) and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"see {ctx.command_path} --help"
            raise LonghaulError(Code.WORD_UNKNOWN, f'there is no command "{name}"', remedy=hint, exit_code=2)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        rows = [(name, self.table[name][1]) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def _has(self, name: str) -> bool:
        """Whether there is a command of this name, and its module is installed."""
        return name in self.table and find_spec(self.table[name][0].partition(":")[0]) is not None
