"""The records of a divided run while it runs, joined to those that one engine would be writing.

Its parts, which are engine threads or machines, write below ``machines/``. Everything that shows a running
network reads ``raw/`` and need not know of parts. Times are those of each part's run clock, all of which
started at one instant; when the run has ended, :mod:`longhaul.results.machine_records` writes ``raw/`` again,
complete and exact.
"""

import csv
import json
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from longhaul import log, storage
from longhaul.plan import WAYS, Plan
from longhaul.results.divided_flows import DividedFlows
from longhaul.results.growing_captures import StartedClock
from longhaul.results.growing_text import CHANGES, GrowingFile
from longhaul.results.live_captures import LiveCaptures, PartClock
from longhaul.results.machine_records import MACHINES, joined_change, owner_of

_EVERY_S = 0.1
"""Between two looks at what parts on this machine have recorded."""
_NEVER_NS = 1 << 62
_FLOWS = "flows.csv"
_AS_THEY_ARE = ("sockets.csv", "pings.csv")
"""Tables of which each row belongs to one part."""


class LiveRecords:
    """Joins the records of the parts of one run; one thread at a time."""

    def __init__(
        self,
        directory: Path,
        plan: Plan,
        partition: Sequence[int],
        names: Sequence[str],
        *,
        interval_ns: int,
        are_machines: bool = False,
    ) -> None:
        """For the run in ``directory``; ``partition`` has the part of each node, each of which has a name.

        One sample of each part within an interval of ``interval_ns`` makes a sample of the network. Of
        threads, the first one writes both ends of each simulated flow; parts that ``are_machines`` write
        their own.
        """
        self._raw = directory / "raw"
        self.size = len(names)
        """The number of parts."""
        self._plan = plan
        self._partition = partition
        self._interval_ns = interval_ns
        self._size = 2 * len(plan["links"])
        parts = [directory / MACHINES / name / "raw" for name in names]
        places: list[list[int]] = [[] for _ in names]
        for place in range(self._size):
            places[owner_of(plan, partition, place // 2, WAYS[place % 2])].append(place)
        self._samples = [_Samples(raw, own) for raw, own in zip(parts, places, strict=True) if own]
        self._lateness = [_Rows(raw / "lateness.csv") for raw in parts]
        self._late: dict[bytes, bytes] = {}
        """The latest counts that were not joined yet, by direction."""
        self._others = {name: [_Rows(raw / name) for raw in parts] for name in _AS_THEY_ARE}
        self._flows = [_Rows(raw / _FLOWS) for raw in parts]
        self._divided_flows = DividedFlows(plan, partition, interval_ns) if are_machines else None
        self._flow_rows: deque[list[str]] = deque()
        """Of senders, until what their receivers counted is known."""
        self._joined_ns = [0, 0]
        """The times of the last two samples of the network."""
        self._changes = [GrowingFile(raw / CHANGES, most_bytes=None) for raw in parts]
        self._applied: list[deque[bytes]] = [deque() for _ in parts]
        self._has_header: set[str] = set()
        self._captures = LiveCaptures(directory, plan, partition, names)

    def update(self, clocks: Sequence[PartClock | None] = ()) -> None:
        """Append what all parts have recorded since the last time. Raises OSError.

        Captures are joined if all parts have their ``clocks``.
        """
        if clocks:
            self._captures.update(clocks)
        # Without the record, a run counts as one that makes the changes of its plan.
        (self._raw / CHANGES).touch()
        # A change is known before the first sample that shows it.
        self._join_changes()
        for rows in self._lateness:
            for row in rows.read():
                _t_ns, link, way, _rest = row.split(b",", 3)
                self._late[link + b"," + way] = row
        for samples in self._samples:
            samples.read()
        self._join_samples()
        self._join_flows()
        for name, tables in self._others.items():
            for rows in tables:
                self._append(name, rows.header, list(rows.read()))

    def started_clock(self) -> StartedClock | None:
        """The clock of the run if it has started, and all parts are on this machine."""
        try:
            found = json.loads((self._raw / "started.json").read_text(encoding="utf-8"))
            return StartedClock(int(found["t0_unix_ns"]))
        except (OSError, ValueError, KeyError):
            return None

    def _join_samples(self) -> None:
        while self._samples and all(each.waiting for each in self._samples):
            numbers = [each.waiting[0].t_ns // self._interval_ns for each in self._samples]
            for each, number in zip(self._samples, numbers, strict=True):
                if number < max(numbers):
                    each.waiting.popleft()
            if min(numbers) == max(numbers):
                self._join([each.waiting.popleft() for each in self._samples])

    def _join(self, samples: "Sequence[_Sample]") -> None:
        rows = [b""] * self._size
        for part, sample in zip(self._samples, samples, strict=True):
            for place, row in zip(part.places, sample.rows, strict=True):
                rows[place] = row
        self._append("samples.csv", self._samples[0].header, rows)
        # Lateness only counts up: at a sample, its latest counts hold.
        at_ns = max(sample.t_ns for sample in samples)
        self._joined_ns = [self._joined_ns[1], at_ns]
        t_ns = str(at_ns).encode()
        late = [t_ns + row[row.index(b",") :] for row in self._late.values()]
        header = next((each.header for each in self._lateness if each.header), b"")
        self._append("lateness.csv", header, late)
        self._late.clear()

    def _join_flows(self) -> None:
        flows = self._divided_flows
        if flows is None:
            for table in self._flows:
                self._append(_FLOWS, table.header, list(table.read()))
            return
        for part, table in enumerate(self._flows):
            for row in csv.reader(line.decode() for line in table.read()):
                if flows.is_receivers(row, part):
                    flows.note(row)
                else:
                    self._flow_rows.append(row)
        header = next((table.header for table in self._flows if table.header), b"")
        # What a part wrote with a sample is there with its next one.
        known = [row for row in self._flow_rows if int(row[0]) <= self._joined_ns[0]]
        self._flow_rows = deque(row for row in self._flow_rows if int(row[0]) > self._joined_ns[0])
        self._append(_FLOWS, header, [",".join(flows.joined(row)).encode() for row in known])

    def _join_changes(self) -> None:
        """Every part makes every change, in the same order."""
        for file, lines in zip(self._changes, self._applied, strict=True):
            lines.extend(file.read().splitlines())
        found = []
        while all(self._applied):
            change = [lines.popleft() for lines in self._applied]
            found.append(joined_change(change, self._plan, self._partition).encode())
        self._append(CHANGES, b"", found)

    def _append(self, name: str, header: bytes, rows: Sequence[bytes]) -> None:
        """Append whole lines to a file, which readers may be reading."""
        if not rows:
            return
        lines = [header, *rows] if header and name not in self._has_header else rows
        self._has_header.add(name)
        with (self._raw / name).open("ab") as file:
            file.write(b"\n".join(lines) + b"\n")


class _Rows:
    """The rows of a table that a part is writing."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        self.header = b""

    def read(self) -> Iterator[bytes]:
        """The rows that have come since."""
        while lines := self._file.read().splitlines():
            if not self.header:
                self.header, *lines = lines
            yield from lines


class _Sample:
    """A sample of the directions of one part."""

    def __init__(self, rows: list[bytes]) -> None:
        self.rows = rows
        self.t_ns = int(rows[0][: rows[0].index(b",")])


class _Samples:
    """The samples that a part is writing."""

    def __init__(self, raw: Path, places: list[int]) -> None:
        self.places = places
        """Of its directions in the network, in the order of its rows."""
        self.waiting: deque[_Sample] = deque()
        """Those that were not joined with samples of other parts yet."""
        self._rows = _Rows(raw / "samples.csv")
        self._incomplete: list[bytes] = []

    @property
    def header(self) -> bytes:
        return self._rows.header

    def read(self) -> None:
        """Take in the samples that have become complete."""
        for row in self._rows.read():
            self._incomplete.append(row)
            if len(self._incomplete) == len(self.places):
                self.waiting.append(_Sample(self._incomplete))
                self._incomplete = []


@contextmanager
def kept_joined(records: LiveRecords) -> Iterator[None]:
    """Within the block, what the parts on this machine record is joined as they write it."""
    ends = threading.Event()
    clock: StartedClock | None = None

    def follow() -> None:
        nonlocal clock
        has_ended = False
        while not has_ended:
            # What they have written last is joined, too.
            has_ended = ends.wait(_EVERY_S)
            clock = clock or records.started_clock()
            settled_ns = _NEVER_NS if has_ended else clock.settled_ns() if clock else 0
            part = None if clock is None else PartClock(clock.unix_start_ns, settled_ns)
            try:
                records.update([part] * records.size)
            except OSError as error:
                # Results do not need them.
                log.warn_of(f"live figures have stopped: {error.filename}: {error.strerror}")
                return

    thread = threading.Thread(target=follow, name="live records", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def remove(directory: Path) -> None:
    """Remove what was joined of a run that has no records but these: they are too few for results."""
    for name in ("samples.csv", "lateness.csv", _FLOWS, *_AS_THEY_ARE, CHANGES, "started.json"):
        storage.discard(directory / "raw" / name)
