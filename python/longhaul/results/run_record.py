"""``run.json``, ``sweep.json`` and ``benchmark.json``: the identity and the ending of a run.

Several processes write them, and all may be killed, so that changes are made under a lock and in one step.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from longhaul import json_text
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.storage import replace_bytes, replace_text

Json = dict[str, Any]

Kind = Literal["run", "relay", "sweep", "benchmark"]
NAMES = ("run.json", "sweep.json", "benchmark.json")
RESERVE = ".reserve"
RESERVE_BYTES = 1 << 14
"""Kept free on disk for the last change, which says that the disk is full."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "status": (str,),
    "reason": (str, type(None)),
    "processes": (dict, type(None)),
    "mode": (str,),
    "name": (str,),
    "argv": (list,),
    "started": (str,),
    "versions": (dict,),
    "host": (dict,),
}
"""Of the fields of every record."""
_LOCKED_WITHIN_S = 5.0
_BETWEEN_TRIES_S = 0.01


def path_of(directory: Path) -> Path | None:
    """The record in ``directory``; ``None`` if it has none."""
    return next((path for name in NAMES if (path := directory / name).is_file()), None)


def kind(directory: Path) -> Kind:
    """What is in ``directory``; a run if it has no record. Raises as :func:`read`."""
    path = path_of(directory)
    if path is None:
        return "run"
    if path.name != "run.json":
        return "sweep" if path.name == "sweep.json" else "benchmark"
    return "relay" if read(path).get("mode") == "relay" else "run"


class DamagedRecordError(LonghaulError, ValueError):
    """A record that is not a JSON object."""


def read(path: Path) -> Json:
    """The contents of a record. Raises OSError and DamagedRecordError."""
    try:
        content = json_text.read(path.read_bytes())
    except ValueError:
        content = None
    if not isinstance(content, dict) or not _has_right_types(content):
        raise DamagedRecordError(
            Code.RESULTS_DAMAGED,
            f"{path} is damaged",
            remedy="restore it from a copy, or run the scenario again",
            exit_code=2,
        )
    return content


def is_whole(path: Path) -> bool:
    """Whether a record has all fields that every record has, of the right types."""
    try:
        content = read(path)
    except (OSError, ValueError):
        return False
    return all(name in content for name in _TYPES)


def _has_right_types(content: Json) -> bool:
    return all(isinstance(content[name], kinds) for name, kinds in _TYPES.items() if name in content) and all(
        isinstance(each, dict) and isinstance(each.get("pid", 0), int)
        for each in (content.get("processes") or {}).values()
    )


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Replace a record in one step, if need be in the space that is reserved for that."""
    text = json.dumps(content, indent=1) + "\n"
    try:
        replace_text(path, text)
    except OSError as error:
        reserve = path.with_name(RESERVE)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not reserve.is_file():
            raise
        reserve.unlink()
        replace_text(path, text)


def update(path: Path, **changes: Any) -> None:
    """Change some fields of a record."""
    with locked(path.parent):
        write(path, {**read(path), **changes})


def reserve(directory: Path) -> None:
    """Keep room for the last change of the record in ``directory``; :func:`release` gives it back."""
    replace_bytes(directory / RESERVE, bytes(RESERVE_BYTES))


def release(directory: Path) -> None:
    """Give back what :func:`reserve` took."""
    (directory / RESERVE).unlink(missing_ok=True)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep other processes from changing the records in ``directory``.

    One that was stopped while it holds the lock is waited for no longer than some seconds.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        until_s = time.monotonic() + _LOCKED_WITHIN_S
        while not _is_locked(descriptor) and time.monotonic() < until_s:
            time.sleep(_BETWEEN_TRIES_S)
        yield
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks has one writer at a time as best it can.
        return True
    return True
