"""What the library tells whoever runs it, by the logger ``longhaul``.

A program that configures no logging has it on standard error; the command line prints it there.
"""

import logging
from collections.abc import Callable

from longhaul.diagnostics import Diagnostic

_LOGGER = logging.getLogger("longhaul")


def warn(*warnings: Diagnostic) -> None:
    """Log what a user should know about a scenario or a run, one line each."""
    for warning in warnings:
        warn_of(warning.headline)


def warn_of(message: str) -> None:
    """The same for one line of text."""
    _LOGGER.warning("longhaul: %s", message)


def note(message: str) -> None:
    """Log what a user may want to know; only the command line prints it."""
    _LOGGER.info("longhaul: %s", message)


class _Printer(logging.Handler):
    """Passes each line to a function that prints it."""

    def __init__(self, printed: Callable[[str], None]) -> None:
        super().__init__()
        self._printed = printed

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        self._printed(self.format(record))


def print_with(printed: Callable[[str], None]) -> None:
    """From now on, give each line to ``printed``, notes too."""
    _LOGGER.handlers[:] = [_Printer(printed)]
    _LOGGER.setLevel(logging.INFO)


def leave_out_notes() -> None:
    """From now on, warnings alone."""
    _LOGGER.setLevel(logging.WARNING)
