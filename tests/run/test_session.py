"""A session starts a worker, and leaves none behind however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from longhaul.results.run_record import DamagedRecordError
from longhaul.run import session
from longhaul.run.session import Session

SLEEP = "import sys, time; time.sleep(float(sys.argv[1]))"


def sleeping(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    """Let workers be processes that sleep so long."""
    monkeypatch.setattr(session, "python_command", lambda *_words: [sys.executable, "-c", SLEEP, seconds])


def test_a_session_that_cannot_be_recorded_leaves_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeping(monkeypatch, "30")
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(Popen(*words, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(DamagedRecordError):
        Session(tmp_path / "plan.json", tmp_path, run="x-1")
    assert [worker.returncode for worker in started] == [-signal.SIGKILL]


def test_a_worker_that_was_waited_for_is_not_signalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeping(monkeypatch, "0")
    started = Session(tmp_path / "plan.json", tmp_path, run="x-2")
    assert started.wait() == 0
    signalled: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, _number: signalled.append(group))
    started.end_at_once("SIGTERM twice")
    started.kill()
    assert signalled == [], "another process may have its number by now"
