"""What a run measured, in the same words for Longhaul's network and for the oracle's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longhaul.oracle.layout import Counter
from longhaul.plan import Plan, Way
from longhaul.results import live_flows

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Passed:
    """The packets of one direction of a link."""

    offered: int
    delivered: int
    """Copies included."""
    lost: int
    """By the loss model."""
    dropped: int
    """By the queue."""


@dataclass(frozen=True)
class Echoes:
    """The answers of a probe."""

    sent: int
    rtt_ns: Sequence[int]
    """In ascending order."""

    @property
    def loss(self) -> float | None:
        """The share without an answer; ``None`` of nothing."""
        return 1 - len(self.rtt_ns) / self.sent if self.sent else None


@dataclass(frozen=True)
class Measured:
    """The results of a run."""

    links: Mapping[tuple[int, Way], Passed]
    flows: Mapping[str, Json]
    """As in ``summary.json``, from what the programs report."""
    probes: Mapping[str, Echoes]

    def losses(self, path: Sequence[tuple[int, Way]], flow: Json) -> int:
        """Segments of a TCP flow that the loss models along its path took, at most."""
        return min(flow["retransmits"] or 0, sum(self.links[step].lost for step in path))


def by_longhaul(directory: Path, plan: Plan, traffic: Sequence[dict[str, Any]], summary: Json) -> Measured:
    """The results of a run of Longhaul."""
    number = {link["name"]: position for position, link in enumerate(plan["links"])}
    links: dict[tuple[int, Way], Passed] = {}
    for each in summary["links"]:
        packets = each["packets"]
        links[number[each["name"]], each["way"]] = Passed(
            offered=packets["offered"],
            delivered=packets["delivered"],
            lost=packets["lost"] + packets["down"],
            dropped=packets["overflowed"] + packets["dropped"],
        )
    return Measured(links, *_reported(directory, plan, traffic, summary["programs"]))


def by_oracle(
    directory: Path,
    plan: Plan,
    traffic: Sequence[dict[str, Any]],
    result: Json,
    counters: Sequence[Counter],
) -> Measured:
    """The results of the guest, whose programs' logs are in ``directory``."""
    links: dict[tuple[int, Way], Passed] = {}
    for link in range(len(plan["links"])):
        for way in ("forward", "reverse"):
            stages = [each for each in counters if (each.link, each.way) == (link, way)]
            links[link, way] = _passed([(each.role, _counted(result, each)) for each in stages])
    return Measured(links, *_reported(directory, plan, traffic, result["programs"]))


def _passed(stages: Sequence[tuple[str, tuple[int, int, int]]]) -> Passed:
    """Of the stages of one direction, each with packets passed, dropped and still inside."""
    return Passed(
        offered=sum(stages[0][1]),
        delivered=stages[-1][1][0],
        lost=sum(dropped for role, (_, dropped, _) in stages if role in ("loss", "delay")),
        dropped=sum(dropped for role, (_, dropped, _) in stages if role in ("queue", "serialiser")),
    )


def _counted(result: Json, counter: Counter) -> tuple[int, int, int]:
    """Packets passed and dropped during the run, and those still inside at its end."""

    def root(when: str) -> Json:
        return next(
            each
            for each in result[when][counter.namespace]
            if each.get("dev") == counter.device and each.get("root")
        )

    before, after = root("before"), root("after")
    return (
        after["packets"] - before["packets"],
        after["drops"] - before["drops"],
        after["qlen"] - before["qlen"],
    )


def _reported(
    directory: Path, plan: Plan, traffic: Sequence[dict[str, Any]], programs: Sequence[dict[str, Any]]
) -> tuple[Mapping[str, Json], Mapping[str, Echoes]]:
    """Flows and probes, from the programs' logs alone, so that both sides are measured alike."""
    known = {each["name"]: each for each in programs}
    totals, _rows = live_flows.flows(directory, traffic, plan, programs=known, counts=None)
    pings = live_flows.pings(directory, traffic, t0_unix_ns=0, counts=None)
    return (
        {each["flow"]: each for each in totals},
        {name: Echoes(each.sent, sorted(each.rtt_ns.values())) for name, each in pings.items()},
    )
