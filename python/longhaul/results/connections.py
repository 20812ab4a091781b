"""TCP flows of a run over time, from the records that it is writing: goodput, RTT, window, retransmissions.

Simulated flows are in ``raw/flows.csv``, connections of real hosts in ``raw/sockets.csv``, as their kernel
sees them. Both are told in the same words, under names of the scenario where they have any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from longhaul.plan import Plan
from longhaul.results.growing_files import GrowingFile

Json = Mapping[str, Any]

COLUMNS = ("goodput_bits_per_s", "rtt_ns", "cwnd_segments", "retransmits")
_LEAST_BYTES = 16 << 10
"""Acknowledged of a connection of a real host before it is told of."""
MOST = 5_000
"""Connections that are told from each other; of more the first are."""


class Point(NamedTuple):
    """What a flow did in the interval that ends at an instant; ``None`` where nothing is known."""

    name: str
    t_ns: int
    goodput_bits_per_s: float | None
    rtt_ns: int | None
    cwnd_segments: int | None
    retransmits: int


@dataclass
class _Before:
    name: str
    t_ns: int
    carried_bytes: int
    retransmits: int


@dataclass
class ConnectionMonitor:
    """The TCP flows of one run. Call :meth:`read` repeatedly; it starts at the beginning of the run."""

    directory: Path
    plan: Plan
    traffic: Sequence[Json]
    """Of ``raw/traffic.json``."""
    _before: dict[str, _Before] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing is read yet."""
        raw = self.directory / "raw"
        self._flows = _Rows(raw / "flows.csv")
        self._sockets = _Rows(raw / "sockets.csv")
        nodes = self.plan["nodes"]
        addresses = ((str(node.get(key)), node["name"]) for node in nodes for key in ("ipv4", "ipv6"))
        nodes = self.plan["nodes"]
        addresses = ((str(node.get(key)), node["name"]) for node in nodes for key in ("ipv4", "ipv6"))
        self._hosts: dict[str, str] = dict(addresses)
        tcp = [each for each in self.traffic if each.get("kind") == "tcp"]
        self._traffic = {each["program"]: each for each in tcp}
        ends: dict[tuple[str, str], list[str]] = {}
        for each in tcp:
            if not each.get("simulated"):
                ends.setdefault((each["from"], each["to"]), []).append(each["name"])
        self._by_ends = {key: names[0] for key, names in ends.items() if len(set(names)) == 1}

    def read(self) -> list[Point]:
        """What has been written since, oldest first for each flow."""
        found = []
        for row in self._flows.read():
            flow = row["flow"]
            about = self._traffic.get(flow)
            name = f"{about['name']} {about['from']} → {about['to']}" if about else flow
            rtt, cwnd = _number(row["rtt_ns"]), _number(row["window_segments"])
            counts = int(row["received_bytes"]), int(row["retransmits"])
            point = self._point(f"{flow} {row['stream']}", name, int(row["t_ns"]), counts, rtt, cwnd)
            found += [point] if point else []
        for row in self._sockets.read():
            acknowledged = int(row["acked_bytes"] or 0)
            # Who only receives, or controls what others send, is not worth a line.
            if acknowledged < _LEAST_BYTES:
                continue
            rtt_us = _number(row["rtt_us"])
            counts = acknowledged, int(row["retransmits"] or 0)
            key, rtt_ns = f"{row['host']} {row['socket']}", rtt_us * 1000 if rtt_us else None
            cwnd = _number(row["cwnd_segments"])
            point = self._point(key, self._name(row), int(row["t_ns"]), counts, rtt_ns, cwnd)
            found += [point] if point else []
        return found

    def _name(self, row: Json) -> str:
        to = self._hosts.get(row["remote"].rpartition(":")[0].strip("[]"), row["remote"])
        name = self._by_ends.get((row["host"], str(to)), "")
        return f"{name} {row['host']} → {to}".strip()

    def _point(
        self,
        key: str,
        name: str,
        t_ns: int,
        counts: tuple[int, int],
        rtt_ns: int | None,
        cwnd_segments: int | None,
    ) -> Point | None:
        carried_bytes, retransmits = counts
        before = self._before.get(key)
        if before is None:
            if len(self._before) >= MOST:
                return None
            self._names[name] = number = self._names.get(name, 0) + 1
            told = name if number == 1 else f"{name} ({number})"
            self._before[key] = _Before(told, t_ns, carried_bytes, retransmits)
            return Point(told, t_ns, None, rtt_ns, cwnd_segments, retransmits)
        if t_ns <= before.t_ns:
            return None
        goodput = (carried_bytes - before.carried_bytes) * 8e9 / (t_ns - before.t_ns)
        more = max(0, retransmits - before.retransmits)
        before.t_ns, before.carried_bytes, before.retransmits = t_ns, carried_bytes, retransmits
        return Point(before.name, t_ns, max(0.0, goodput), rtt_ns, cwnd_segments, more)


class _Rows:
    """The rows of a growing CSV file as text."""

    def __init__(self, path: Path) -> None:
        self._file = GrowingFile(path)
        self._names: list[str] = []

    def read(self) -> Iterator[dict[str, str]]:
        while content := self._file.read():
            for line in content.decode(errors="replace").splitlines():
                fields = line.split(",")
                if not self._names:
                    self._names = fields
                elif len(fields) == len(self._names):
                    yield dict(zip(self._names, fields, strict=True))


def _number(text: str) -> int | None:
    return round(float(text)) if text else None
