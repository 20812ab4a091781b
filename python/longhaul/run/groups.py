"""Control groups of runs that were killed before they could remove them."""

import os
import time
from contextlib import suppress
from pathlib import Path

from longhaul import _longhaul

_PATIENCE_S = 2.0
_BETWEEN_LOOKS_S = 0.02
_LIMITS = frozenset({"cpu", "memory"})
"""Controllers of the first version with which hosts are limited."""


def of_run(run: str) -> list[Path]:
    """The groups of a run, given by its unique name."""
    return [group for group in everywhere() if run_of(group) == run]


def everywhere() -> list[Path]:
    """The groups of this user's runs, also those that were started in another session or service."""
    prefix, user = _longhaul.cgroup_prefix(), os.geteuid()
    found: list[Path] = []
    for root in _mounts():
        for place, names, _files in os.walk(root):
            ours = [name for name in names if name.startswith(prefix)]
            for path in (Path(place, name) for name in ours):
                # Runs that end meanwhile remove theirs.
                with suppress(OSError):
                    if path.stat().st_uid == user:
                        found.append(path)
            names[:] = [name for name in names if name not in ours]
    return sorted(found)


def run_of(group: Path) -> str:
    """The unique name of the run whose group it is."""
    return group.name.removeprefix(_longhaul.cgroup_prefix())


def _mounts() -> list[Path]:
    """Where control groups are: those of the second version, and of the first those that limit hosts."""
    found = []
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
            front, _, back = line.partition(" - ")
            kind, *_source, options = back.split()
            if kind == "cgroup2" or (kind == "cgroup" and not _LIMITS.isdisjoint(options.split(","))):
                found.append(Path(front.split()[4]))
    return found


def remove(group: Path) -> bool:
    """Remove a group and those in it, and say whether it is gone: one with processes stays."""
    if not _is_empty(group):
        return False
    with suppress(OSError):
        for child in group.iterdir():
            if child.is_dir():
                remove(child)
        group.rmdir()
    return not group.exists()


def remove_of(run: str) -> None:
    """Remove the group of a run whose processes have ended, or are about to."""
    deadline_s = time.monotonic() + _PATIENCE_S
    for group in of_run(run):
        while group.exists() and not remove(group) and time.monotonic() < deadline_s:
            time.sleep(_BETWEEN_LOOKS_S)


def _is_empty(group: Path) -> bool:
    with suppress(OSError):
        if not (group / "cgroup.events").exists():
            return not any(each.read_text(encoding="utf-8") for each in group.rglob("cgroup.procs"))
        return "populated 0" in (group / "cgroup.events").read_text(encoding="utf-8")
    return False


def cpu_seconds(group: Path) -> dict[str, float]:
    """CPU time that a control group has used in each mode, in seconds; empty if there is no such group."""
    try:
        lines = (group / "cpu.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    found = dict(line.split() for line in lines)
    return {mode: int(found[f"{mode}_usec"]) / 1e6 for mode in ("user", "system") if f"{mode}_usec" in found}
