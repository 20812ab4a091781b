"""What links do right now, from the records that a run is writing."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longhaul.analysis.rates import Steps, steps

Json = dict[str, Any]
Figures = list[float | int | None]

WAYS = ("forward", "reverse")
FIGURES = ("bits_per_s", "utilisation", "queue_delay_ns", "lost_packets", "lateness_p99_ns")
"""Of each way of a link: delivered, share of the rate in use, what a packet that came now would wait, packets
that ended otherwise than delivered, and the lateness that one packet in a hundred exceeded."""
_ENDED = ("lost_packets", "overflowed_packets", "dropped_packets", "down_packets", "too_big_packets")
_REPLY = re.compile(rb"icmp_seq=(\d+).* time=([\d.]+) ms")
_MOST_BYTES = 8 << 20
"""Read of one file at once."""


class Growing:
    """A file that is being written, read line by line from where one was."""

    def __init__(self, path: Path) -> None:
        """Begin at the start of ``path``, which may not be there yet."""
        self._path = path
        self._offset = 0

    def lines(self) -> list[bytes]:
        """Whole lines that have come since."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read(_MOST_BYTES)
        except OSError:
            return []
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.splitlines()


class Sampler:
    """Reads along in a run's records; one thread at a time."""

    def __init__(self, directory: Path, plan: Mapping[str, Any], pings: Sequence[str]) -> None:
        """For the run in ``directory``; ``pings`` are the programs whose round trips are told."""
        raw = directory / "raw"
        self._samples = Growing(raw / "samples.csv")
        self._lateness = Growing(raw / "lateness.csv")
        self._pings = [Growing(directory / "logs" / f"{program}.out") for program in pings]
        names = [link["name"] for link in plan["links"]]
        self._places = {
            (name.encode(), way.encode()): place * len(WAYS) + turn
            for place, name in enumerate(names)
            for turn, way in enumerate(WAYS)
        }
        self._rates: list[Steps] = [steps(plan, place, way) for place in range(len(names)) for way in WAYS]
        self._columns: dict[bytes, int] = {}
        self._bounds: list[tuple[int, int]] = []
        self._last: dict[int, list[bytes]] = {}
        self._seen: dict[int, list[int]] = {}
        self._figures: list[Figures] = [[None] * len(FIGURES) for _ in self._rates]
        self._rtt_ns: list[int | None] = [None] * len(self._pings)
        self.t_ns = 0

    def change_rate(self, link: int, way: str, bits_per_s: int) -> None:
        """From now on the direction has another rate than the plan says."""
        self._rates[link * len(WAYS) + WAYS.index(way)] = [(0, bits_per_s)]

    def sample(self) -> Json | None:
        """The latest figures; ``None`` if nothing is new.

        ``t_ns``, ``links`` (the figures of both ways of each, in the order of the plan) and ``probes`` (the
        latest round trip of each, in ns).
        """
        lines = self._samples.lines()
        late = self._lateness.lines()
        new = self._take_samples(lines)
        self._take_lateness(late)
        for place, log in enumerate(self._pings):
            replies = [match for line in log.lines() if (match := _REPLY.search(line))]
            if replies:
                self._rtt_ns[place] = round(float(replies[-1][2]) * 1e6)
                new = True
        if not new:
            return None
        both = [
            self._figures[place] + self._figures[place + 1]
            for place in range(0, len(self._figures), len(WAYS))
        ]
        return {"t_ns": self.t_ns, "links": both, "probes": self._rtt_ns}

    def _take_samples(self, lines: list[bytes]) -> bool:
        if lines and not self._columns:
            self._columns = {name: place for place, name in enumerate(lines[0].split(b","))}
            lines = lines[1:]
        if not lines:
            return False
        column = self._columns
        named = tuple(column[name] for name in (b"t_ns", b"delivered_bytes", b"wire_bytes", b"waiting_bytes"))
        ended = tuple(column[name.encode()] for name in _ENDED)
        link, way = column[b"link"], column[b"way"]
        # Of several intervals that came at once, losses add up, and the rest is that of the whole time.
        latest: dict[int, list[bytes]] = {}
        for line in lines:
            row = line.split(b",")
            latest[self._places[row[link], row[way]]] = row
        for place, row in latest.items():
            before = self._last.get(place)
            self._last[place] = row
            if before is not None:
                self._figures[place][:4] = self._compared(place, before, row, named, ended)
        return True

    def _compared(
        self,
        place: int,
        before: list[bytes],
        row: list[bytes],
        named: tuple[int, ...],
        ended: tuple[int, ...],
    ) -> Figures:
        t_ns, delivered, wire, waiting = named
        now_ns = int(row[t_ns])
        self.t_ns = max(self.t_ns, now_ns)
        span_ns = now_ns - int(before[t_ns])
        if span_ns <= 0:
            return self._figures[place][:4]
        rate = self._rate(place, now_ns)
        bits_per_s = round((int(row[delivered]) - int(before[delivered])) * 8e9 / span_ns)
        used = queue_ns = None
        if rate:
            used = round((int(row[wire]) - int(before[wire])) * 8e9 / span_ns / rate, 4)
            queue_ns = round(int(row[waiting]) * 8e9 / rate)
        lost = sum(int(row[each]) for each in ended) - sum(int(before[each]) for each in ended)
        return [bits_per_s, used, queue_ns, lost]

    def _rate(self, place: int, now_ns: int) -> int | None:
        rates = self._rates[place]
        return rates[0][1] if len(rates) == 1 else [rate for at_ns, rate in rates if at_ns <= now_ns][-1]

    def _take_lateness(self, lines: list[bytes]) -> None:
        if lines and not self._bounds:
            names = lines[0].decode().split(",")
            self._bounds = [
                (place, int(name.split("_")[1])) for place, name in enumerate(names) if name.startswith("le_")
            ]
            lines = lines[1:]
        latest: dict[int, list[bytes]] = {}
        for line in lines:
            row = line.split(b",")
            latest[self._places[row[1], row[2]]] = row
        for place, row in latest.items():
            counts = [int(row[3]), *(int(row[column]) for column, _bound in self._bounds)]
            before = self._seen.get(place, [0] * len(counts))
            self._seen[place] = counts
            self._figures[place][4] = self._percentile(
                [after - earlier for after, earlier in zip(counts, before, strict=True)]
            )

    def _percentile(self, counts: list[int]) -> int | None:
        """The 99th, between the bounds of its bin; ``counts``: all, and those up to each bound."""
        if not counts[0]:
            return None
        wanted, below, low_ns = 0.99 * counts[0], 0, 0
        for count, (_column, bound_ns) in zip(counts[1:], self._bounds, strict=True):
            if count >= wanted:
                return round(low_ns + (bound_ns - low_ns) * (wanted - below) / max(count - below, 1))
            below, low_ns = count, bound_ns
        return low_ns
