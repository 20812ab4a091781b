"""What links do right now, from the records that a run is writing."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from longhaul.analysis.configuration import Steps
from longhaul.analysis.rates import steps
from longhaul.page.answers.events import Figures, Sample

Array = np.ndarray[Any, Any]

WAYS = ("forward", "reverse")
FIGURES: Figures = ("bits_per_s", "utilisation", "queue_delay_ns", "lost_packets", "lateness_p99_ns")
"""Of each way of a link: delivered, share of the rate in use, what a packet that came now would wait, packets
that ended otherwise than delivered, and the lateness that one packet in a hundred exceeded."""
_ENDED = ("lost_packets", "overflowed_packets", "dropped_packets", "down_packets", "too_big_packets")
_COUNTED = ("delivered_bytes", "wire_bytes", *_ENDED)
_REPLY = re.compile(rb"icmp_seq=(\d+).* time=([\d.]+) ms")
_MOST_BYTES = 8 << 20
"""Read of one file at once."""


class Growing:
    """A file that is being written, read from where one was."""

    def __init__(self, path: Path) -> None:
        """Begin at the start of ``path``, which may not be there yet."""
        self._path = path
        self._offset = 0

    def read(self) -> bytes:
        """Whole lines that have come since."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read(_MOST_BYTES)
        except OSError:
            return b""
        whole = content[: content.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole


class GrowingTable:
    """A growing CSV file with a head, of whole numbers for directions of links."""

    def __init__(self, path: Path, places: Mapping[str, int]) -> None:
        """``places`` has the number of each ``link/way``."""
        self._file = Growing(path)
        self._places = places
        self._head = b""
        self.names: list[str] = []

    def latest(self) -> tuple[Array, dict[str, Array]]:
        """The numbers of the directions that have new rows, and the last of these, by column."""
        content = self._file.read()
        if content and not self._head:
            end = content.index(b"\n") + 1
            self._head, content = content[:end], content[end:]
            self.names = self._head.decode().strip().split(",")
        if not content:
            return np.array([], dtype=int), {}
        table = pacsv.read_csv(
            BytesIO(self._head + content),
            read_options=pacsv.ReadOptions(use_threads=False),
            convert_options=pacsv.ConvertOptions(
                column_types={
                    name: pa.string() if name in ("link", "way") else pa.int64() for name in self.names
                }
            ),
        )
        keys = zip(table.column("link").to_pylist(), table.column("way").to_pylist(), strict=True)
        rows = {self._places[f"{link}/{way}"]: row for row, (link, way) in enumerate(keys)}
        last = np.fromiter(rows.values(), dtype=int)
        numbers = {
            name: table.column(name).to_numpy()[last] for name in self.names if name not in ("link", "way")
        }
        return np.fromiter(rows, dtype=int), numbers


class Sampler:
    """Reads along in a run's records; one thread at a time."""

    def __init__(self, directory: Path, plan: Mapping[str, Any], pings: Sequence[str]) -> None:
        """For the run in ``directory``; ``pings`` are the programs whose round trips are told."""
        raw = directory / "raw"
        names = [f"{link['name']}/{way}" for link in plan["links"] for way in WAYS]
        places = {name: place for place, name in enumerate(names)}
        self._samples = GrowingTable(raw / "samples.csv", places)
        self._lateness = GrowingTable(raw / "lateness.csv", places)
        self._pings = [Growing(directory / "logs" / f"{program}.out") for program in pings]
        self._rates: list[Steps] = [
            steps(plan, place, way) for place in range(len(plan["links"])) for way in WAYS
        ]
        self._t_ns = np.full(len(names), -1)
        self._counts = np.zeros((len(names), len(_COUNTED)), dtype=np.int64)
        self._late: Array | None = None
        self._figures = np.full((len(names), len(FIGURES)), np.nan)

    def change_rate(self, link: int, way: str, bits_per_s: int) -> None:
        """From now on the direction has another rate than the plan says."""
        self._rates[link * len(WAYS) + WAYS.index(way)] = [(0, bits_per_s)]

    def sample(self) -> Sample | None:
        """The latest figures, links in the order of the plan; ``None`` if nothing is new."""
        new = self._take_samples()
        self._take_lateness()
        replies = [_REPLY.findall(log.read()) for log in self._pings]
        rtts_ns = [round(float(each[-1][1]) * 1e6) if each else None for each in replies]
        if not new and not any(replies):
            return None
        columns = [
            _numbers(column, digits=4 if name == "utilisation" else 0)
            for name, column in zip(FIGURES, self._figures.T, strict=True)
        ]
        ways = list(zip(*columns, strict=True))
        both = [[*one, *other] for one, other in zip(ways[0::2], ways[1::2], strict=True)]
        return {
            "event": "sample",
            "t_ns": int(max(self._t_ns.max(initial=0), 0)),
            "links": both,
            "probes": rtts_ns,
        }

    def _take_samples(self) -> bool:
        places, columns = self._samples.latest()
        if not len(places):
            return False
        t_ns = columns["t_ns"]
        counts = np.stack([columns[name] for name in _COUNTED], axis=1)
        before_ns = self._t_ns[places]
        fresh = (before_ns >= 0) & (t_ns > before_ns)
        more = (counts - self._counts[places])[fresh]
        known, span_ns = places[fresh], (t_ns - before_ns)[fresh]
        rate = np.array([self._rate(place, now_ns) for place, now_ns in zip(known, t_ns[fresh], strict=True)])
        self._figures[known, 0] = more[:, 0] * 8e9 / span_ns
        self._figures[known, 1] = more[:, 1] * 8e9 / span_ns / rate
        self._figures[known, 2] = columns["waiting_bytes"][fresh] * 8e9 / rate
        self._figures[known, 3] = more[:, 2:].sum(axis=1)
        self._t_ns[places] = t_ns
        self._counts[places] = counts
        return True

    def _rate(self, place: int, now_ns: int) -> float:
        """In bit/s; NaN if there is no limit."""
        rates = self._rates[place]
        rate = rates[0][1] if len(rates) == 1 else [rate for at_ns, rate in rates if at_ns <= now_ns][-1]
        return np.nan if rate is None else rate

    def _take_lateness(self) -> None:
        places, columns = self._lateness.latest()
        if not len(places):
            return
        bins = [name for name in self._lateness.names if name.startswith("le_")]
        bounds = np.array([0, *(int(name.split("_")[1]) for name in bins)], dtype=float)
        counts = np.stack([columns[name] for name in ("packets", *bins)], axis=1)
        if self._late is None:
            self._late = np.zeros((len(self._rates), counts.shape[1]), dtype=np.int64)
        more = counts - self._late[places]
        self._late[places] = counts
        self._figures[places, 4] = _percentiles(more[:, 0], more[:, 1:], bounds)


def _percentiles(packets: Array, below: Array, bounds: Array) -> Array:
    """The 99th of each row, between the bounds of its bin; of those beyond all bins the last bound.

    ``below`` counts the packets up to each bound but the first, which is 0.
    """
    wanted = 0.99 * packets
    place = np.minimum((below < wanted[:, None]).sum(axis=1), len(bounds) - 2)
    rows = np.arange(len(packets))
    upper, lower = below[rows, place], np.where(place > 0, below[rows, place - 1], 0)
    part = np.clip((wanted - lower) / np.maximum(upper - lower, 1), 0.0, 1.0)
    found: Array = bounds[place] + (bounds[place + 1] - bounds[place]) * part
    return np.where(packets > 0, found, np.nan)


def _numbers(column: Array, *, digits: int) -> list[float | int | None]:
    """For JSON: rounded, and ``None`` where nothing is known."""
    values: list[float] = np.round(column, digits).tolist()
    if digits:
        return [None if value != value else value for value in values]  # noqa: PLR0124 -- NaN differs from itself
    return [None if value != value else int(value) for value in values]  # noqa: PLR0124
