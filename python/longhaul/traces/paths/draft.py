"""A scenario from a map of paths: hosts, links, and what is unknown."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log10, sqrt

from longhaul.analysis.paths import PathMap, Station, Stretch
from longhaul.analysis.traces import Pings
from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.connecting import listed, reach
from longhaul.scenario.expand.topologies.draft import Draft, Line, LinkDraft, NodeDraft
from longhaul.scenario.expand.topologies.draft import key as quoted
from longhaul.scenario.expand.topologies.naming import node_name, unique
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.traces.paths.lines import is_address
from longhaul.units.configured import span
from longhaul.units.quantities import Rate, Span

LEAST_JITTER_NS = 100_000
"""Less than that is noise of the machine that measured."""


@dataclass(frozen=True)
class Written:
    """What probes cannot see and the user may say."""

    name: str = "paths"
    rate: Rate | None = None
    """Of links whose interface's speed is not given."""
    speeds: Mapping[str, Rate] = field(default_factory=dict)
    """Of the link that leads to a place: by its address or name."""
    jitter: bool = True
    """Whether jitter is written, where it was found."""


def draft(found: PathMap, written: Written) -> Draft:
    """The scenario of ``found``; raises :class:`LonghaulError`."""
    if not found.stretches:
        raise LonghaulError(
            Code.MEASUREMENT_FAILED,
            "no path is in what was read",
            remedy="name a host elsewhere",
            exit_code=2,
        )
    names = _names(found)
    speeds = _speeds(found, names, written)
    degree = Counter(end for each in found.stretches for end in each.ends)
    transit = {key for key in found.stations if degree[key] > 1 or not found.stations[key].end}
    hosts = {
        key: f"{names[key]}-h1" if key in transit else names[key]
        for key, station in found.stations.items()
        if station.end
    }
    lost = _losses(found)
    link_names = unique(
        (f"{names[one]}-{names[other]}" for one, other in (each.ends for each in found.stretches)),
        taken=(f"{hosts[key]}-{names[key]}" for key in hosts if key in transit),
    )
    links = tuple(
        _link(name, stretch, names, speeds, lost, written)
        for name, stretch in zip(link_names, found.stretches, strict=True)
    )
    delays = {each.ends: _whole_us(each.delay_ns) for each in found.stretches}
    traffic, expect = _pings(found, hosts, delays)
    unknown = sum(not any(setting == "rate" for setting, _value in link.settings) for link in links)
    warnings = list(found.notes)
    if unknown:
        warnings.append(
            f"probes do not see rates: {unknown} of {len(links)} links are not limited; say some by"
            " --interface-speed HOP=RATE, or all others by --rate"
        )
    return Draft(
        name=written.name,
        about=_about(found, names),
        nodes=tuple(
            node for key in found.stations for node in _nodes(found.stations[key], names[key], key in transit)
        ),
        links=links,
        profiles=(Line("lan", "{delay: 0s}", "hosts where paths also pass through"),)
        if transit & set(hosts)
        else (),
        traffic=traffic,
        expect=expect,
        warnings=tuple(warnings),
    )


def _about(found: PathMap, names: Mapping[str, str]) -> tuple[str, ...]:
    ends = [f"{names[source]} to {names[target]}" for source, target in found.paths]
    return (
        f"Measured: the way{'s' if len(ends) > 1 else ''} from {listed(ends)}.",
        "Delays are one way: half of what a link adds to the shortest round trip, as if both ways were alike."
        " No place is taken to be farther away than those behind it: routers may answer"
        " late, and never too soon. Losses are those of the whole way, written at its end, half each way."
        " More: docs/models/paths.md.",
    )


def _names(found: PathMap) -> dict[str, str]:
    wanted = []
    for position, station in enumerate(found.stations.values()):
        label = station.name or station.key
        if not station.end and not is_address(label):
            # The first labels of a router's name say which it is.
            label = "-".join(label.split(".")[:2])
        wanted.append(node_name(label, otherwise=f"n{position}"))
    return dict(zip(found.stations, unique(wanted), strict=True))


def _speeds(found: PathMap, names: Mapping[str, str], written: Written) -> dict[str, tuple[Rate, str]]:
    """Of each place, the speed of the interface that answered, and by which word it was given."""
    words = {
        word: key
        for key, station in found.stations.items()
        for word in (key, names[key], station.name, *station.others)
        if word
    }
    speeds = {}
    for word, rate in written.speeds.items():
        if word not in words:
            message = f'--interface-speed: no path leads to "{printable(word)}"'
            raise LonghaulError(Code.WORD_UNKNOWN, message, remedy=did_you_mean(word, words), exit_code=2)
        speeds[words[word]] = (rate, word)
    return speeds


def _nodes(station: Station, name: str, transit: bool) -> list[NodeDraft]:
    notes = [] if station.key == name else [station.key]
    if station.name and node_name(station.name, otherwise="") != name:
        notes.append(printable(station.name))
    if station.others:
        notes.append(f"also answered: {listed(station.others)}")
    note = "; ".join(notes)
    if not transit:
        return [NodeDraft(name, "host", note=note)]
    router = NodeDraft(name, "router", note=note)
    return [router, NodeDraft(f"{name}-h1", "host", attach=name)] if station.end else [router]


def _losses(found: PathMap) -> dict[frozenset[str], list[Pings]]:
    """What came back from ends, by the last link of their way."""
    last: dict[frozenset[str], list[Pings]] = defaultdict(list)
    for path, pings in found.pings.items():
        last[frozenset(found.paths[path][-2:])].append(pings)
    return last


def _link(
    name: str,
    stretch: Stretch,
    names: Mapping[str, str],
    speeds: Mapping[str, tuple[Rate, str]],
    lost: Mapping[frozenset[str], Sequence[Pings]],
    written: Written,
) -> LinkDraft:
    near, far = stretch.ends
    settings = [("delay", _delay(stretch, written))]
    reasons = [_reason(stretch, names)]
    if stretch.jitter_ns is not None and stretch.jitter_ns >= LEAST_JITTER_NS:
        reasons.append(f"jitter of {span(stretch.jitter_ns)} on average; that it is exponential is assumed")
    if far in speeds:
        rate, word = speeds[far]
        settings.append(("rate", str(rate)))
        reasons.append(f"rate by --interface-speed {printable(word)}")
    elif written.rate:
        settings.append(("rate", str(written.rate)))
        reasons.append("rate unknown, so --rate")
    else:
        reasons.append("rate unknown, not limited")
    every = lost.get(frozenset(stretch.ends), ())
    if every:
        sent, received = sum(each.sent for each in every), sum(each.received for each in every)
        share, words = _loss(sent, received)
        if share:
            settings.append(("loss", share))
        reasons.append(words)
    return LinkDraft(name, (names[near], names[far]), tuple(settings), "; ".join(reasons))


def _delay(stretch: Stretch, written: Written) -> str:
    base = str(Span(_whole_us(stretch.delay_ns)))
    jitter_ns = stretch.jitter_ns or 0
    if not written.jitter or jitter_ns < LEAST_JITTER_NS:
        return base
    return f"{{base: {base}, jitter: {{dist: exponential, mean: {Span(_whole_us(jitter_ns))}}}}}"


def _reason(stretch: Stretch, names: Mapping[str, str]) -> str:
    if not stretch.known:
        return f"{names[stretch.ends[1]]} never answered, so nothing is known of this link"
    start, end = stretch.round_trips_ns
    words = [f"round trip {span(start)} to {span(end)}, {stretch.answers} answers"]
    if len(stretch.seen_ns) > 1:
        words.append(
            f"{len(stretch.seen_ns)} sources saw {span(min(stretch.seen_ns))} to"
            f" {span(max(stretch.seen_ns))} one way, and this is the median"
        )
    for key, measured in zip(stretch.ends, stretch.slow, strict=True):
        if measured is not None:
            words.append(f"{names[key]} answered in {span(measured)}, more slowly than places behind it")
    if stretch.silent:
        words.append(f"{stretch.silent} silent router{'s' if stretch.silent > 1 else ''} in between")
    return "; ".join(words)


def _loss(sent: int, received: int) -> tuple[str | None, str]:
    """The loss of each way, if there was any, and what was seen."""
    missing = sent - received
    counted = f"{missing} of {sent} pings lost"
    if missing <= 0:
        # Fewer than that with a confidence of 95 %: 0.95 = 1 - (1 - p)^n.
        return (
            None,
            f"{counted} (less than {100 * (1 - 0.05 ** (1 / sent)):.2g} %, with a confidence of 95 %)"
            if sent
            else counted,
        )
    if received == 0:
        return None, f"{counted}: the end does not answer pings, so its loss is not known"
    each_way = 1 - sqrt(received / sent)
    digits = max(0, 3 - int(log10(each_way * 100) // 1))
    return f"{each_way * 100:.{digits}f}%", f"{counted}, there and back"


def _pings(
    found: PathMap, hosts: Mapping[str, str], delays: Mapping[tuple[str, str], int]
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """A ping along each path, and the round trip that it must take at least."""
    near: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for (one, other), delay in delays.items():
        near[one].append((other, delay))
        near[other].append((one, delay))
    traffic, expect = [], []
    for number, (source, target) in enumerate(found.paths, 1):
        probe = f"probe{number}" if len(found.paths) > 1 else "probe"
        ends = f"from: {quoted(hosts[source])}, to: {quoted(hosts[target])}"
        traffic.append(Line(probe, f"{{kind: ping, {ends}, every: 100ms}}"))
        round_trip = Span(2 * reach(source, near)[target])
        metric = f"probes.{probe}.{hosts[target]}.rtt.min"
        expect.append(Line("", f"{{metric: {metric}, min: {round_trip}}}"))
    return tuple(traffic), tuple(expect)


def _whole_us(nanoseconds: int) -> int:
    return (nanoseconds + 500) // 1000 * 1000
