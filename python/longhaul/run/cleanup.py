"""Removal of what killed runs left: sockets, locks, control groups, temporary directories, keys."""

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from longhaul import processes, storage
from longhaul.results import ending
from longhaul.results.certificate import state_home
from longhaul.results.directory import unfinished
from longhaul.run import groups, run_discovery, sockets

PREFIX = "longhaul-"
"""Of temporary directories, behind which stands the number of the process that made them."""
_CLUSTER = "cluster-"
_ENDED_WITHIN_S = 15.0
_OWNER = "process"
"""In a temporary directory: the process that has it, if it is another than that in its name."""


def temporary_prefix(what: str) -> str:
    """For a temporary directory of this process, which :func:`remove_leftovers` finds when that is gone."""
    return f"{PREFIX}{what}-{os.getpid()}-"


def hand_over(path: Path, pid: int) -> None:
    """Let a temporary directory of this process be that of another one."""
    (path / _OWNER).write_text(f"{pid}\n", encoding="ascii")


def cluster_prefix() -> str:
    """For a directory with a cluster's certificate, in a state directory that machines may share."""
    return f"{_CLUSTER}{socket.gethostname()}-{os.getpid()}-"


def remove_temporary(what: str) -> None:
    """Remove the temporary directories of this kind whose processes are gone."""
    for path in _temporary():
        if path.name.startswith(f"{PREFIX}{what}-"):
            storage.discard(path)


def remove_leftovers(*, everything: bool, runs: Path) -> Iterator[str]:
    """Remove them and say each; with ``everything``, end runs that are up as well.

    Unfinished run directories below ``runs`` are removed, too.

    Runs are found by their processes, and so without a socket, too. How those ended that nobody concluded is
    written down.
    """
    found = False
    for each in (*_ended(everything=everything), *_removed(runs)):
        found = True
        yield each
    if not found:
        yield "nothing to clean"


def _ended(*, everything: bool) -> Iterator[str]:
    """Runs and relays that are up, if they are to be ended."""
    for running in run_discovery.everything() if everything else ():
        if running.socket.parent != sockets.state_directory():
            # Who has a runtime directory of its own looks after its own runs.
            continue
        running.end(within_s=_ENDED_WITHIN_S)
        yield f"ended {running.name}"
        if (running.directory / "run.json").is_file():
            ending.settle(running.directory)


def _removed(runs: Path) -> Iterator[str]:
    for pid in run_discovery.end_exporters():
        yield f"ended process {pid}, which served metrics of a run that has ended"
    for path in sockets.leftovers():
        path.unlink(missing_ok=True)
        yield f"removed {path}"
    under_way = {worker.run for worker in run_discovery.workers()}
    for group in groups.everywhere():
        if groups.run_of(group) not in under_way and groups.remove(group):
            yield f"removed {group}"
    half_made = [path for parent in sorted(runs.glob("*/")) for path in unfinished(parent)]
    for path in (*_temporary(), *half_made):
        storage.discard(path)
        if os.path.lexists(path):
            yield f"cannot remove {path}; remove it by hand"
        else:
            yield f"removed {path}"


def _temporary() -> Iterator[Path]:
    """Temporary directories and certificates of clusters, of this user, whose process is gone."""
    for path in (
        *sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*-*")),
        *sorted(state_home().glob(f"{_CLUSTER}{socket.gethostname()}-*-*")),
    ):
        if _is_own_directory(path) and (pid := _process_of(path)) and not processes.is_running(pid):
            yield path


def _process_of(path: Path) -> int | None:
    """The process that a temporary directory belongs to."""
    number = path.name.split("-")[-2]
    with suppress(OSError):
        number = (path / _OWNER).read_text(encoding="ascii").strip()
    return int(number) if number.isdecimal() else None


def _is_own_directory(path: Path) -> bool:
    """Whether it is a directory of this user; not what a link leads to, nor one that is gone by now."""
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return False
