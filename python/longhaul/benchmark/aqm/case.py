"""One case of the benchmark of queue disciplines: its sources of traffic, and its congested link."""

from copy import deepcopy
from dataclasses import dataclass
from random import Random

from longhaul.benchmark.aqm.queues import marks, queue
from longhaul.benchmark.suite import Json, SuiteCase

EDGE = 10
"""The rate of edge links, in rates of the congested one."""
CENTRAL_MS = 1.0
"""Delay of the congested link, one way; the rest of a round trip is in the edge links."""
PACKET_BYTES = 1500
LINK = "central"
"""The congested link, with the queue under test in both directions."""


@dataclass(frozen=True)
class Source:
    """Traffic of one class, between two hosts that have no other."""

    name: str
    entries: tuple[Json, ...]
    """Entries of ``traffic`` without ends and times."""
    rtt_ms: float = 100.0
    """Without queues."""
    start_s: float = 0.0
    spread_s: float = 0.0
    """Each entry starts at a random time between ``start_s`` and so much later."""
    stop_s: float | None = None
    """To the end if left out."""
    back: bool = False
    """Whether it is sent from the right to the left."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its entries."""
        if len(self.entries) == 1:
            return (self.name,)
        return tuple(f"{self.name}-{number}" for number in range(1, len(self.entries) + 1))


@dataclass(frozen=True)
class Change:
    """A new rate of the congested link."""

    at_s: float
    bits_per_s: int


@dataclass(frozen=True, kw_only=True)
class QueueCase(SuiteCase):
    """A case, for any queue discipline."""

    sources: tuple[Source, ...]
    changes: tuple[Change, ...] = ()
    initial_window: int = 10
    """Segments (RFC 6928)."""

    @property
    def flow_count(self) -> int:
        """How many entries of traffic it has."""
        return sum(len(each.entries) for each in self.sources)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Congestion-control algorithms of its flows."""
        return tuple(
            dict.fromkeys(each["cc"] for one in self.sources for each in one.entries if "cc" in each)
        )

    @property
    def product_packets(self) -> int:
        """The bandwidth-delay product of the largest round-trip time, in full packets."""
        longest_ms = max(each.rtt_ms for each in self.sources)
        return max(1, round(self.bits_per_s * longest_ms / 1000 / 8 / PACKET_BYTES))


def document(case: QueueCase, *, discipline: str, seed: int) -> Json:
    """The scenario of one run. When flows start depends on the seed and their names, not on the queue."""
    traffic: Json = {}
    # iperf3 counts whole seconds: it is asked for more than there are, and ends with the run.
    end_s = case.duration_s + 5
    for source in case.sources:
        for name, entry in zip(source.names, source.entries, strict=True):
            chance = Random(f"{seed}/{case.name}/{name}").random()
            stop_s = source.stop_s if source.stop_s is not None else _end(entry, case, end_s)
            traffic[name] = {
                **deepcopy(entry),
                **_ends(source),
                "start": _ms(source.start_s + chance * source.spread_s),
                "stop": _ms(stop_s),
            }
    tcp = {"recovery": "sack", "initial_window": case.initial_window}
    return {
        "version": 1,
        "name": case.scenario,
        "seed": seed,
        "duration": _ms(case.duration_s),
        "addresses": "ipv4",
        "nodes": {
            **{
                host: {"kind": "host"}
                for each in case.sources
                for host in (f"s-{each.name}", f"d-{each.name}")
            },
            "left": {"kind": "router"},
            "right": {"kind": "router"},
        },
        "links": {
            LINK: {
                "endpoints": ["left", "right"],
                "rate": f"{case.bits_per_s}bit",
                "delay": f"{CENTRAL_MS:g}ms",
                "queue": queue(discipline, packets=case.product_packets),
            },
            **{name: link for each in case.sources for name, link in _edges(each, case).items()},
        },
        "tcp": {**tcp, "ecn": True} if marks(discipline) else tcp,
        "traffic": traffic,
        "events": [
            {"at": _ms(each.at_s), "link": LINK, "set": {"rate": f"{each.bits_per_s}bit"}}
            for each in case.changes
        ],
        "measure": {
            "every": f"{case.every_ms}ms",
            "packets": {"links": [LINK], "snaplen": "64B", "window": "1s"},
        },
    }


def _end(entry: Json, case: QueueCase, end_s: float) -> float:
    return end_s if entry["kind"] == "tcp" else case.to_s


def _ms(seconds: float) -> str:
    return f"{round(1000 * seconds)}ms"


def _ends(source: Source) -> Json:
    return {"from": f"s-{source.name}", "to": f"d-{source.name}"}


def _edges(source: Source, case: QueueCase) -> Json:
    """Both edge links of a class; they share what is left of its round trip."""
    one_way_ms = (source.rtt_ms / 2 - CENTRAL_MS) / 2
    edge = {
        "rate": f"{EDGE * case.bits_per_s}bit",
        "queue": "1s",
        "delay": f"{round(1e6 * one_way_ms)}ns",
    }
    near, far = ("right", "left") if source.back else ("left", "right")
    return {
        f"from-{source.name}": {"endpoints": [f"s-{source.name}", near], **edge},
        f"to-{source.name}": {"endpoints": [far, f"d-{source.name}"], **edge},
    }
