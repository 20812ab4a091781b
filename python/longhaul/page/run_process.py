"""What the processes of runs and sweeps have in common: orders to end, and events for the server."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from longhaul.analysis.outcome import announced, ending_text, program_failure
from longhaul.errors import LonghaulError
from longhaul.page.process_events import Told
from longhaul.results import directory as directories
from longhaul.run import session

Tell = Callable[[Told], None]


@dataclass
class Run:
    """What a run under way needs to end early."""

    socket: Path | None = None
    """Where its supervisor listens, of a live run that has begun."""
    stoppable: bool = False
    """Whether a signal would end the run, and not the writing of its results."""
    asked: bool = False
    line: session.Line | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def stop(self) -> None:
        """End it soon, keeping what there is; the second time changes nothing."""
        with self.lock:
            if self.asked or not self.stoppable:
                return
            self.asked = True
            if self.socket is not None:
                with suppress(LonghaulError):
                    # The line stays open, as the supervisor forgets who hangs up.
                    self.line = session.connect(self.socket)
                    self.line.tell({"do": "stop"})
                    return
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def begins(self, socket: Path | None = None) -> None:
        """From now on it can be stopped, by word at ``socket`` if it has one."""
        with self.lock:
            self.stoppable = True
            self.socket = self.socket or socket

    def ends(self) -> None:
        """From now on it cannot."""
        with self.lock:
            self.stoppable = False


def teller() -> Tell:
    """What writes an event to the server; from now on nothing else reaches it."""
    events = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(event: Told) -> None:
        with suppress(BrokenPipeError):
            events.write(json.dumps(event).encode() + b"\n")

    return tell


def listen(run: Run) -> None:
    """Stop ``run`` when the server says so, and when there is no server any more."""
    for line in sys.stdin:
        if line.strip() == "stop":
            break
    # What is being prepared begins first, so that it leaves nothing half made.
    while not run.asked:
        run.stop()
        threading.Event().wait(0.2)


def forwarder(directory: Path, socket: Path, run: Run, tell: Tell) -> Callable[[Mapping[str, Any]], None]:
    """What takes a live run's events and forwards them to the server; from the first on it can be stopped."""
    programs = {each["name"]: each for each in directories.read_plan(directory)["programs"]}

    def forward(message: Mapping[str, Any]) -> None:
        run.begins(socket if message.get("event") == "started" else None)
        if message.get("event") != "ended":
            tell(cast("Told", _judged(message, programs)))

    return forward


def _judged(message: Mapping[str, Any], programs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the supervisor says of a program's end, with whether that is a failure."""
    if message.get("event") != "program" or message.get("state") == "started":
        return message
    ended = announced(message, programs.get(message["name"], {}))
    return {**message, "ending": ending_text(ended), "failure": program_failure(ended)}
