"""Control groups that runs leave which are killed before they can remove them."""

import time
from contextlib import suppress
from pathlib import Path

from longhaul import _longhaul

_PATIENCE_S = 2.0
_BETWEEN_LOOKS_S = 0.02


def every(run: str = "*") -> list[Path]:
    """The groups of runs that this user may have made, or of one."""
    own = _longhaul.own_cgroup()
    return sorted(Path(own).glob(f"{_longhaul.cgroup_prefix()}{run}")) if own else []


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
