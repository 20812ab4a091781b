"""Runs that the page started: their processes and events."""

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from longhaul.analysis.outcome import evaluate_outcome
from longhaul.diagnostics import Code
from longhaul.page.feeds import Feed
from longhaul.page.outcomes import line_of
from longhaul.page.process_events import Failed, Progress, Swept, Told, Transferred
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.events import End, Happening
from longhaul.results import ending
from longhaul.run.session import search_path
from longhaul.subprocesses import python_command

_PATIENCE_S = 120.0
"""For a plan to be made and checked."""


@dataclass
class Started:
    """A run's process."""

    process: subprocess.Popen[bytes]
    orders: Mapping[str, Any]
    directory: Path
    events: list[Happening] = field(default_factory=list)
    """Told before anybody could listen."""
    feed: Feed | None = None
    progress: Progress | None = None
    """Of a simulation, if there is news of it."""
    swept: Swept | None = None
    transferred: Transferred | None = None
    has_ended: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_running(self) -> bool:
        """Whether it is still under way."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Ask it to end soon, with results."""
        _write(self.process, "stop")

    def take_progress(self) -> Progress | None:
        """What has not been taken yet."""
        progress, self.progress = self.progress, None
        return progress

    def tell(self, event: Happening) -> None:
        """Pass an event on, or keep it until there is a feed."""
        with self.lock:
            self.has_ended = self.has_ended or event["event"] == "end"
            if self.feed is None:
                self.events.append(event)
            else:
                self.feed.tell_from_thread(event)

    def attach(self, feed: Feed) -> None:
        """From now on ``feed`` hears everything, and first what there was."""
        with self.lock:
            self.feed = feed
            for event in self.events:
                feed.tell(event)
            self.events.clear()


def start(orders: Mapping[str, Any], *, cwd: Path, program: str = "running") -> Started:
    """Start a run and wait until it has its directory. Raises :class:`RefusedError` if it never will.

    ``orders`` are those of ``program``: :mod:`longhaul.page.running` or :mod:`longhaul.page.sweeping`.
    """
    errors = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by the thread that follows the process
    process = subprocess.Popen(
        python_command(f"longhaul.page.{program}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=cwd,
        env={**os.environ, "PATH": search_path()},
        start_new_session=True,
    )
    _write(process, json.dumps(orders))
    known: Future[Started] = Future()
    threading.Thread(target=_follow, args=(process, orders, errors, known), daemon=True).start()
    try:
        return known.result(_PATIENCE_S)
    except FutureTimeoutError:
        process.kill()
        raise RefusedError(
            Code.RUN_FAILED, 500, "the run does not begin", remedy="try it on the command line"
        ) from None


def _follow(
    process: "subprocess.Popen[bytes]", orders: Mapping[str, Any], errors: IO[bytes], known: "Future[Started]"
) -> None:
    """Pass on the run's events until it has ended, and close its pipes and its file of errors."""
    with errors, process:
        _pass_events_on(process, orders, errors, known)


def _pass_events_on(
    process: "subprocess.Popen[bytes]", orders: Mapping[str, Any], errors: IO[bytes], known: "Future[Started]"
) -> None:
    assert process.stdout is not None
    started: Started | None = None
    early: list[Happening] = []
    for line in process.stdout:
        try:
            event: Told = json.loads(line)
        except ValueError:
            continue
        if event["event"] == "directory":
            started = Started(process, orders, Path(event["directory"]), early)
            known.set_result(started)
        elif started is None:
            if event["event"] == "failed":
                known.set_exception(_RefusalError(event))
            elif (
                event["event"] != "progress" and event["event"] != "swept" and event["event"] != "transferred"
            ):
                early.append(event)
        elif event["event"] == "progress":
            started.progress = event
        elif event["event"] == "swept":
            started.swept = event
        elif event["event"] == "transferred":
            started.transferred = event
        elif event["event"] == "failed":
            started.tell({"event": "problem", **event["error"]})
            started.tell(_failed(event["exit_code"], event["error"]["message"]))
        else:
            started.tell(event)
    code = process.wait()
    errors.seek(0)
    last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
    if started is None:
        if not known.done():
            message = "the run ended before it began"
            known.set_exception(RefusedError(Code.RUN_FAILED, 500, message, remedy="; ".join(last) or None))
    elif not started.has_ended:
        killed = f"was killed (signal {-code})" if code < 0 else f"ended without a message (exit code {code})"
        with suppress(OSError, ValueError):
            ending.end(started.directory, ending.CRASHED, f"the run's process {killed}")
        started.tell(
            {
                "event": "problem",
                "code": Code.RUN_FAILED,
                "message": f"the run {killed}",
                "remedy": "; ".join(last) or None,
            }
        )
        started.tell(_failed(None, f"the run's process {killed}", status=ending.CRASHED))


def _failed(exit_code: int | None, why: str, *, status: str = ending.FAILED) -> End:
    outcome = line_of(evaluate_outcome(None, status=status, reason=why))
    return {"event": "end", "reason": "failed", "exit_code": exit_code, "verdict": None, "outcome": outcome}


class _RefusalError(RefusedError):
    """A run that was refused, in its own words."""

    def __init__(self, event: Failed) -> None:
        super().__init__(
            Code(event["error"]["code"]),
            409 if event["exit_code"] == 3 else 400,
            event["error"]["message"],
            remedy=event["error"]["remedy"],
        )
        self.told = event["error"]


def _write(process: "subprocess.Popen[bytes]", line: str) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ValueError):
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
