"""The process of a run that the page started: ``python -m longhaul.page.running``.

Orders come as one line of JSON on standard input; what happens goes out as lines of JSON. The run ends early
when the line ``stop`` comes, and also when the input ends: so it ends with the server that asked for it.
"""

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

from longhaul.analysis.outcome import Outcome, announced, ending_text, program_failure
from longhaul.errors import LonghaulError
from longhaul.page.outcomes import line_of
from longhaul.page.process_events import Told
from longhaul.page.refusals import as_json
from longhaul.results import directory as directories
from longhaul.run import conclusion, live, rerun, session, sim
from longhaul.run.signals import interrupt_on_signals
from longhaul.run.sockets import socket_path
from longhaul.run.virtual_clock import VirtualClock
from longhaul.scenario import Resolved, resolve
from longhaul.scenario.check.load import parse_scenario

Json = dict[str, Any]
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


def main() -> int:
    """Run what the orders say; 0 if there are results."""
    tell = teller()
    # Whoever starts a server in the background may have told it to ignore this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt_on_signals()
    orders: Json = json.loads(sys.stdin.readline())
    run = Run()
    threading.Thread(target=listen, args=(run,), daemon=True).start()
    try:
        again = rerun.recorded(Path(orders["again"]), comparable=False) if "again" in orders else None
        resolved = _resolved(orders, again)
        for warning in resolved.warnings:
            tell({"event": "warning", "message": warning.headline})
        if again is not None and rerun.is_changed_by_hand(again.directory):
            tell({"event": "warning", "message": "the changes by hand of the run before are not repeated"})
        if (again.mode if again else orders["mode"]) == "sim":
            directory, reason = _simulated(resolved, orders, run, tell)
        else:
            clock = rerun.clock(again, resolved) if again else None
            directory, reason = _live(resolved, orders, run, tell, clock=clock)
        tell({"event": "concluding", "reason": reason})
        summary = conclusion.conclude(directory, reason=reason, report=False)
        verdict = summary["fidelity"]["verdict"]
        outcome = line_of(Outcome.from_dict(summary["outcome"]))
        tell({"event": "results", "verdict": verdict, "outcome": outcome})
        from longhaul.report.html import write_report

        write_report(directory)
        code = conclusion.exit_code(summary)
        tell({"event": "end", "reason": reason, "exit_code": code, "verdict": verdict, "outcome": outcome})
    except LonghaulError as error:
        tell({"event": "failed", **as_json(error), "exit_code": error.exit_code})
        return 1
    return 0


def listen(run: Run) -> None:
    """Stop ``run`` when the server says so, and when there is no server any more."""
    for line in sys.stdin:
        if line.strip() == "stop":
            break
    # What is being prepared begins first, so that it leaves nothing half made.
    while not run.asked:
        run.stop()
        threading.Event().wait(0.2)


def _resolved(orders: Json, again: rerun.Recorded | None) -> Resolved:
    if again is not None:
        return rerun.resolved(again)
    scenario = parse_scenario(
        orders["text"].encode(),
        name=orders["name"],
        settings=orders["settings"],
        folder=Path(orders["folder"]),
    )
    return resolve(scenario, seed=orders["seed"])


def _live(
    resolved: Resolved, orders: Json, run: Run, tell: Tell, *, clock: VirtualClock | None
) -> tuple[Path, str]:
    prepared = live.prepare(resolved, runs=Path(orders["runs"]), argv=orders["argv"], clock=clock)
    tell({"event": "directory", "directory": str(prepared.directory)})
    programs = {each["name"]: each for each in directories.read_plan(prepared.directory)["programs"]}

    def progress(message: Mapping[str, Any]) -> None:
        run.begins(socket_path(prepared.run) if message.get("event") == "started" else None)
        if message.get("event") != "ended":
            tell(cast("Told", _judged(message, programs)))

    try:
        with conclusion.results_so_far(prepared.directory, report=True):
            finished = live.run(prepared, progress=progress)
    finally:
        run.ends()
    return finished.directory, finished.reason


def _judged(message: Mapping[str, Any], programs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """What the supervisor says of a program's end, with whether that is a failure."""
    if message.get("event") != "program" or message.get("state") == "started":
        return message
    ended = announced(message, programs.get(message["name"], {}))
    return {**message, "ending": ending_text(ended), "failure": program_failure(ended)}


def _simulated(resolved: Resolved, orders: Json, run: Run, tell: Tell) -> tuple[Path, str]:
    known = False

    def progress(simulated_s: float, real_s: float) -> None:
        nonlocal known
        if not known:
            known = True
            run.begins()
            tell({"event": "started"})
        tell({"event": "progress", "t_ns": round(simulated_s * 1e9), "real_s": round(real_s, 3)})

    def made(directory: Path) -> None:
        tell({"event": "directory", "directory": str(directory)})

    try:
        finished = sim.run(
            resolved, runs=Path(orders["runs"]), argv=orders["argv"], progress=progress, made=made
        )
    finally:
        run.ends()
    return finished.directory, finished.reason


if __name__ == "__main__":
    sys.exit(main())
