"""What a sweep reports while it goes on: runs done, warnings and failures."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from longhaul import log
from longhaul.diagnostics import Code


class Watching(Protocol):
    """Receives the progress of a sweep; left when no more runs are begun."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Nothing more follows."""

    def warn(self, message: str) -> None:
        """Something that the user should know."""

    def fail(self, message: str, code: Code) -> None:
        """A part of the sweep failed, or all that was left of it."""

    def add(self, points: int) -> None:
        """There are so many more runs to do."""

    def found(self, points: int) -> None:
        """So many runs were done before."""

    def done(self, points: int) -> None:
        """So many runs have been done, and their part is kept."""


class Logged(AbstractContextManager["Logged"]):
    """Logs warnings and failures, and nothing else."""

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Nothing has to be ended."""

    def warn(self, message: str) -> None:
        """Log it."""
        log.warn_of(message)

    def fail(self, message: str, _code: Code) -> None:
        """Log it."""
        log.warn_of(message)

    def add(self, points: int) -> None:
        """Not logged."""

    def found(self, points: int) -> None:
        """Not logged."""

    def done(self, points: int) -> None:
        """Not logged."""
