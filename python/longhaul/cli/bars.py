"""What the progress displays of the commands share."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.progress import Progress


class Shown(AbstractContextManager["Shown"]):
    """A display with a bar, which is on the screen within the block."""

    def __init__(self, bar: Progress) -> None:
        """Prepare to show ``bar``."""
        self._bar = bar

    def __enter__(self) -> Self:
        """Start showing."""
        self._bar.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop showing."""
        self._bar.stop()
