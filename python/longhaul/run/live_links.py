"""The links of a live run as they are now, from its records."""

from dataclasses import dataclass
from math import isnan
from pathlib import Path

from longhaul.results import directory as directories
from longhaul.results.monitors import LatenessMonitor, LinkMonitor, current
from longhaul.scenario.lower.main_tables import is_access_link


@dataclass(frozen=True)
class LinkNow:
    """A direction of a link: averages over the latest second of the run."""

    name: str
    way: str
    access: bool
    """Whether the link attaches a host that does not forward."""
    throughput_bits_per_s: float
    """Bytes that began to leave, as the rate counts them."""
    utilisation: float | None
    """Throughput as a share of the rate; ``None`` without a rate."""
    queueing_delay_ns: float | None
    """Queueing delay of a packet that arrives now; ``None`` without a rate."""
    undelivered_packets: int
    """Lost, dropped, overflowed and so on since the run began."""
    lateness_p99_ns: float | None
    """The 99th percentile of the lateness of packets; ``None`` without packets."""


class Watch:
    """The links of the live run in a directory; what is new is read when it is asked."""

    def __init__(self, directory: Path) -> None:
        """Follow the records in ``directory``, which need not be there yet."""
        plan = directories.read_plan(directory)
        self._access = {link["name"]: is_access_link(plan["nodes"], link) for link in plan["links"]}
        self._links = LinkMonitor(directory, plan)
        names = [f"{each.link}/{each.way}" for each in self._links.directions]
        self._lateness = LatenessMonitor(directory, names)

    def links(self) -> list[LinkNow]:
        """Every direction once it was sampled twice, wide-area links first, busy ones before idle ones."""
        self._links.read()
        self._lateness.read()
        if self._links.averaged_ns is None:
            return []
        found = [
            LinkNow(
                name=direction.link,
                way=direction.way,
                access=self._access[direction.link],
                throughput_bits_per_s=float(throughput),
                utilisation=_known(used),
                queueing_delay_ns=_known(wait),
                undelivered_packets=int(undelivered),
                lateness_p99_ns=_known(late),
            )
            for direction, throughput, used, wait, undelivered, late in zip(
                self._links.directions, *current(self._links, self._lateness), strict=True
            )
        ]
        return sorted(found, key=lambda now: (now.access, -now.throughput_bits_per_s, now.name, now.way))


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
