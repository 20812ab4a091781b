"""Lateness of a live run's packets, read from the records that it writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longhaul.analysis.lateness import p99_ns
from longhaul.run.averaging import Recent
from longhaul.run.following import GrowingTable

Array = np.ndarray[Any, Any]


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
