"""A terminal console without markup in its text."""

from rich import console


class Console(console.Console):
    """Without markup, and without emoji: ``fd00:0:a::1`` is an address, and has no ``:a:``."""

    def __init__(self, *, stderr: bool = False, highlight: bool = True, quiet: bool = False) -> None:
        """On standard output, or on standard error."""
        super().__init__(stderr=stderr, highlight=highlight, quiet=quiet, markup=False, emoji=False)
