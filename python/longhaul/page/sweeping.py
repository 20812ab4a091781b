"""The process of a sweep that the page started: ``python -m longhaul.page.sweeping``.

Orders come and events go as in :mod:`longhaul.page.running`, and it ends early for the same reasons; then
``longhaul sweep --resume`` does the rest.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from longhaul.analysis.pace import Pace, left_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.page.refusals import as_json
from longhaul.page.run_process import Run, Tell, listen, teller
from longhaul.run.signals import interrupt_on_signals
from longhaul.scenario.sweeps.options import Options
from longhaul.sweeps import sweep as sweeps
from longhaul.sweeps.folder import Folder
from longhaul.sweeps.local import Threads
from longhaul.sweeps.preparation import Prepared, prepare

Json = dict[str, Any]

_SHARE = 0.1
"""Of the time, at most, goes into results so far."""
_SOONEST_S = 1.0
_NICENESS = 10
"""The page, and a live run, come before a sweep."""


@dataclass
class Telling:
    """Tells the page how far a sweep is, and writes its results so far now and then."""

    folder: Folder
    prepared: Prepared
    tell: Tell
    run: Run
    points: int = 0
    finished: int = 0
    pace: Pace = field(default_factory=Pace)
    began_s: float = field(default_factory=time.monotonic)
    next_s: float = 0.0
    """When results so far are written again."""

    def __enter__(self) -> Self:
        """From now on it can be stopped."""
        self.points = self.prepared.points
        # The page draws the axes before there is a result.
        sweeps.conclude(self.folder, self.prepared, status="running")
        self.run.begins()
        self._tell_progress()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """From now on it cannot."""
        self.run.ends()

    def warn(self, message: str) -> None:
        """Send it as a warning."""
        self.tell({"event": "warning", "message": message, "remedy": None})

    def fail(self, message: str, code: Code) -> None:
        """Send it as a problem."""
        self.tell({"event": "problem", "code": code, "message": message, "remedy": None})

    def add(self, points: int) -> None:
        """There are so many more runs to do."""
        self.points += points

    def found(self, points: int) -> None:
        """So many runs were done before."""
        self.finished += points

    def done(self, points: int) -> None:
        """So many runs have been done."""
        self.finished += points
        now_s = time.monotonic()
        self.pace.done(points, at_s=now_s - self.began_s)
        if now_s >= self.next_s:
            sweeps.conclude(self.folder, self.prepared, status="running")
            spent_s = time.monotonic() - now_s
            self.next_s = now_s + max(_SOONEST_S, spent_s / _SHARE)
        self._tell_progress()

    def _tell_progress(self) -> None:
        left = self.pace.left(self.points - self.finished)
        self.tell(
            {
                "event": "swept",
                "done": self.finished,
                "points": self.points,
                "left_text": left_text(left),
            }
        )


def main() -> int:
    """Do the sweep that the orders ask for; 0 if there are results."""
    tell = teller()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt_on_signals()
    orders: Json = json.loads(sys.stdin.readline())
    os.nice(_NICENESS)
    run = Run()
    threading.Thread(target=listen, args=(run,), daemon=True).start()
    try:
        prepared = _prepared(orders)
        with Threads() as workers:
            folder = sweeps.begin(prepared, runs=Path(orders["runs"]), argv=orders["argv"])
            tell({"event": "directory", "directory": str(folder.path)})
            telling = Telling(folder, prepared, tell, run)
            swept = sweeps.execute(folder, prepared, workers, watching=telling)
        reason = swept.summary["status"]
        tell(
            {
                "event": "end",
                "reason": reason,
                "exit_code": swept.exit_code,
                "verdict": None,
                "outcome": None,
            }
        )
    except LonghaulError as error:
        tell({"event": "failed", **as_json(error), "exit_code": error.exit_code})
        return 1
    return 0


def _prepared(orders: Mapping[str, Any]) -> Prepared:
    # Started where the files lie that the text names.
    path, content = Path(orders["name"]), orders["text"].encode()
    return prepare(path, settings=orders["settings"], options=Options(), content=content)


if __name__ == "__main__":
    sys.exit(main())
