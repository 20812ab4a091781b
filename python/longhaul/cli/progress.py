"""Progress of a run: one line on standard error, or plain lines without a terminal."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from longhaul.analysis.outcome import announced, program_failure
from longhaul.cli.bars import Shown
from longhaul.report.console import Console
from longhaul.run.session import Message
from longhaul.units.text import duration_text

if TYPE_CHECKING:
    from longhaul.cli.terminal.links import Screen

_NOT_LINKS = 4
"""Lines of a terminal that a table of links leaves to others."""


class _Watched(Bar):
    """A bar above the links of a run."""

    screen: "Screen | None" = None

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, and what there is to watch below it."""
        yield from super().get_renderables()
        if self.screen is not None:
            yield self.screen.table(self.console.height - _NOT_LINKS)


class Progress(Shown):
    """Shows building, running and ending of one run."""

    def __init__(self, plan: Path, *, watch: bool = False) -> None:
        """Prepare for the plan in file ``plan``; ``watch`` shows the links of its directory, too."""
        content = json.loads(plan.read_text(encoding="utf-8"))
        self._duration_s = (content["duration_ns"] or 0) / 1e9
        self._programs = {program["name"]: program for program in content["programs"]}
        self._console = Console(stderr=True)
        bar = _Watched(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            transient=True,
        )
        if watch:
            from longhaul.cli.terminal.links import Screen
            from longhaul.run.live_links import Watch

            bar.screen = Screen(Watch(plan.parent))
        super().__init__(bar)
        self._task = self._bar.add_task("building hosts", total=None, note="")

    def tell(self, message: Message) -> None:
        """Take one event of the run into account."""
        match message.get("event"):
            case "building":
                self._bar.update(self._task, total=message["of"], completed=message["nodes"])
            case "up":
                seconds = message["build_ns"] / 1e9
                self._print(f"{message['hosts']} hosts up in {seconds:.2f} s")
            case "algorithm":
                self._print(f"until the end, the kernel follows {message['algorithm']} as {message['name']}")
            case "started":
                self._start_clock()
            case "program":
                self._program(message)
            case "warning":
                self._print(message["message"], style="yellow")
            case "ending":
                self._bar.update(self._task, description="ending", note="")
                self.stop()

    def _start_clock(self) -> None:
        self._bar.reset(self._task, total=self._duration_s or None, description="running")
        if self._bar.live.is_started and self._duration_s:
            self._tick()

    def _tick(self) -> None:
        import threading
        import time

        began = time.monotonic()

        def follow() -> None:
            while self._bar.live.is_started:
                self._bar.update(self._task, completed=min(time.monotonic() - began, self._duration_s))
                time.sleep(0.2)

        threading.Thread(target=follow, daemon=True).start()

    def _program(self, message: Message) -> None:
        if message["state"] != "started":
            failure = program_failure(announced(message, self._programs.get(message["name"], {})))
            if failure:
                self._print(f"{message['name']} on {message['host']}: {failure}", style="red")

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, highlight=False)


class Concluding(Shown):
    """Shows which results of a run are being written, and for how long."""

    def __init__(self) -> None:
        """Prepare; nothing is shown until a part is named."""
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        super().__init__(Bar(*columns, console=Console(stderr=True), transient=True))
        self._task = self._bar.add_task("", total=None, visible=False)

    def write(self, part: str) -> None:
        """From now on ``part`` is written."""
        self._bar.update(self._task, description=f"writing {part}", visible=True, refresh=True)


class Simulating(Shown):
    """Shows how far a simulation has come, how long the rest takes at its pace, and that pace."""

    def __init__(self, duration_ns: int | None) -> None:
        """Prepare for a run of ``duration_ns``, or of unknown length."""
        super().__init__(
            Bar(
                TextColumn("simulating"),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
                console=Console(stderr=True),
                transient=True,
            )
        )
        self._duration_s = duration_ns / 1e9 if duration_ns else None
        self._task = self._bar.add_task("", total=self._duration_s, note="")

    def tell(self, simulated_s: float, real_s: float) -> None:
        """Take simulated and real seconds into account."""
        pace = simulated_s / max(real_s, 1e-3)
        note = f"{simulated_s:.1f} s simulated, {pace:.3g} times real time"
        if self._duration_s is not None and pace > 0:
            note = f"{duration_text(max(self._duration_s - simulated_s, 0.0) / pace)} left, {note}"
        self._bar.update(self._task, completed=simulated_s, note=note)
