"""TCP flows of a run over time, from the records that it is writing: goodput, RTT, window, retransmissions.

Simulated flows are in ``raw/flows.csv``, connections of real hosts in ``raw/sockets.csv``, as their kernel
sees them. Both have the same columns, and the names of the scenario where there are any.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from longhaul.plan import Plan
from longhaul.results.growing_files import GrowingTable

Json = Mapping[str, Any]

COLUMNS = ("goodput_bits_per_s", "rtt_ns", "cwnd_segments", "retransmits")
_LEAST_BYTES = 16 << 10
"""Acknowledged bytes from which on a connection of a real host is reported."""
MOST = 5_000
"""Connections that are reported; further ones are not."""


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
    delivered_bytes: int
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
        self._flows = GrowingTable(raw / "flows.csv", texts=None)
        self._sockets = GrowingTable(raw / "sockets.csv", texts=None)
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
        for row in _rows(self._flows):
            flow = row["flow"]
            about = self._traffic.get(flow)
            name = f"{about['name']} {about['from']} → {about['to']}" if about else flow
            rtt, cwnd = _number(row["rtt_ns"]), _number(row["window_segments"])
            counts = int(row["received_bytes"]), int(row["retransmits"])
            point = self._point(f"{flow} {row['stream']}", name, int(row["t_ns"]), counts, rtt, cwnd)
            found += [point] if point else []
        for row in _rows(self._sockets):
            acknowledged = int(row["acked_bytes"] or 0)
            # Receivers and control connections are left out.
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
        delivered_bytes, retransmits = counts
        before = self._before.get(key)
        if before is None:
            if len(self._before) >= MOST:
                return None
            self._names[name] = number = self._names.get(name, 0) + 1
            label = name if number == 1 else f"{name} ({number})"
            self._before[key] = _Before(label, t_ns, delivered_bytes, retransmits)
            return Point(label, t_ns, None, rtt_ns, cwnd_segments, retransmits)
        if t_ns <= before.t_ns:
            return None
        goodput = (delivered_bytes - before.delivered_bytes) * 8e9 / (t_ns - before.t_ns)
        more = max(0, retransmits - before.retransmits)
        before.t_ns, before.delivered_bytes, before.retransmits = t_ns, delivered_bytes, retransmits
        return Point(before.name, t_ns, max(0.0, goodput), rtt_ns, cwnd_segments, more)


def _rows(table: GrowingTable) -> Iterator[dict[str, str]]:
    while (found := table.read()) is not None:
        yield from found.to_pylist()


def _number(text: str) -> int | None:
    return round(float(text)) if text else None
