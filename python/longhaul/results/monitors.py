"""The links, the lateness and the pings of a run that goes on, from its records, averaged over a second."""

import re
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from longhaul.analysis.configuration import Steps
from longhaul.analysis.drops import undelivered
from longhaul.analysis.lateness import p99_ns
from longhaul.analysis.rates import queueing_delay_ns, rate_at, throughput, utilisation
from longhaul.plan import WAYS, Plan
from longhaul.results.changes import ConfigurationTail
from longhaul.results.growing_files import GrowingSamples, GrowingTable
from longhaul.results.growing_text import GrowingFile

AVERAGED_NS = 10**9
"""Live figures are averages over the sampling intervals that come nearest to this."""


class Timed(Protocol):
    """What was counted up to an instant."""

    @property
    def t_ns(self) -> int:
        """The instant, on the run's clock."""


T = TypeVar("T", bound=Timed)


class Recent(deque[T]):
    """The latest counts of a run, as many as averages need; the newest is the last."""

    def add(self, counted: T) -> None:
        """Add the newest. One of the same instant, as at the end of a run, takes the place of the last."""
        if self and counted.t_ns <= self[-1].t_ns:
            self.pop()
        self.append(counted)
        while len(self) > 2 and self[1].t_ns < counted.t_ns - 2 * AVERAGED_NS:
            self.popleft()

    @property
    def latest(self) -> T | None:
        """The newest; ``None`` before the first."""
        return self[-1] if self else None

    @property
    def averaged_from(self) -> T | None:
        """Where the average up to the newest begins; ``None`` where there are not two."""
        if len(self) < 2:
            return None
        wanted_ns = self[-1].t_ns - AVERAGED_NS
        return min(list(self)[:-1], key=lambda each: abs(each.t_ns - wanted_ns))


Array = np.ndarray[Any, Any]


class Direction(NamedTuple):
    """A direction of a link."""

    link: str
    way: str


class Sample(NamedTuple):
    """What had begun to leave of each direction by the time at which it was sampled.

    Parts of a divided network take their samples a moment apart.
    """

    times_ns: Array
    wire_bytes: Array

    @property
    def t_ns(self) -> int:
        """When the first of them was sampled."""
        return int(self.times_ns[0])


class Usage(NamedTuple):
    """Throughput and utilisation of each direction over the same time; NaN where it is not known.

    Utilisation is not known where there is no rate.
    """

    throughput_bits_per_s: Array
    utilisation: Array


_Groups = dict[tuple[tuple[int, int | None], ...], tuple[Array, Steps]]


class LinkMonitor:
    """Every direction of every link of one run. All arrays are in the order of :attr:`directions`.

    Call :meth:`read`, then look: nothing changes in between. The page, ``run --watch``, Prometheus and Python
    show what this says, so that their figures of one instant are equal.
    """

    def __init__(self, directory: Path, plan: Plan) -> None:
        """For the run in ``directory``, whose records need not be there yet."""
        self._links = len(plan["links"])
        self.directions = [Direction(link["name"], way) for link in plan["links"] for way in WAYS]
        self._table = GrowingSamples(directory / "raw" / "samples.csv", len(self.directions))
        self._configuration = ConfigurationTail(directory, plan)
        self._groups: _Groups | None = None
        self._kept: Recent[Sample] = Recent()
        self.counters: dict[str, Array] = {}
        """The columns of the latest sample; empty before the first."""

    def read(self) -> bool:
        """Take in what was written since; whether there is a new sample."""
        before = self.latest
        if self._configuration.read():
            self._groups = None
        for columns in self._table.read(2 * AVERAGED_NS):
            self._kept.add(Sample(columns["t_ns"], columns["wire_bytes"]))
            self.counters = columns
        return self.latest is not before

    @property
    def latest(self) -> Sample | None:
        """The latest sample; ``None`` before the first."""
        return self._kept.latest

    @property
    def t_ns(self) -> int:
        """When the latest sample was taken, on the run's clock; 0 before the first."""
        return self._kept[-1].t_ns if self._kept else 0

    @property
    def averaged_ns(self) -> int | None:
        """How long the average of :meth:`usage` is; ``None`` before two samples."""
        first = self._kept.averaged_from
        return None if first is None else self.t_ns - first.t_ns

    def usage(self, since: Sample | None = None) -> Usage:
        """The average ``since`` a sample up to the latest, or over the latest second."""
        first, last = since or self._kept.averaged_from, self.latest
        if first is None or last is None or first.t_ns >= last.t_ns:
            unknown = np.full(len(self.directions), np.nan)
            return Usage(unknown, unknown)
        sent = last.wire_bytes - first.wire_bytes
        from_ns, to_ns = first.times_ns, last.times_ns
        used = np.empty(len(sent))
        for places, rates in self._alike().values():
            used[places] = utilisation(rates, sent[places], from_ns[places], to_ns[places])
        return Usage(throughput(sent, from_ns, to_ns), used)

    def rate_bits_per_s(self) -> Array:
        """The rate that each direction has now; NaN where it is unlimited."""
        found = np.empty(len(self.directions))
        for places, rates in self._alike().values():
            found[places] = rate_at(rates, np.array([self.t_ns]))
        return found

    def queueing_delay_ns(self) -> Array:
        """What a packet that came now would wait in each direction's queue; NaN without a rate."""
        if not self.counters:
            return np.full(len(self.directions), np.nan)
        return queueing_delay_ns(self.counters["waiting_bytes"], self.rate_bits_per_s())

    def undelivered_packets(self) -> Array:
        """Packets of each direction that ended otherwise than delivered, since the run began."""
        if not self.counters:
            return np.zeros(len(self.directions), dtype=np.int64)
        found: Array = undelivered(self.counters, "_packets")
        return found

    def _alike(self) -> "_Groups":
        """The directions that have the same rates, by these: networks have many links and few rates."""
        if self._groups is None:
            places: dict[tuple[tuple[int, int | None], ...], list[int]] = {}
            configuration = self._configuration.configuration
            every = [configuration.rates(link, way) for link in range(self._links) for way in WAYS]
            for place, each in enumerate(every):
                places.setdefault(tuple(each), []).append(place)
            self._groups = {rates: (np.array(alike), list(rates)) for rates, alike in places.items()}
        return self._groups


class Counted(NamedTuple):
    """Packets of each direction up to an instant: all, and those up to the bound of each class."""

    t_ns: int
    packets: Array


class LatenessMonitor:
    """The lateness of each direction of a link that ends at a host.

    Arrays are in the order of ``directions``, which are called ``LINK/WAY``. Call :meth:`read`, then look.
    """

    def __init__(self, directory: Path, directions: Sequence[str]) -> None:
        """For the run in ``directory``, whose records need not be there yet."""
        self._places = {name: place for place, name in enumerate(directions)}
        self._table = GrowingTable(directory / "raw" / "lateness.csv")
        self._bounds_ns = np.array([0.0])
        self._kept: Recent[Counted] = Recent()

    def read(self) -> bool:
        """Take in what was written since; whether there is anything new."""
        table = self._table.read()
        if table is None:
            return False
        classes = [name for name in self._table.names if name.startswith("le_")]
        if not self._kept:
            self._bounds_ns = np.array([0, *(int(name.split("_")[1]) for name in classes)], dtype=float)
            self._kept.add(Counted(0, np.zeros((len(self._places), len(classes) + 1), dtype=np.int64)))
        names = zip(table.column("link").to_pylist(), table.column("way").to_pylist(), strict=True)
        places = np.array([self._places[f"{link}/{way}"] for link, way in names], dtype=int)
        counts = np.stack([table.column(name).to_numpy() for name in ("packets", *classes)], axis=1)
        t_ns = table.column("t_ns").to_numpy()
        for instant in np.unique(t_ns):
            packets = self._kept[-1].packets.copy()
            packets[places[t_ns == instant]] = counts[t_ns == instant]
            self._kept.add(Counted(int(instant), packets))
        return True

    @property
    def latest(self) -> Counted | None:
        """The latest counts; ``None`` before the first."""
        return self._kept.latest

    def p99_ns(self, since: Counted | None = None) -> Array:
        """Of the packets ``since`` an instant, or of those of the latest second; NaN where there are none."""
        first, last = since or self._kept.averaged_from, self._kept.latest
        if first is None or last is None:
            return np.full(len(self._places), np.nan)
        more = last.packets - first.packets
        return p99_ns(more[:, 0], more[:, 1:], self._bounds_ns)


_REPLY = re.compile(rb"icmp_seq=\d+.* time=([\d.]+) ms")


def current(links: LinkMonitor, lateness: LatenessMonitor) -> tuple[Array, ...]:
    """Throughput, utilisation, queueing delay, undelivered packets and p99 lateness of each direction now."""
    usage = links.usage()
    return (
        usage.throughput_bits_per_s,
        usage.utilisation,
        links.queueing_delay_ns(),
        links.undelivered_packets(),
        lateness.p99_ns(),
    )


class PingMonitor:
    """The latest answer to each of several pings."""

    def __init__(self, directory: Path, pings: Sequence[str]) -> None:
        """For the run in ``directory``; ``pings`` are programs, or flows if they are simulated."""
        self._pings = pings
        self._logs = [GrowingFile(directory / "logs" / f"{ping}.out") for ping in pings]
        self._ping_table = GrowingTable(directory / "raw" / "pings.csv", texts=("flow",))

    def read(self) -> list[int | None]:
        """The round trip in ns of the latest answer to each since the last time; ``None`` if none came."""
        simulated = self._simulated()
        found: list[int | None] = []
        for ping, log in zip(self._pings, self._logs, strict=True):
            replies = _REPLY.findall(log.read())
            found.append(round(float(replies[-1]) * 1e6) if replies else simulated.get(ping))
        return found

    def _simulated(self) -> dict[str, int]:
        table = self._ping_table.read()
        if table is None:
            return {}
        flows, rtts_ns = table.column("flow").to_pylist(), table.column("rtt_ns").to_pylist()
        return {flow: rtt for flow, rtt in zip(flows, rtts_ns, strict=True) if flow and rtt is not None}
