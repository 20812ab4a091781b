"""Traces of paths: the replies to probes, by hop."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Answers:
    """What one address answered to the probes of one distance."""

    address: str
    count: int
    shortest_ns: int
    """The shortest round trip."""
    mean_ns: float
    name: str | None = None

    def __add__(self, other: "Answers") -> "Answers":
        """Both together."""
        count = self.count + other.count
        mean = (self.mean_ns * self.count + other.mean_ns * other.count) / count
        shortest = min(self.shortest_ns, other.shortest_ns)
        return replace(self, count=count, shortest_ns=shortest, mean_ns=mean, name=self.name or other.name)


@dataclass(frozen=True)
class Hop:
    """All that answered from one distance; nobody, if it was silent."""

    distance: int
    """The TTL or hop limit of the probes."""
    answers: tuple[Answers, ...] = ()


@dataclass(frozen=True)
class Pings:
    """What came back of probes to the end of the path: its loss, both ways."""

    sent: int
    received: int
    answers: Answers | None = None


@dataclass(frozen=True)
class Trace:
    """One path, as one program saw it."""

    source: str
    """What the place is called where it was taken."""
    target: str
    """As it was asked for."""
    address: str | None
    """Of the target."""
    hops: tuple[Hop, ...] = ()
    reached: bool = False
    pings: Pings | None = None
    notes: tuple[str, ...] = ()


def by_path(traces: Sequence[Trace], aliases: Mapping[str, str]) -> dict[tuple[str, str], list[Trace]]:
    """Traces by the keys of their source and target; an alias is an address that a name has elsewhere."""
    found: dict[tuple[str, str], list[Trace]] = defaultdict(list)
    for trace in traces:
        source = aliases.get(trace.source, trace.source)
        target = trace.address or aliases.get(trace.target, trace.target)
        if source != target:
            found[source, target].append(trace)
    return found


def merged(traces: Sequence[Trace]) -> Trace:
    """Traces of one path as one: answers of equal distances and addresses together."""
    hops: dict[int, dict[str, Answers]] = defaultdict(dict)
    for trace in traces:
        for hop in trace.hops:
            at = hops[hop.distance]
            for answers in hop.answers:
                at[answers.address] = both(at.get(answers.address), answers)
    address = next((each.address for each in traces if each.address), None)
    ended = [distance for distance, at in hops.items() if address in at]
    last = min(ended, default=max(hops, default=0))
    pings = [each.pings for each in traces if each.pings]
    together = None
    if pings:
        total: Answers | None = None
        for each in pings:
            total = both(total, each.answers) if each.answers else total
        together = Pings(sum(each.sent for each in pings), sum(each.received for each in pings), total)
    return replace(
        traces[0],
        address=address,
        hops=tuple(Hop(at, tuple(hops[at].values())) for at in sorted(hops) if at <= last),
        reached=any(each.reached for each in traces),
        pings=together,
        notes=tuple(dict.fromkeys(note for each in traces for note in each.notes)),
    )


def both(one: Answers | None, other: Answers) -> Answers:
    """The two together, or the one that there is."""
    return one + other if one else other


def foremost(hop: Hop) -> Answers | None:
    """The address that answered most often; of equals, the one that was seen first."""
    return max(hop.answers, key=lambda each: each.count, default=None)
