"""The outcome of the run in a directory, with the last lines of failed programs' logs."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from longhaul.analysis.outcome import Outcome, evaluate_outcome
from longhaul.results import ending
from longhaul.results.growing_files import last_bytes
from longhaul.results.run_files import read_json

MOST_LINES = 10
_MOST_BYTES = 4096
_RESULTS_S = 120.0
"""Within which results follow the end of a run."""


def evaluate(directory: Path, summary: Mapping[str, Any]) -> Outcome:
    """The outcome of a run that has this ``summary``, as its directory is now."""
    ended = _ending(directory)
    # Results may be written before the record says how the run ended.
    status = summary.get("ended") if ended.is_running else ended.status
    strict = bool((read_json(directory / "run.json") or {}).get("strict"))
    reason = ended.reason if status in (ending.FAILED, ending.CRASHED) else None
    found = evaluate_outcome(summary, status=status, reason=reason, strict=strict)
    logs = {each.log for each in found.failures if each.log}
    return found.with_lines({name: last_lines(directory, name) for name in logs})


def read_outcome(directory: Path) -> Outcome:
    """The outcome of the run in ``directory``: that of its summary, or else by the record of its end."""
    summary = read_json(directory / "summary.json")
    if summary is not None:
        if "outcome" in summary:
            return Outcome.from_dict(summary["outcome"])
        return evaluate(directory, {"expectations": [], **summary})
    ended = _ending(directory)
    if ended.is_running or ended.status in (ending.FAILED, ending.CRASHED, ending.INTERRUPTED):
        return evaluate_outcome(None, status=ended.status, reason=ended.reason)
    # It has ended; its results are being written, if anybody is left to write them.
    if time.time() - (directory / "run.json").stat().st_mtime < _RESULTS_S:
        return Outcome(state="running", detail="writing results")
    return evaluate_outcome(None, reason=f"no results; write them with: longhaul report {directory}")


def last_lines(directory: Path, name: str) -> tuple[str, ...]:
    """The last lines that a program wrote to its standard error, or else to its output."""
    files = (directory / "logs" / f"{name}.{stream}" for stream in ("err", "out"))
    return next((lines for file in files if (lines := last_lines_of(file))), ())


def last_lines_of(file: Path) -> tuple[str, ...]:
    """The last lines of a log; none if there is no such file."""
    try:
        content, size = last_bytes(file, _MOST_BYTES)
    except OSError:
        return ()
    lines = [line.rstrip() for line in content.decode(errors="replace").splitlines() if line.strip()]
    # The first may be the end of a line.
    lines = lines[1:] if size > _MOST_BYTES and len(lines) > 1 else lines
    return tuple(lines[-MOST_LINES:])


def _ending(directory: Path) -> ending.Ending:
    """How the run ended; one whose record cannot be read crashed."""
    try:
        return ending.read(directory)
    except (OSError, ValueError):
        return ending.Ending(ending.CRASHED, "its run.json cannot be read")
