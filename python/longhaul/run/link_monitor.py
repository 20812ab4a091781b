"""The links of a live run, from the records that it writes: counters, and averages over the latest second."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longhaul.analysis.configuration import WAYS, Steps
from longhaul.analysis.drops import undelivered
from longhaul.analysis.rates import queueing_delay_ns, rate_at, throughput, utilisation
from longhaul.run.averaging import AVERAGED_NS, Recent
from longhaul.run.changes import ConfigurationTail
from longhaul.run.following import GrowingSamples

Array = np.ndarray[Any, Any]


class Direction(NamedTuple):
    """A direction of a link."""

    link: str
    way: str


class Sample(NamedTuple):
    """When a sample was taken, and what had begun to leave by then."""

    t_ns: int
    wire_bytes: Array


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

    def __init__(self, directory: Path, plan: dict[str, Any]) -> None:
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
            t_ns = int(columns["t_ns"][0])
            self._kept.add(Sample(t_ns, columns["wire_bytes"]))
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
        from_ns, to_ns = np.full(len(sent), first.t_ns), np.full(len(sent), last.t_ns)
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
