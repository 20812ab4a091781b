"""The current state of links, from the records that a run is writing."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.page.responses.events import ConnectionRow, ConnectionsNow, Figures, Now, NowFigures, Sample
from longhaul.plan import Plan
from longhaul.results.connections import ConnectionMonitor, Point
from longhaul.results.monitors import LatenessMonitor, LinkMonitor, PingMonitor, current

Array = np.ndarray[Any, Any]

FIGURES: Figures = (
    "throughput_bits_per_s",
    "queueing_delay_ns",
    "undelivered_packets",
    "lateness_p99_ns",
    "queue_bytes",
)
"""Of each direction of a link since the sample before, for charts: throughput, what a packet that came now
would wait, packets that ended otherwise than delivered, the 99th percentile of lateness, and the queue."""
NOW_FIGURES: NowFigures = (
    "throughput_bits_per_s",
    "utilisation",
    "queueing_delay_ns",
    "undelivered_packets",
    "lateness_p99_ns",
)
"""For numbers, labels and colours: averages over the latest second; ``undelivered_packets`` since the run
began."""
NOW_EVERY_NS = 500_000_000
"""Between two of them, on the run's clock: more often, nobody could read them."""
_DIGITS = {"utilisation": 7}


class Sampler:
    """Reads along in a run's records; one thread at a time."""

    def __init__(self, directory: Path, plan: Plan, pings: Sequence[str]) -> None:
        """For the run in ``directory``; ``pings`` are the programs whose round trips are told."""
        self._links = LinkMonitor(directory, plan)
        names = [f"{each.link}/{each.way}" for each in self._links.directions]
        self._lateness = LatenessMonitor(directory, names)
        self._pings = PingMonitor(directory, pings)
        self._sampled = self._links.latest
        self._late = self._lateness.latest
        self._undelivered = self._links.undelivered_packets()
        self._figures = np.full((len(names), len(FIGURES)), np.nan)
        self._now_ns: int | None = None

    def sample(self) -> Sample | None:
        """The latest figures, links in the order of the plan; ``None`` if nothing is new."""
        new = self._take_samples()
        self._take_lateness()
        rtts_ns = self._pings.read()
        if not new and all(each is None for each in rtts_ns):
            return None
        return {
            "event": "sample",
            "t_ns": self._links.t_ns,
            "links": _both_ways(FIGURES, self._figures),
            "probes": rtts_ns,
            "lateness_p99_ns": _numbers(_worst(self._figures[:, 3]), digits=0)[0],
        }

    def now(self) -> Now | None:
        """What stands beside each link now, if it is time for it; :meth:`sample` has read along before."""
        averaged_ns = self._links.averaged_ns
        if averaged_ns is None or (
            self._now_ns is not None and self._links.t_ns < self._now_ns + NOW_EVERY_NS
        ):
            return None
        self._now_ns = self._links.t_ns
        return {
            "event": "now",
            "t_ns": self._links.t_ns,
            "averaged_ns": averaged_ns,
            "links": _both_ways(NOW_FIGURES, np.stack(current(self._links, self._lateness), axis=1)),
        }

    def _take_samples(self) -> bool:
        if not self._links.read():
            return False
        undelivered = self._links.undelivered_packets()
        if self._sampled is not None:
            self._figures[:, 0] = self._links.usage(self._sampled).throughput_bits_per_s
            self._figures[:, 1] = self._links.queueing_delay_ns()
            self._figures[:, 2] = undelivered - self._undelivered
            self._figures[:, 4] = self._links.counters["waiting_bytes"]
        self._sampled, self._undelivered = self._links.latest, undelivered
        return True

    def _take_lateness(self) -> None:
        if self._lateness.read():
            self._figures[:, 3] = self._lateness.p99_ns(self._late)
            self._late = self._lateness.latest


def _worst(column: Array) -> Array:
    """The greatest that is known, as a column of one row."""
    known = column[~np.isnan(column)]
    return np.array([known.max() if len(known) else np.nan])


def _both_ways(names: Sequence[str], figures: Array) -> list[list[float | None]]:
    """A row for each link: the figures of its forward direction, then those of its reverse one."""
    columns = [
        _numbers(column, digits=_DIGITS.get(name, 0)) for name, column in zip(names, figures.T, strict=True)
    ]
    ways = list(zip(*columns, strict=True))
    return [[*one, *other] for one, other in zip(ways[0::2], ways[1::2], strict=True)]


def _numbers(column: Array, *, digits: int) -> list[float | int | None]:
    """For JSON: rounded, and ``None`` where nothing is known."""
    values: list[float] = np.round(column, digits).tolist()
    if digits:
        return [None if value != value else value for value in values]  # noqa: PLR0124 -- NaN differs from itself
    return [None if value != value else int(value) for value in values]  # noqa: PLR0124


MOST_CONNECTIONS = 16
"""Flows in one event: the fastest."""


class Connections:
    """Reads along in the TCP flows of a run; one thread at a time."""

    def __init__(self, directory: Path, plan: Plan, traffic: Sequence[Any]) -> None:
        """For the run in ``directory``; what was before belongs to its history."""
        self._monitor = ConnectionMonitor(directory, plan, traffic)
        self._monitor.read()
        self._calls = 0

    def news(self) -> ConnectionsNow | None:
        """A row for each flow that has news, twice a second if it is asked ten times; else ``None``."""
        self._calls += 1
        points = self._monitor.read() if self._calls % _CALLS == 0 else []
        if not points:
            return None
        flows: dict[str, list[Point]] = {}
        for each in points:
            flows.setdefault(each.name, []).append(each)
        rows = [together(each) for each in flows.values()]
        rows.sort(key=lambda row: -(row["goodput_bits_per_s"] or 0))
        return {"event": "connections", "rows": rows[:MOST_CONNECTIONS]}


_CALLS = 5


def together(points: Sequence[Point]) -> ConnectionRow:
    """Consecutive intervals of a flow as one."""
    goodput = [each.goodput_bits_per_s for each in points if each.goodput_bits_per_s is not None]
    rtts = [each.rtt_ns for each in points if each.rtt_ns is not None]
    return {
        "name": points[-1].name,
        "t_ns": points[-1].t_ns,
        "goodput_bits_per_s": round(sum(goodput) / len(goodput)) if goodput else None,
        "rtt_ns": max(rtts, default=None),
        "cwnd_segments": points[-1].cwnd_segments,
        "retransmits": sum(each.retransmits for each in points),
    }
