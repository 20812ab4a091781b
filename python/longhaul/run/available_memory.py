"""Available memory, of the machine and of this process's control groups."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_UNKNOWN_BYTES = 1 << 30
"""Assumed to be available where the kernel does not say."""


class _Files(NamedTuple):
    """Where a control group says what it may use and uses, with the groups below it."""

    limit: str
    used: str
    reclaimable: tuple[str, ...]
    """Fields of ``memory.stat`` that count as used, and that the kernel frees when memory is short."""


_VERSION_1 = _Files(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")
)
_VERSION_2 = _Files("memory.max", "memory.current", ("inactive_file", "active_file", "slab_reclaimable"))


def available_bytes() -> int:
    """What processes can still take without swapping: of the machine, and of this process's groups."""
    machine = _fields(Path("/proc/meminfo")).get("MemAvailable:")
    found = [_UNKNOWN_BYTES if machine is None else machine * 1024]
    groups = (available_in_group(each) for each in _own_groups())
    return min([*found, *(each for each in groups if each is not None)])


def available_in_group(group: Path) -> int | None:
    """What a control group of either version leaves; ``None`` where it has no limit or is not one."""
    for files in (_VERSION_2, _VERSION_1):
        limit, used = _number(group / files.limit), _number(group / files.used)
        if limit is not None and used is not None:
            counted = _fields(group / "memory.stat")
            reclaimable = sum(counted.get(name, 0) for name in files.reclaimable)
            return max(0, limit - max(0, used - reclaimable))
    return None


def _own_groups() -> Iterator[Path]:
    """The groups of this process in which the kernel counts memory, each with those above it."""
    own = [line.split(":", 2) for line in _lines(Path("/proc/self/cgroup"))]
    for line in _lines(Path("/proc/self/mountinfo")):
        about, _, kind = line.partition(" - ")
        is_first = kind.startswith("cgroup ") and "memory" in kind.split()[-1].split(",")
        if is_first or kind.startswith("cgroup2 "):
            controller = "memory" if is_first else ""
            mount = Path(about.split()[4])
            for _number_of_hierarchy, controllers, path in own:
                if controller in controllers.split(","):
                    group = mount / path.lstrip("/")
                    yield from (each for each in (group, *group.parents) if each.is_relative_to(mount))


def _fields(path: Path) -> Mapping[str, int]:
    """The first number behind each word at the beginning of a line."""
    split = (line.split() for line in _lines(path))
    return {words[0]: int(words[1]) for words in split if len(words) > 1 and words[1].isdecimal()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _number(path: Path) -> int | None:
    """The number in a file; ``None`` if it has none, such as where it says ``max``."""
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdecimal() else None
