"""The kernels that this user has built: ``~/.cache/longhaul/kernels/NAME``, each complete or absent."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.kernels import recipe
from longhaul.storage import discard, part_of

BINARY = "linux"
CONFIG = "config"
LOG = "build.log"
RECORD = "kernel.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_BUILD = "build one with: longhaul kernel build"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A guest kernel, and how it was built."""

    name: str
    release: str
    """What ``uname -r`` prints in a guest."""
    source: str
    """The package, tarball or directory that it was built from."""
    source_sha256: str
    recipe: Mapping[str, str]
    """SHA-256 of the configuration and the changes, by file."""
    absent_options: tuple[str, ...]
    """Options of the configuration that this version of Linux does not have."""
    sha256: str
    """Of the kernel itself."""
    compiler: str
    built: str
    """When, in UTC (ISO 8601)."""
    build_s: float

    @property
    def directory(self) -> Path:
        """Where its files are."""
        return cache_directory() / self.name

    @property
    def binary(self) -> Path:
        """The kernel, a program."""
        return self.directory / BINARY

    @property
    def is_outdated(self) -> bool:
        """Whether this version of Longhaul would build it differently."""
        return dict(self.recipe) != dict(recipe.hashes())

    def as_json(self) -> dict[str, Any]:
        """The record, with what is known of it now."""
        return {**asdict(self), "path": str(self.binary), "outdated": self.is_outdated}


def cache_directory() -> Path:
    """Where this user's kernels are."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "longhaul" / "kernels"


def check_name(name: str) -> None:
    """Raise LonghaulError if ``name`` cannot be that of a kernel."""
    if not _NAME.fullmatch(name):
        raise LonghaulError(
            Code.ARGUMENT_INVALID,
            f'"{name}" cannot be the name of a kernel',
            remedy="use letters, digits, dots, - and _, for example 6.12.117",
            exit_code=2,
        )


def kernels() -> list[Kernel]:
    """All kernels of this user, the newest version first; of equal versions, the one built last."""
    try:
        names = [path.name for path in cache_directory().iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return []
    found = [kernel for kernel in map(_read, names) if kernel is not None]
    return sorted(found, key=lambda kernel: (_version_key(kernel.release), kernel.built), reverse=True)


def _all_matching(version: str | None) -> list[Kernel]:
    """The kernels that ``version`` may mean, the best first; at least one."""
    fitting = [kernel for kernel in kernels() if version is None or _is_of(kernel.name, version)]
    if not fitting:
        wanted = "no guest kernel" if version is None else f'no guest kernel "{version}"'
        raise LonghaulError(Code.KERNEL_NOT_BUILT, f"this user has {wanted}", remedy=_listed(), exit_code=3)
    # An exact name precedes longer ones.
    return sorted(fitting, key=lambda kernel: kernel.name != version)


def named(name: str) -> Kernel:
    """The kernel of this name. Raises LonghaulError if there is none."""
    kernel = _read(name) if _NAME.fullmatch(name) else None
    if kernel is None:
        raise LonghaulError(Code.KERNEL_NOT_BUILT, f'there is no guest kernel "{name}"', remedy=_listed())
    return kernel


def matching(version: str) -> Kernel:
    """The kernel of this name, or the newest whose name begins with ``version``. Raises LonghaulError."""
    return _all_matching(version)[0]


def find(version: str | None = None) -> Kernel:
    """The kernel for a run: the newest, or the one whose name is or begins with ``version``, as 6.12.

    Raises LonghaulError if there is none, or none that this version of Longhaul would build so.
    """
    fitting = _all_matching(version)
    for kernel in fitting:
        if not kernel.is_outdated:
            return kernel
    raise LonghaulError(
        Code.KERNEL_NOT_BUILT,
        f"guest kernel {fitting[0].name} was built by another version of Longhaul",
        remedy="build it again with: longhaul kernel build",
        exit_code=3,
    )


def remove(name: str) -> Path:
    """Remove a kernel, when no build is in progress; returns its directory. Raises LonghaulError."""
    with locked():
        place = named(name).directory
        # Without its record it is no kernel, should the removal be interrupted.
        (place / RECORD).unlink()
        shutil.rmtree(place)
    return place


@contextmanager
def locked(on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Inside, no other process of this user builds or removes a kernel; ``on_wait`` is called if one does."""
    place = cache_directory()
    try:
        place.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(place / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LonghaulError(
            Code.FILE_UNWRITABLE,
            f"cannot write {place}: {error.strerror}",
            remedy="set XDG_CACHE_HOME",
            exit_code=3,
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait is not None:
                on_wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def discard_unfinished() -> None:
    """Remove what killed builds left. To be called within :func:`locked`, when there is no other build."""
    for path in cache_directory().iterdir():
        if part_of(path):
            discard(path)


def _read(name: str) -> Kernel | None:
    try:
        record = json.loads((cache_directory() / name / RECORD).read_text(encoding="utf-8"))
        # A copied or renamed directory is known by the name that it has.
        kernel = Kernel(**{**record, "name": name, "absent_options": tuple(record["absent_options"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return kernel if kernel.binary.is_file() else None


def _is_of(name: str, version: str) -> bool:
    return name == version or (name.startswith(version) and not name[len(version)].isdigit())


def _version_key(release: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release.partition("-")[0]))


def _listed() -> str:
    names = ", ".join(kernel.name for kernel in kernels())
    return f"there is {names}, or {_BUILD}" if names else _BUILD
