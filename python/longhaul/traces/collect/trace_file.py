"""The file of a trace while it is collected: complete at any end, with its settings in a file beside it."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.traces.collect.prober import Sample


@dataclass(frozen=True)
class Link:
    """From where to where."""

    source: str
    destination: str


@dataclass
class TraceFile:
    """Rows of one link or several, in order of time; :meth:`finish` gives the file its name."""

    path: Path
    links: Sequence[Link]
    tool: str
    period_ns: int
    start_ns: int
    """Time zero on the monotonic clock."""
    columns: Sequence[str] = ("rtt_ms", "rate_mbit")
    """Those that the tool measures."""
    rows: int = 0
    counts: dict[Link, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open a temporary file beside; raises :class:`LonghaulError`."""
        self._part = self.path.with_name(storage.part_name(self.path.name))
        self._digest = hashlib.sha256()
        self._size = 0
        self._last_us = -1
        self._several = len(self.links) > 1
        try:
            self._file = io.FileIO(storage.current().create(self._part, mode=0o666), "w")
        except OSError as error:
            remedy = "name a file in a folder that is there"
            raise LonghaulError(
                Code.FILE_UNWRITABLE, _cannot(self.path, error), remedy=remedy, exit_code=2
            ) from None
        for link in self.links:
            self.counts[link] = {"rows": 0, "rtt": 0, "rate": 0, "failed": 0}
        try:
            self._write(self._heading())
        except OSError as error:
            self.discard()
            remedy = "make room, or name another file"
            raise LonghaulError(Code.FILE_UNWRITABLE, _cannot(self.path, error), remedy=remedy) from None

    def write(self, link: Link, sample: Sample) -> None:
        """One row. Raises :class:`LonghaulError` where the disk is full; earlier rows are whole then."""
        at_us = max((sample.at_ns - self.start_ns + 500) // 1000, self._last_us + 1, 0)
        rtt = "" if sample.rtt_ns is None else f"{sample.rtt_ns / 1e6:.6f}"
        rate = "" if sample.bits_per_s is None else f"{sample.bits_per_s / 1e6:.6f}"
        ends = [link.source, link.destination] if self._several else []
        values = [{"rtt_ms": rtt, "rate_mbit": rate}[name] for name in self.columns]
        try:
            self._write(",".join([f"{at_us / 1e6:.6f}", *ends, *values]) + "\n")
        except OSError as error:
            remedy = "make room, and collect again"
            raise LonghaulError(Code.FILE_UNWRITABLE, _cannot(self.path, error), remedy=remedy) from None
        self._last_us = at_us
        self.rows += 1
        count = self.counts[link]
        count["rows"] += 1
        count["rtt"] += sample.rtt_ns is not None
        count["rate"] += sample.bits_per_s is not None
        count["failed"] += sample.failure is not None

    def finish(self, about: Mapping[str, Any]) -> None:
        """Name the file and write the one beside it; without rows there is neither."""
        if not self.rows:
            self.discard()
            return
        self._file.close()
        content = {
            "wantrace": 1,
            "tool": self.tool,
            "links": [
                {"src": link.source, "dst": link.destination, **self.counts[link]} for link in self.links
            ],
            "period_s": self.period_ns / 1e9,
            **about,
            "sha256": self._digest.hexdigest(),
        }
        beside = self.path.with_suffix(".json")
        try:
            self._part.replace(self.path)
            storage.replace_json(beside, content)
        except OSError as error:
            remedy = f"the {self.rows} rows in {self.path} are whole" if self.path.exists() else None
            raise LonghaulError(Code.FILE_UNWRITABLE, _cannot(beside, error), remedy=remedy) from None

    def discard(self) -> None:
        """Leave nothing."""
        self._file.close()
        self._part.unlink(missing_ok=True)

    def _heading(self) -> str:
        links = "".join(
            f"# link {link.source} {link.destination} tool={self.tool} period_s={self.period_ns / 1e9:g}\n"
            for link in self.links
        )
        header = ",".join(["t_s", *(["src", "dst"] if self._several else []), *self.columns])
        return f"# wantrace 1\n{links}{header}\n"

    def _write(self, text: str) -> None:
        data = memoryview(text.encode())
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._size)
            raise
        self._size += len(data)
        self._digest.update(data)


def check_absent(path: Path, *, force: bool) -> None:
    """Raises :class:`LonghaulError` if the trace or the file beside it already exists."""
    if path.suffix == ".json":
        remedy = "write for example trace.csv; a .json comes beside it"
        raise LonghaulError(
            Code.ARGUMENT_INVALID, f"{path} is not a name of a trace", remedy=remedy, exit_code=2
        )
    for each in (path, path.with_suffix(".json")):
        if each.exists() and not force:
            remedy = "choose another name, or add --force"
            raise LonghaulError(Code.FILE_EXISTS, f"{each} already exists", remedy=remedy, exit_code=2)


def _cannot(path: Path, error: OSError) -> str:
    return f"cannot write {path}: {(error.strerror or 'it fails').lower()}"
