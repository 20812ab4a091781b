"""Both results of a scenario side by side, each difference with what is to be expected."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from longhaul.oracle.changes import states
from longhaul.oracle.expectations import (
    SOURCE_SHARE,
    STAGE_NS,
    Z,
    burstiness,
    goodput_tolerance,
    mean_copies,
    mean_failures,
    mean_losses,
    median_tolerance_ns,
    most_bursty,
    path_jitter_ns,
    ping_resolution_ns,
    share_tolerance,
)
from longhaul.oracle.measured import Echoes, Measured
from longhaul.oracle.stages import rounding_ns
from longhaul.plan import WAYS, Direction, Plan
from longhaul.scenario.lower.paths import Routes, Step

Unit = Literal["packets", "share", "ns", "bit/s", "count"]
_STAGES = 4
"""Of a direction at most."""
_EDGE_PACKETS = 3 + 6
"""On their way at the end, and the ICMP errors for those that find no program (a burst of 6)."""


@dataclass(frozen=True)
class Row:
    """A quantity of a link, a flow or a probe."""

    kind: Literal["link", "flow", "probe"]
    name: str
    quantity: str
    unit: Unit
    longhaul: float | None
    oracle: float | None
    tolerance: float | None
    """Largest difference that is to be expected; ``None``: it is shown and not judged."""
    reason: str
    """Where the tolerance comes from, or why there is none."""

    @property
    def difference(self) -> float | None:
        """Of Longhaul's value from the oracle's."""
        return None if self.longhaul is None or self.oracle is None else self.longhaul - self.oracle

    @property
    def is_within(self) -> bool | None:
        """Whether the difference is to be expected; ``None`` if that is not judged."""
        if self.tolerance is None:
            return None
        return self.difference is not None and abs(self.difference) <= self.tolerance * (1 + 1e-9)


@dataclass(frozen=True)
class Comparison:
    """All rows: links, then flows, then probes."""

    rows: tuple[Row, ...]

    @property
    def agrees(self) -> bool:
        """Whether every judged difference is to be expected."""
        return all(row.is_within is not False for row in self.rows)

    def idle_links(self) -> frozenset[str]:
        """Directions of links that no packet took in either run."""
        links = [row for row in self.rows if row.kind == "link"]
        used = {row.name for row in links if row.quantity == "packets" and (row.longhaul or row.oracle)}
        return frozenset(row.name for row in links) - used

    def as_json(self) -> dict[str, Any]:
        """For ``comparison.json``."""
        rows = [{**asdict(row), "difference": row.difference, "within": row.is_within} for row in self.rows]
        return {"agrees": self.agrees, "rows": rows}


def compare(plan: Plan, ours: Measured, oracle: Measured) -> Comparison:
    """Compare the two results of a plan."""
    judge = _Judge(plan, ours, oracle)
    return Comparison((*judge.links(), *judge.flows(), *judge.probes()))


class _Judge:
    """What is known of both runs of a plan."""

    def __init__(self, plan: Plan, ours: Measured, oracle: Measured) -> None:
        self.plan, self.ours, self.oracle = plan, ours, oracle
        self.routes = Routes(plan)
        self.models = {step: _most_random(each) for step, each in states(plan).items()}
        self.number = {node["name"]: position for position, node in enumerate(plan["nodes"])}
        self.is_adaptive = any(flow["kind"] == "tcp" for flow in ours.flows.values()) or any(
            "longhaul" not in program["argv"][0] and not _is_known(program["name"], ours)
            for program in plan["programs"]
            if not program["service"]
        )
        """Whether programs send as the network lets them, so that counts differ where chance does."""

    def links(self) -> Iterator[Row]:
        """What each direction of a link did to packets."""
        all_losses, all_copies = mean_failures(self.models.values()), mean_copies(self.models.values())
        for number, link in enumerate(self.plan["links"]):
            for way in WAYS:
                ends = [self.plan["nodes"][end]["name"] for end in link["endpoints"]]
                name = " > ".join(ends if way == "forward" else ends[::-1])
                a, b = self.ours.links[number, way], self.oracle.links[number, way]
                counts: float | None = None
                reason = "TCP and programs send as much as they can"
                most = max(a.offered, b.offered)
                if not self.is_adaptive:
                    counts = _EDGE_PACKETS + Z * (2 * most * (all_losses + all_copies)) ** 0.5
                    reason = "chance of the losses, and packets on their way at the end"
                copies = mean_copies([self.models[number, way]])
                offered = None if counts is None else counts + most * copies
                more = f"{reason}; netem counts copies as offered" if copies else reason
                yield Row("link", name, "packets", "packets", a.offered, b.offered, offered, more)
                yield Row("link", name, "delivered", "packets", a.delivered, b.delivered, counts, reason)
                yield self._loss_of_link(
                    name, self.models[number, way], (a.lost, a.offered), (b.lost, b.offered)
                )
                limited = link[way]["rate"]["model"] != "unlimited"
                tolerance = (
                    0.0 if not limited else None if self.is_adaptive else (counts or 0) + 0.01 * b.dropped
                )
                why = "no queue" if not limited else reason if self.is_adaptive else f"{reason}; 1 %"
                yield Row("link", name, "dropped", "packets", a.dropped, b.dropped, tolerance, why)

    def _loss_of_link(
        self, name: str, direction: Direction, first: tuple[int, int], second: tuple[int, int]
    ) -> Row:
        mean, burst = mean_losses([direction]), burstiness(direction["loss"])
        tolerance = share_tolerance(mean, first[1], second[1], burst)
        shares = _share(*first), _share(*second)
        reason = "binomial, 99.9 %" if mean else "no loss model"
        if burst > 1:
            reason += f", variance times {burst:.3g} for bursts"
        return Row("link", name, "lost", "share", *shares, tolerance, reason)

    def flows(self) -> Iterator[Row]:
        """Goodput and the rest of each flow."""
        for name, a in self.ours.flows.items():
            b = self.oracle.flows[name]
            there, _back = self._paths(a["from"], a["to"])
            if a["kind"] == "tcp":
                yield from self._tcp(name, a, b, there)
            else:
                yield from self._datagrams(name, a, b, there)

    def _tcp(
        self, name: str, a: Mapping[str, Any], b: Mapping[str, Any], there: Sequence[Step]
    ) -> Iterator[Row]:
        models = self._models(there)
        mean, burst = mean_failures(models), most_bursty(models)
        lost = self.ours.losses(there, a), self.oracle.losses(there, b)
        tolerance = goodput_tolerance(b["goodput_bits_per_s"] or 0.0, lost if mean else (0, 0), burst)
        reason = "3 %" + (" and the chance of the losses" if mean else "")
        if tolerance is None:
            reason = "few losses: the first one decides how far slow start gets"
        goodputs = a["goodput_bits_per_s"], b["goodput_bits_per_s"]
        yield Row("flow", name, "goodput", "bit/s", *goodputs, tolerance, reason)
        rates = a["retransmission_rate"], b["retransmission_rate"]
        if self._overflowed(there):
            within, why = None, "overflows follow the course of the window"
        else:
            sent = _segments(a), _segments(b)
            within, why = share_tolerance(mean, *sent, burst), "binomial, 99.9 %"
        if not mean and not self._overflowed(there):
            within, why = 0.0, "nothing is lost"
        yield Row("flow", name, "retransmitted", "share", *rates, within, why)
        rtts = _of(a["rtt"], "p50_ns"), _of(b["rtt"], "p50_ns")
        yield Row("flow", name, "RTT median", "ns", *rtts, None, "a sample a second, with the queue in it")

    def _datagrams(
        self, name: str, a: Mapping[str, Any], b: Mapping[str, Any], there: Sequence[Step]
    ) -> Iterator[Row]:
        models = self._models(there)
        mean, burst = mean_failures(models), most_bursty(models)
        counts = self._sent(a), self._sent(b)
        share = share_tolerance(mean, *counts, burst)
        reason = "binomial, 99.9 %" if mean else "no loss model"
        if self._overflowed(there):
            share, reason = None, "overflows"
        goodputs = a["goodput_bits_per_s"], b["goodput_bits_per_s"]
        copies = mean_copies(models)
        tolerance = None
        if share is not None:
            by_chance = Z * (copies / max(counts[1], 1)) ** 0.5
            tolerance = (goodputs[1] or 0.0) * (SOURCE_SHARE + share / (1 - mean) + copies + by_chance)
        why = f"{reason}; Longhaul counts copies" if copies else reason
        yield Row("flow", name, "goodput", "bit/s", *goodputs, tolerance, why)
        yield Row("flow", name, "loss", "share", a["loss"], b["loss"], share, reason)
        for quantity, key in (("delay median", "p50_ns"), ("delay maximum", "max_ns")):
            values = _of(a["delay"], key), _of(b["delay"], key)
            within, why = self._delay_tolerance(there, key == "p50_ns", counts)
            yield Row("flow", name, quantity, "ns", *values, within, why)

    def _delay_tolerance(
        self, steps: Sequence[Step], is_median: bool, counts: tuple[int, int]
    ) -> tuple[float | None, str]:
        """How far a median or a maximum of delays may be off, without what a program prints."""
        models = self._models(steps)
        sd_ns = path_jitter_ns(models)
        is_limited = self._limited(steps)
        if self._overflowed(steps) or (is_limited and self.is_adaptive):
            return None, "the queue that traffic fills is in it"
        if is_limited and len(self.ours.flows) + len(self.ours.probes) > 1:
            return None, "what else is on the way, and when it leaves"
        if not is_median and sd_ns:
            return None, "an extreme of a random delay"
        grain = float(sum(STAGE_NS * _STAGES + rounding_ns(model) for model in models))
        if sd_ns:
            return grain + median_tolerance_ns(sd_ns, *counts), "chance of the jitter, 99.9 %"
        return grain, "netem's rounding of delays, and whole nanoseconds in each stage"

    def _limited(self, steps: Sequence[Step]) -> bool:
        """Whether a link on the way has a rate."""
        return any(model["rate"]["model"] != "unlimited" for model in self._models(steps))

    def _overflowed(self, steps: Sequence[Step]) -> bool:
        """Whether a queue on the way dropped packets in either run."""
        return any(run.links[step].dropped for run in (self.ours, self.oracle) for step in steps)

    def probes(self) -> Iterator[Row]:
        """Round trips and their losses."""
        for name, a in self.ours.probes.items():
            b = self.oracle.probes[name]
            program = next(each for each in self.plan["programs"] if each["name"] == name)
            target = program["argv"][-1]
            destination = next(
                node["name"] for node in self.plan["nodes"] if target in (node["ipv4"], node["ipv6"])
            )
            source = self.plan["nodes"][program["host"]]["name"]
            there, back = self._paths(source, destination)
            steps = [*there, *back]
            models = self._models(steps)
            mean, burst = mean_failures(models), most_bursty(models)
            alike: float | None = _EDGE_PACKETS + 10 * mean
            why = "the last ones"
            if self.is_adaptive and self._limited(steps):
                alike, why = None, "ping wakes up with each answer, and queues decide when that is"
            yield Row("probe", name, "sent", "packets", a.sent, b.sent, alike, why)
            losses = a.loss, b.loss
            tolerance = share_tolerance(mean, a.sent, b.sent, burst)
            reason = "binomial, 99.9 %" if mean else "no loss model"
            if self._overflowed(steps):
                tolerance, reason = None, "overflows"
            yield Row("probe", name, "loss", "share", *losses, tolerance, reason)
            yield from self._round_trips(name, a, b, steps)

    def _round_trips(self, name: str, a: Echoes, b: Echoes, steps: Sequence[Step]) -> Iterator[Row]:
        counts = (len(a.rtt_ns), len(b.rtt_ns))
        for quantity, place in (("RTT minimum", 0.0), ("RTT median", 0.5), ("RTT maximum", 1.0)):
            values = _quantile(a.rtt_ns, place), _quantile(b.rtt_ns, place)
            resolution = ping_resolution_ns(values[1] or 0.0)
            fixed = self._limited(steps) and any(flow["kind"] == "udp" for flow in self.ours.flows.values())
            if place == 0 and not path_jitter_ns(self._models(steps)) and not fixed:
                # Sooner or later a probe meets empty queues, unless datagrams leave at fixed times.
                models = self._models(steps)
                within: float | None = float(sum(STAGE_NS * _STAGES + rounding_ns(each) for each in models))
                reason = "netem's rounding of delays"
            else:
                within, reason = self._delay_tolerance(steps, place == 0.5, counts)
            tolerance = None if within is None else within + resolution
            more = "" if within is None else ", and what ping prints"
            yield Row("probe", name, quantity, "ns", *values, tolerance, reason + more)

    def _paths(self, source: str, destination: str) -> tuple[Sequence[Step], Sequence[Step]]:
        ends = self.number[source], self.number[destination]
        return self.routes.steps(*ends) or (), self.routes.steps(*ends[::-1]) or ()

    def _models(self, steps: Sequence[Step]) -> list[Direction]:
        return [self.models[step] for step in steps]

    @staticmethod
    def _sent(flow: Mapping[str, Any]) -> int:
        """Datagrams of a flow: what arrived and was lost."""
        arrived = flow["delay"]["count"] if flow["delay"] else 0
        return round(arrived / (1 - flow["loss"])) if flow["loss"] not in (None, 1) else arrived


def _is_known(program: str, measured: Measured) -> bool:
    """Whether a program is a flow or a probe of the scenario's traffic."""
    return program in measured.flows or program in measured.probes


def _most_random(states: Sequence[Direction]) -> Direction:
    """Of the states of a direction, the largest loss and the most variable delay."""
    loss = max(states, key=lambda each: mean_losses([each]))["loss"]
    delay = max(states, key=lambda each: (path_jitter_ns([each]), rounding_ns(each)))["delay"]
    return {**states[0], "loss": loss, "delay": delay}


def _share(lost: int, offered: int) -> float:
    return lost / offered if offered else 0.0


def _segments(flow: Mapping[str, Any]) -> int:
    """Segments that a TCP flow sent, as its retransmissions tell; 0 without one."""
    rate = flow["retransmission_rate"]
    return round(flow["retransmits"] / rate) if rate else 0


def _of(distribution: Mapping[str, Any] | None, key: str) -> float | None:
    return distribution[key] if distribution else None


def _quantile(values: Sequence[int], share: float) -> float | None:
    if not values:
        return None
    return float(values[min(int(share * len(values)), len(values) - 1)])
