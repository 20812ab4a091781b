"""What the progress displays of the commands share."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from rich.progress import Progress


class Shown(AbstractContextManager["Shown"]):
    """A display with a bar, which is on the screen within the block; without a terminal there is no bar."""

    def __init__(self, bar: Progress) -> None:
        """Prepare to show ``bar``."""
        self._bar = bar

    def __enter__(self) -> Self:
        """Start showing."""
        if self._bar.console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Stop showing."""
        self.stop()

    def stop(self) -> None:
        """Take the bar off the screen; one that was never on it would leave a blank line."""
        if self._bar.live.is_started:
            self._bar.stop()
