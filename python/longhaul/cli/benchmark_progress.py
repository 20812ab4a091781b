"""Progress of a benchmark: runs done, runs in progress, remaining time."""

import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from longhaul.benchmark.benchmark import Planned
from longhaul.benchmark.trials import Outcome
from longhaul.cli.bars import Shown
from longhaul.report.console import Console
from longhaul.units.text import duration_text

QUIET_S = 30.0
"""Between two lines where there is no terminal."""


class Progress(Shown):
    """A bar on standard error; plain lines where that is not a terminal."""

    def __init__(self, count: int) -> None:
        """Prepare for so many runs."""
        self._console = Console(stderr=True)
        super().__init__(
            Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
                console=self._console,
                transient=True,
            )
        )
        self._count = count
        self._said = time.monotonic()
        self._task = self._bar.add_task("benchmark", total=count, left="")

    def tell(self, _planned: Planned, done: int, left_s: float, outcome: Outcome | None) -> None:
        """Take a run that has ended into account."""
        left = f"{duration_text(left_s)} left"
        if outcome is not None:
            trial = outcome.trial
            name = f"{'live' if trial.mode == 'live' else 'simulated'}: {trial.case.name}, {trial.subject}"
            self._bar.update(self._task, completed=done, left=left, description=name)
            if outcome.error:
                self._console.print(f"{name}: {outcome.error}", style="red", highlight=False)
        now = time.monotonic()
        if not self._console.is_terminal and (now - self._said > QUIET_S or done == self._count):
            self._said = now
            print(f"{done} of {self._count} runs, {left}", file=sys.stderr)
