"""A file system that fails at its n-th change, and what a program left on it."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from longhaul import storage
from longhaul.storage import Disk


class CrashError(BaseException):
    """The machine stopped here: nothing that comes later reaches the disk."""


KINDS = ("ENOSPC", "EIO", "short write", "crash before", "crash after")
"""``short write`` is also what a full disk does: some bytes, then an error."""


@dataclass
class Faulty(Disk):
    """Fails change number ``at``, counted from 0, in one of the :data:`KINDS`; -1 fails none."""

    at: int = -1
    kind: str = "EIO"
    changes: list[str] = field(default_factory=list)
    """What was done, in this order."""
    stopped: bool = False

    def _change(
        self, name: str, change: Callable[[], object], half: Callable[[], object] | None = None
    ) -> None:
        if self.stopped:
            raise CrashError
        number = len(self.changes)
        self.changes.append(name)
        if number != self.at:
            change()
            return
        if self.kind.startswith("crash"):
            self.stopped = True
            if self.kind == "crash after":
                change()
            raise CrashError
        if self.kind == "short write" and half is not None:
            half()
        code = errno.EIO if self.kind == "EIO" else errno.ENOSPC
        raise OSError(code, os.strerror(code))

    def create(self, path: Path, *, mode: int) -> int:
        made: list[int] = []
        try:
            self._change(f"create {path.name}", lambda: made.append(Disk.create(self, path, mode=mode)))
        except BaseException:
            for descriptor in made:
                os.close(descriptor)
            raise
        return made[0]

    def write(self, descriptor: int, data: memoryview) -> int:
        written: list[int] = []
        self._change(
            "write",
            lambda: written.append(Disk.write(self, descriptor, data)),
            half=lambda: Disk.write(self, descriptor, data[: len(data) // 2]),
        )
        return written[0]

    def sync(self, descriptor: int) -> None:
        # To wait for the device would make the tests slow, and no test takes the power away.
        self._change("sync", lambda: None)

    def rename(self, source: Path, target: Path) -> None:
        self._change(f"rename {target.name}", lambda: Disk.rename(self, source, target))

    def remove(self, path: Path) -> None:
        self._change(f"remove {path.name}", lambda: Disk.remove(self, path))

    def link(self, target: str, path: Path) -> None:
        self._change(f"link {target}", lambda: Disk.link(self, target, path))

    def make_directory(self, path: Path) -> None:
        self._change(f"make {path.name}", lambda: Disk.make_directory(self, path))

    def sync_directory(self, path: Path) -> None:
        self._change(f"sync {path.name}", lambda: None)


@dataclass(frozen=True)
class Outcome:
    """How a program fared on a faulty file system."""

    at: int
    kind: str
    change: str
    """The change that failed."""
    error: BaseException | None
    """What the program raised."""


def each_fault(
    program: Callable[[], object], *, kinds: tuple[str, ...] = KINDS, every: int = 1
) -> Iterator[Outcome]:
    """Run ``program`` once for every change that it makes and every kind of fault, and yield after each.

    The caller puts the files back into their first state before ``program`` runs, within it.
    """
    whole = Faulty()
    with storage.using(whole):
        program()
    assert whole.changes
    for kind in kinds:
        for at in range(0, len(whole.changes), every):
            faulty = Faulty(at, kind)
            error: BaseException | None = None
            with storage.using(faulty):
                try:
                    program()
                except (Exception, CrashError) as raised:  # noqa: BLE001 -- whatever it is, is looked at
                    error = raised
            assert len(faulty.changes) > at, f"{kind} at {at} did not occur"
            yield Outcome(at, kind, faulty.changes[at], error)


def parts(directory: Path) -> list[Path]:
    """Files that somebody had begun to write."""
    with suppress(FileNotFoundError):
        return sorted(directory.rglob(".*.part"))
    return []
