"""Control groups that runs leave which are killed before they can remove them."""

import os
import time
from contextlib import suppress
from pathlib import Path

from longhaul import _longhaul

_PATIENCE_S = 2.0
_BETWEEN_LOOKS_S = 0.02


def every(run: str = "*") -> list[Path]:
    """The groups of runs below this process's own, or of one."""
    own = _longhaul.own_cgroup()
    return sorted(Path(own).glob(f"{_longhaul.cgroup_prefix()}{run}")) if own else []


def everywhere() -> list[Path]:
    """The groups of this user's runs, also those that were started in another session or service."""
    prefix, user = _longhaul.cgroup_prefix(), os.geteuid()
    found: list[Path] = []
    for root in _mounts():
        for place, names, _files in os.walk(root):
            ours = [name for name in names if name.startswith(prefix)]
            found += [path for name in ours if (path := Path(place, name)).stat().st_uid == user]
            names[:] = [name for name in names if name not in ours]
    return sorted(found)


def run_of(group: Path) -> str:
    """The unique name of the run whose group it is."""
    return group.name.removeprefix(_longhaul.cgroup_prefix())


def _mounts() -> list[Path]:
    """Where control groups of the second version are."""
    with suppress(OSError):
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        return [Path(each.split()[4]) for each in mounts if " - cgroup2 " in each]
    return []


def remove(group: Path) -> bool:
    """Remove a group and those in it, and say whether it is gone: one with processes stays."""
    if not _is_empty(group):
        return False
    for child in group.iterdir():
        if child.is_dir():
            remove(child)
    with suppress(OSError):
        group.rmdir()
    return not group.exists()


def remove_of(run: str) -> None:
    """Remove the group of a run whose processes have ended, or are about to."""
    deadline_s = time.monotonic() + _PATIENCE_S
    for group in every(run):
        while group.exists() and not remove(group) and time.monotonic() < deadline_s:
            time.sleep(_BETWEEN_LOOKS_S)


def _is_empty(group: Path) -> bool:
    with suppress(OSError):
        return "populated 0" in (group / "cgroup.events").read_text(encoding="utf-8")
    return False
