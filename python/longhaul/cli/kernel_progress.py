"""Progress of the build of a guest kernel: phase and elapsed time, or lines without a terminal."""

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from longhaul.cli.bars import Shown
from longhaul.kernels import building
from longhaul.kernels.headlines import headline
from longhaul.report.console import Console

QUIET_S = 30.0
"""Between two lines where there is no terminal."""


class BuildProgress(Shown):
    """Shows the phase of a build, and how far the compilation is, on standard error."""

    def __init__(self) -> None:
        """Prepare to show a build."""
        self._console = Console(stderr=True)
        super().__init__(
            Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                console=self._console,
                transient=True,
                disable=not self._console.is_terminal,
            )
        )
        self._phase = ""
        self._began = self._said = time.monotonic()
        self._task = self._bar.add_task("starting", total=None)

    def tell(self, progress: building.Progress) -> None:
        """Take one step of the build into account."""
        total = building.STEPS_EXPECTED if progress.done else None
        self._bar.update(
            self._task,
            description=progress.phase,
            total=total,
            completed=min(progress.done, building.STEPS_EXPECTED),
        )
        now = time.monotonic()
        if self._console.is_terminal or (progress.phase == self._phase and now - self._said < QUIET_S):
            return
        self._phase, self._said = progress.phase, now
        self._console.print(headline(progress, now - self._began), highlight=False)
