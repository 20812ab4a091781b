"""Commands that the page has started and that take a while: their output, progress and end.

They run beside the server, continue when the page is reloaded, and end with the server.
"""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.page.refusals import RefusedError
from longhaul.page.responses.jobs import Job, JobOutput, JobProgress, JobState
from longhaul.run.session import search_path
from longhaul.subprocesses import find_program, python_command

_MOST_LINES = 2_000
_MOST_CHARACTERS = 500
"""Of a line."""
_MOST_KEPT = 50
"""Jobs, those that run included."""
_INTERRUPTED, _NOT_STARTED = 130, 127
"""Exit codes, as shells have them."""
_END_S = 10.0
"""For a job to end, when the server ends."""

ReadProgress = Callable[[str], JobProgress | None]
"""What a line of output says about progress, if anything."""


@dataclass
class _Job:
    """A command and what it has said."""

    id: str
    kind: str
    title: str
    words: tuple[str, ...]
    read: ReadProgress
    started_unix_s: float = field(default_factory=time.time)
    ended_unix_s: float | None = None
    exit_code: int | None = None
    stopped: bool = False
    process: "subprocess.Popen[str] | None" = None
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    said: int = 0
    """Lines in all."""
    progress: JobProgress | None = None

    @property
    def state(self) -> JobState:
        if self.ended_unix_s is None:
            return "stopping" if self.stopped else "running"
        if self.stopped or self.exit_code == _INTERRUPTED:
            return "stopped"
        return "failed" if self.exit_code else "done"

    def told(self) -> Job:
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "command": " ".join(("longhaul", *self.words)),
            "state": self.state,
            "exit_code": self.exit_code,
            "started_unix_s": self.started_unix_s,
            "ended_unix_s": self.ended_unix_s,
            "progress": self.progress,
            "last_line": self.lines[-1] if self.lines else "",
        }


@dataclass
class Jobs:
    """The commands that one server has started."""

    directory: Path
    """Where they run."""
    _jobs: dict[str, _Job] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self, words: Sequence[str], *, kind: str, title: str, alone: Sequence[str], read: ReadProgress
    ) -> Job:
        """Start ``longhaul WORDS``. Raises RefusedError while a job of a kind in ``alone`` runs."""
        with self._lock:
            for each in self._jobs.values():
                if each.ended_unix_s is None and each.kind in alone:
                    raise RefusedError(
                        Code.PAGE_CONFLICT, 409, f"{each.title} is running", remedy="wait, or stop it"
                    )
            job = _Job(f"{kind}-{len(self._jobs) + 1}-{os.urandom(3).hex()}", kind, title, tuple(words), read)
            self._jobs[job.id] = job
            self._forget()
        started = threading.Event()
        # The kernel ends the command with the thread that started it: the one that waits for it.
        threading.Thread(target=self._follow, args=(job, started), daemon=True).start()
        started.wait(10)
        return job.told()

    def all(self) -> list[Job]:
        """Newest first."""
        return [each.told() for each in reversed(self._jobs.values())]

    def of_process(self, pid: int) -> str | None:
        """The id of the job that runs as the process ``pid``, if one does."""
        for each in self._jobs.values():
            if each.ended_unix_s is None and each.process is not None and each.process.pid == pid:
                return each.id
        return None

    def output(self, job: str, *, after: int) -> JobOutput:
        """A job, and its lines after the first ``after``; those that are no longer kept are left out."""
        found = self._find(job)
        with self._lock:
            lines, said = list(found.lines), found.said
        return {
            "job": found.told(),
            "lines": lines[max(0, len(lines) - max(0, said - after)) :],
            "said": said,
        }

    def stop(self, job: str) -> None:
        """Interrupt it, as Ctrl-C does. Raises RefusedError if it has ended."""
        found = self._find(job)
        if found.ended_unix_s is not None:
            raise RefusedError(Code.PAGE_CONFLICT, 409, f"{found.title} has ended", remedy="start it again")
        found.stopped = True
        _interrupt(found)

    def close(self) -> None:
        """End all that run, and wait a while for them."""
        running = [each for each in self._jobs.values() if each.ended_unix_s is None]
        for each in running:
            each.stopped = True
            _interrupt(each)
        deadline = time.monotonic() + _END_S
        while time.monotonic() < deadline and any(each.ended_unix_s is None for each in running):
            time.sleep(0.05)

    def _find(self, job: str) -> _Job:
        found = self._jobs.get(job)
        if found is None:
            raise RefusedError(
                Code.PAGE_NOT_FOUND, 404, "there is no such job", remedy="the server was started again since"
            )
        return found

    def _forget(self) -> None:
        ended = [key for key, each in self._jobs.items() if each.ended_unix_s is not None]
        for key in ended[: max(0, len(self._jobs) - _MOST_KEPT)]:
            del self._jobs[key]

    def _follow(self, job: _Job, started: threading.Event) -> None:
        try:
            self._run(job, started)
        except OSError as error:
            job.lines.append(f"cannot start {error.filename}: {error.strerror}")
            job.said += 1
            job.exit_code = _NOT_STARTED
        job.ended_unix_s = time.time()
        started.set()

    def _run(self, job: _Job, started: threading.Event) -> None:
        tie = find_program("setpriv")
        tied = [tie, "--pdeathsig", "INT"] if tie else []
        with subprocess.Popen(
            [*tied, *python_command("longhaul.cli.main", *job.words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            cwd=self.directory,
            env={**os.environ, "PATH": search_path(), "NO_COLOR": "1", "COLUMNS": "120"},
            start_new_session=True,
        ) as process:
            job.process = process
            started.set()
            assert process.stdout is not None
            for line in process.stdout:
                text = line.rstrip()[:_MOST_CHARACTERS]
                with self._lock:
                    job.lines.append(text)
                    job.said += 1
                job.progress = job.read(text) or job.progress
            job.exit_code = process.wait()


def _interrupt(job: _Job) -> None:
    """SIGINT to the command and to its children, as a terminal sends it."""
    if job.process is not None:
        with suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGINT)
