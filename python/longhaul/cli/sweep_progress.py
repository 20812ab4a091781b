"""Progress of a sweep: a bar with rate and remaining time, or lines without a terminal."""

import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from longhaul.analysis.pace import Pace, left_text
from longhaul.cli.bars import Shown
from longhaul.diagnostics import Code
from longhaul.report.console import Console

QUIET_S = 10.0
"""Between two lines where there is no terminal."""


class SweepProgress(Shown):
    """Shows runs done, the time left as a range, and the rate, on standard error."""

    def __init__(self, points: int, *, workers: str) -> None:
        """Prepare for so many runs."""
        self._console = Console(stderr=True)
        super().__init__(
            Progress(
                TextColumn("sweeping"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"),
                console=self._console,
                transient=True,
            )
        )
        self._points, self._done, self._new = points, 0, 0
        self._began = self._said = time.monotonic()
        self._pace = Pace()
        self._workers = workers
        self._task = self._bar.add_task("", total=points, note=workers)

    def warn(self, message: str) -> None:
        """Print it beside the bar."""
        self._print(f"longhaul: {message}")

    def fail(self, message: str, _code: Code) -> None:
        """Print it beside the bar, in red."""
        self._print(f"longhaul: {message}", style="red")

    def add(self, points: int) -> None:
        """There are so many more runs to do."""
        self._points += points
        self._bar.update(self._task, total=self._points)

    def found(self, points: int) -> None:
        """So many runs were done before."""
        self._done += points
        self._bar.update(self._task, completed=self._done)

    def done(self, points: int) -> None:
        """So many runs have been done."""
        self._done += points
        self._new += points
        now = time.monotonic()
        self._pace.done(points, at_s=now - self._began)
        rate = self._new / max(now - self._began, 1e-3)
        left = left_text(self._pace.left(self._points - self._done))
        note = f"{left}, {rate:.3g} runs/s, {self._workers}"
        self._bar.update(self._task, completed=self._done, note=note)
        if not self._console.is_terminal and now - self._said > QUIET_S:
            self._said = now
            self._print(f"{self._done} of {self._points} runs, {note}")

    def _print(self, text: str, *, style: str | None = None) -> None:
        self._console.print(text, style=style, highlight=False, soft_wrap=True)
