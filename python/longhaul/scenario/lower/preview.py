"""What a run of a scenario will show, from its plan alone: RTTs, queues shorter than a BDP, overloaded links.

Rates, delays and queues are those at the beginning; later events are not considered. What programs send is
not known, so silence is not a promise, but a warning has a reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from longhaul.diagnostics import Code, Diagnostic
from longhaul.plan import WAYS, Plan
from longhaul.scenario.lower.demands import UDP_HEADERS
from longhaul.scenario.lower.link_models import LinkContext, default_queue, plan_bits_per_s
from longhaul.scenario.lower.link_models.delay import plan_mean_ns
from longhaul.scenario.lower.paths import Routes, Step, Way
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.model.traffic import transport
from longhaul.units.configured import rate, size, span
from longhaul.units.text import share_text

SHOWN_PAIRS = 3
"""Pairs of hosts whose RTT is in the line."""
MOST_PAIRS = 2000
"""Pairs whose paths are compared with queues; of more pairs, many share their links."""
_NEARLY = 0.9
"""A link's own BDP is slightly below that of a path, which adds the short links of the hosts."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The mean delay between two hosts, without queues and serialisation."""

    source: str
    destination: str
    there_ns: int
    back_ns: int

    @property
    def round_trip_ns(self) -> int:
        """There and back."""
        return self.there_ns + self.back_ns

    def as_json(self) -> dict[str, str | int]:
        """The same for programs."""
        return {
            "from": self.source,
            "to": self.destination,
            "there_ns": self.there_ns,
            "back_ns": self.back_ns,
            "round_trip_ns": self.round_trip_ns,
        }

    def __str__(self) -> str:
        """Both, as a delay is written for one way and measured for two."""
        if self.there_ns == self.back_ns:
            ways = f"{span(self.there_ns)} each way"
        else:
            ways = f"{span(self.there_ns)} there, {span(self.back_ns)} back"
        return f"{self.source} > {self.destination}: RTT {span(self.round_trip_ns)} ({ways})"


@dataclass(frozen=True)
class Preview:
    """What to expect of a run."""

    round_trips: tuple[RoundTrip, ...]
    """Of the first pairs that ping; without pings that have traffic; without traffic that have a path."""
    pairs: int
    """The number of such pairs."""
    warnings: tuple[Diagnostic, ...]

    @property
    def line(self) -> str | None:
        """The round trips in one line; ``None`` without a path between hosts."""
        if not self.round_trips:
            return None
        more = self.pairs - len(self.round_trips)
        rest = f"; {more} more: longhaul show" if more else ""
        return "; ".join(map(str, self.round_trips)) + rest


def preview(resolved: Resolved) -> Preview:
    """What to expect of a run of ``resolved``, live or simulated."""
    plan, routes = resolved.plan, Routes(resolved.plan)
    pairs = _probed_pairs(resolved, routes)
    ways = (way for pair in pairs if (way := routes.way(*pair)) is not None)
    names = [node["name"] for node in plan["nodes"]]
    shown = tuple(
        RoundTrip(names[way.source], names[way.destination], way.one_way_ns, way.return_ns)
        for way in islice(ways, SHOWN_PAIRS)
    )
    return Preview(shown, len(pairs), (*_short_queues(resolved, routes), *_overloads(resolved, routes)))


def _probed_pairs(resolved: Resolved, routes: Routes) -> Sequence[Pair]:
    """The pairs of hosts whose RTT a user will look at."""
    for flows in (
        [flow for flow in resolved.traffic if flow["kind"] == "ping"],
        resolved.traffic,
    ):
        found = dict.fromkeys((flow["source"], to) for flow in flows for to in flow["destinations"])
        if found:
            return list(found)
    return list(_kinds_of_pairs(routes))


def _kinds_of_pairs(routes: Routes) -> Iterator[Pair]:
    """One pair of hosts for each kind of path, up to a limit."""
    groups = list(routes.representatives().values())
    different = (
        (a[0], b[0])
        for number, a in enumerate(groups)
        for b in groups[number + 1 :]
        if routes.owners[a[0]] != routes.owners[b[0]]
    )
    alike = ((group[0], group[1]) for group in groups if len(group) > 1)
    yield from islice(different, MOST_PAIRS)
    yield from islice(alike, MOST_PAIRS)


def _short_queues(resolved: Resolved, routes: Routes) -> list[Diagnostic]:
    """One warning of bottlenecks whose queue was made shorter than the BDP of a path of TCP over them."""
    worst: dict[Step, tuple[int, int, Way]] = {}
    for pair in islice(_tcp_pairs(resolved, routes), MOST_PAIRS):
        way = routes.way(*pair)
        if way is None or way.bottleneck is None or way.bdp_bytes is None:
            continue
        step: Step = (way.bottleneck, dict(way.there)[way.bottleneck])
        link = routes.links[step[0]]
        queue = _queue_bytes(link, step)
        if queue is not None and queue < min(_NEARLY * way.bdp_bytes, _default_queue_bytes(link, step)):
            before = worst.get(step)
            if before is None or way.bdp_bytes > before[1]:
                worst[step] = queue, way.bdp_bytes, way
    if not worst:
        return []
    step, (queue, bdp, way) = min(worst.items(), key=lambda item: item[1][0] / item[1][1])
    plan = resolved.plan
    pair_text = f"{plan['nodes'][way.source]['name']} > {plan['nodes'][way.destination]['name']}"
    message = (
        f"one TCP flow may not fill this link: its queue ({_direction(plan, step)}) holds {size(queue)}, "
        f"less than the BDP of {pair_text}, {size(bdp)}{_others(len(worst))}"
    )
    remedy = f"write queue: {{limit: {-(-bdp // 1000)}kB}}, unless a short queue is intended"
    path = ("links", plan["links"][step[0]]["name"])
    return [resolved.scenario.warning(Code.QUEUE_BELOW_BDP, path, message, remedy)]


def _tcp_pairs(resolved: Resolved, routes: Routes) -> Iterator[Pair]:
    """From and to where TCP sends: traffic; if there are programs or no traffic, each kind of pair."""
    plan = resolved.plan
    for flow in resolved.traffic:
        if transport(flow["kind"]) == "tcp":
            for destination in flow["destinations"]:
                yield flow["source"], destination
    if plan["programs"] or not resolved.traffic:
        for a, b in _kinds_of_pairs(routes):
            yield a, b
            yield b, a


def _queue_bytes(link: Mapping[str, Any], step: Step) -> int | None:
    """What the queue of a direction holds of full packets; ``None``: no limit, or parallel routes."""
    direction = link[step[1]]
    if direction.get("bundle"):
        return None
    limits = direction["queue"]
    if limits["limit_bytes"] is not None:
        return int(limits["limit_bytes"])
    packets = limits["limit_packets"]
    return None if packets is None else int(packets) * int(link["mtu"])


def _default_queue_bytes(link: Mapping[str, Any], step: Step) -> int:
    """The limit where the scenario has none: a default is not a mistake of the user's."""
    there, back = (plan_mean_ns(link[way]["delay"]) for way in WAYS)
    here = LinkContext(plan_bits_per_s(link[step[1]]), there + back, link["mtu"])
    return default_queue(here)["limit_bytes"] or 0


def _overloads(resolved: Resolved, routes: Routes) -> list[Diagnostic]:
    """One warning of directions to which traffic of constant rate offers more than they can send."""
    offers: defaultdict[Step, list[tuple[int, int | None, float, str]]] = defaultdict(list)
    for flow in resolved.traffic:
        bits_per_s = _constant_bits_per_s(flow)
        if bits_per_s is None:
            continue
        for destination in flow["destinations"]:
            for step in routes.steps(flow["source"], destination) or ():
                offers[step].append((flow["start_ns"], flow["stop_ns"], bits_per_s, flow["name"]))
    over: dict[Step, tuple[float, float, int, str]] = {}
    for step, flows in offers.items():
        capacity = plan_bits_per_s(routes.links[step[0]][step[1]])
        if capacity is None or sum(offer[2] for offer in flows) <= capacity:
            continue
        peak, at_ns = _peak(flows)
        if peak > capacity:
            largest = max(flows, key=lambda offer: offer[2])[3]
            over[step] = peak / capacity, peak, at_ns, largest
    if not over:
        return []
    step, (ratio, peak, at_ns, name) = max(over.items(), key=lambda item: item[1][0])
    link = resolved.plan["links"][step[0]]
    capacity = plan_bits_per_s(routes.links[step[0]][step[1]])
    message = (
        f"link {link['name']} ({_direction(resolved.plan, step)}) drops at least "
        f"{share_text(1 - 1 / ratio)} of the traffic of constant rate: {rate(round(peak))} offered from "
        f"{span(at_ns) if at_ns else '0 s'} on, its rate is {rate(capacity)}{_others(len(over))}"
    )
    remedy = "lower the rates, unless the overload is intended"
    return [resolved.scenario.warning(Code.LINK_OVERLOADED, ("traffic", name), message, remedy)]


def _constant_bits_per_s(flow: Mapping[str, Any]) -> float | None:
    """What a flow offers to each destination whatever is dropped, with IP and UDP headers; else ``None``."""
    if flow["kind"] != "udp":
        return None
    payload = float(flow["size_bytes"])
    return float(flow["rate_bits_per_s"]) * (payload + UDP_HEADERS) / payload


def _peak(flows: Sequence[tuple[int, int | None, float, str]]) -> tuple[float, int]:
    """The most bit/s at once, and from when."""
    changes = [(start, bits_per_s) for start, _stop, bits_per_s, _name in flows]
    changes += [(stop, -bits_per_s) for _start, stop, bits_per_s, _name in flows if stop is not None]
    now, best = 0.0, (0.0, 0)
    # At one instant what ends comes before what begins.
    for at_ns, change in sorted(changes):
        now += change
        if now > best[0]:
            best = now, at_ns
    return best


def _direction(plan: Plan, step: Step) -> str:
    link = plan["links"][step[0]]
    a, b = (plan["nodes"][end]["name"] for end in link["endpoints"])
    return f"{a} > {b}" if step[1] == "forward" else f"{b} > {a}"


def _others(count: int) -> str:
    """The same of other directions, if there are any."""
    return f"; {count - 1} other direction{'s' if count > 2 else ''} too" if count > 1 else ""
