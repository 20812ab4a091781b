"""The ending of a run, sweep or benchmark: a status and a reason.

Each process writes how its run ended, whatever ends it, and how the processes that it started ended. What
nobody could write, because all were killed or the machine stopped, is recognised when it is read.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any

from longhaul import processes, storage
from longhaul.errors import LonghaulError
from longhaul.results import manifest, run_record

RUNNING = "running"
CRASHED = "crashed"
"""A process of Longhaul's died, or met a defect."""
FAILED = "failed"
"""It could not begin, or not go on: the scenario, a program or the machine is in the way."""
INTERRUPTED = "interrupted"

_WRITTEN_WITHIN_S = 60.0
"""The part of a sweep, which is written at once."""

REASONS = {
    "duration": "its duration has passed",
    "programs": "all programs that end by themselves have ended",
    "flows": "all flows have ended",
    "done": "all its runs are done",
    "incomplete": "some of its runs could not be done",
    "stopped": "its user stopped it",
    INTERRUPTED: "its user interrupted it",
}
"""Of the statuses that need no explanation."""


@dataclass(frozen=True)
class Ending:
    """How something ended, or that it is running."""

    status: str
    """``running``, a key of :data:`REASONS`, ``failed`` or ``crashed``."""
    reason: str | None = None
    """Who ended it and how, in a sentence; ``None`` while it runs."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.status == RUNNING


def read(directory: Path) -> Ending:
    """How what is in ``directory`` ended; ``running`` is told only if it is true, as far as can be seen.

    Raises OSError and ValueError if there is no readable record.
    """
    path = run_record.path_of(directory)
    if path is None:
        raise FileNotFoundError(f"{directory} has none of {', '.join(run_record.NAMES)}")
    content = run_record.read(path)
    ending = Ending(str(content.get("status")), content.get("reason"))
    if not ending.is_running:
        return Ending(ending.status, ending.reason or REASONS.get(ending.status))
    return _unwritten(directory, content) or ending


def settle(directory: Path) -> Ending:
    """The same; an ending that nobody wrote is written, and what its processes left half done is removed."""
    ending = read(directory)
    path = run_record.path_of(directory)
    if path is not None and not ending.is_running:
        if run_record.read(path).get("status") == RUNNING:
            end(directory, ending.status, ending.reason)
        else:
            run_record.release(directory)
            remove_unfinished(directory, may_be_shared=True)
    return ending


def end(directory: Path, status: str, reason: str | None = None) -> None:
    """Write how what is in ``directory`` ended; what has ended stays as it is."""
    path = run_record.path_of(directory)
    if path is None:
        return
    with run_record.locked(directory):
        content = run_record.read(path)
        was_running = content.get("status") == RUNNING
        if was_running:
            content |= {"status": status, "reason": reason or REASONS.get(status)}
            run_record.write(path, content)
    run_record.release(directory)
    remove_unfinished(directory, may_be_shared=not was_running)
    if (directory / "summary.json").is_file():
        # Without results, files may still be written to.
        manifest.update(directory)


@contextmanager
def recorded(directory: Path) -> Iterator[None]:
    """Whatever ends the block with an exception is written as the ending, and passed on."""
    try:
        yield
    except BaseException as error:
        # A disk that takes nothing at all must not hide what happened.
        with suppress(OSError, ValueError):
            found = of_error(error)
            end(directory, found.status, found.reason)
        raise


def of_error(error: BaseException) -> Ending:
    """What an exception means for what it ends."""
    if isinstance(error, KeyboardInterrupt):
        return Ending(INTERRUPTED, str(error) or REASONS[INTERRUPTED])
    if isinstance(error, LonghaulError):
        return Ending(getattr(error, "status", FAILED), error.message)
    if isinstance(error, OSError):
        return Ending(
            FAILED, f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
        )
    frames = extract_tb(error.__traceback__)
    place = f", at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return Ending(CRASHED, f"internal error: {type(error).__name__}: {error}{place}")


def _unwritten(directory: Path, content: Mapping[str, Any]) -> Ending | None:
    """How something ended whose processes are gone, and none of which wrote it; ``None`` if it runs."""
    known: Mapping[str, Mapping[str, Any]] = content.get("processes") or {}
    if any(processes.is_alive(each) is not False for each in known.values()):
        return None
    with suppress(OSError, ValueError):
        ended = json.loads((directory / "raw" / "ended.json").read_text(encoding="utf-8"))
        return Ending(str(ended["ended"]), ended.get("reason") or REASONS.get(ended["ended"]))
    if not known:
        return Ending(CRASHED, "it ended without a reason, under an older version of Longhaul")
    if any(processes.is_of_an_earlier_boot(each) for each in known.values()):
        return Ending(CRASHED, "the machine stopped or was restarted while it ran")
    names = " and ".join(f"the {name} (process {each['pid']})" for name, each in known.items())
    return Ending(CRASHED, f"{names} ended without giving a reason: killed, or out of memory")


def remove_unfinished(directory: Path, *, may_be_shared: bool) -> None:
    """Remove unfinished files, links and directories of processes that have ended, anywhere in ``directory``.

    With ``may_be_shared``, jobs on other machines may write parts of a sweep: a part that is new stays.
    """
    for path in directory.rglob(".*.part"):
        part = storage.part_of(path)
        if part is None or _is_written(path, part[1]):
            continue
        with suppress(FileNotFoundError):
            is_part = may_be_shared and path.parent.name == "parts"
            if not is_part or time.time() - path.stat().st_mtime > _WRITTEN_WITHIN_S:
                storage.discard(path)


def _is_written(path: Path, pid: int) -> bool:
    """Whether process ``pid`` still writes ``path``, or fills it, if it is a directory.

    The lock decides where there is one: the engine's ``pid`` is a number of its own PID namespace.
    """
    locked = None if path.is_dir() else storage.is_locked(path)
    return processes.is_running(pid) if locked is None else locked
