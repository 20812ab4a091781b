"""A scenario from a topology: delays by distance, parallel links joined, hosts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from longhaul.diagnostics import Code, printable
from longhaul.errors import LonghaulError
from longhaul.scenario.expand.topologies.chart import Cable, Chart, Site
from longhaul.scenario.expand.topologies.connecting import (
    Bundle,
    bundles_of,
    connected,
    listed,
    parts_of,
    places_of,
    reach,
)
from longhaul.scenario.expand.topologies.distance import Fibre, Place, great_circle_km
from longhaul.scenario.expand.topologies.draft import Draft, Line, LinkDraft, NodeDraft, key
from longhaul.scenario.expand.topologies.naming import node_name, unique
from longhaul.units.quantities import Rate, Span


@dataclass(frozen=True)
class Choices:
    """What a file does not say, and the user may."""

    fibre: Fibre = field(default_factory=Fibre)
    default_delay: Span | None = None
    """Of cables to places that are not known; they are an error if left out."""
    rate: Rate | None = None
    """Of cables that do not say theirs; not limited if left out."""
    hosts: int = 1
    """At each site."""
    host_delay: Span = field(default_factory=lambda: Span(50_000))
    host_rate: Rate = field(default_factory=lambda: Rate(10**10))
    largest_part: bool = False
    """Whether only the largest connected part is kept."""
    demands: float | None = None
    """What demands are multiplied with; left out if None."""


def lay(chart: Chart, *, name: str, file: str, choices: Choices) -> Draft:
    """The scenario ``name`` of ``chart``, which was read from ``file``; raises :class:`LonghaulError`."""
    warnings = list(chart.notes)
    chart = connected(chart, largest_part=choices.largest_part, warnings=warnings)
    bundles = bundles_of(chart, warnings)
    sites = {site.key: site for site in chart.sites}
    places = places_of(chart, bundles)
    lost = [site.label for site in chart.sites if site.key not in places]
    if lost and choices.default_delay is None:
        message = f"{file}: {listed(lost)} {'have' if len(lost) > 1 else 'has'} no coordinates"
        raise LonghaulError(
            Code.FOREIGN_FILE_MALFORMED,
            message,
            remedy="add them, or --default-delay 5ms for their links",
            exit_code=2,
        )
    if lost:
        warnings.append(f"{listed(lost)}: no coordinates, so all links there take {choices.default_delay}")
    names = dict(
        zip(
            sites,
            unique(node_name(each.label, otherwise=f"n{each.key}"[:8]) for each in sites.values()),
            strict=True,
        )
    )
    names = dict(
        zip(sites, unique(node_name(each, otherwise="node") for each in names.values()), strict=True)
    )
    delays = {bundle.ends: _delay(bundle, places, choices) for bundle in bundles}
    nodes = _nodes(chart.sites, names, places, choices)
    attachments = [f"{node.name}-{node.attach}" for node in nodes if node.attach]
    called = unique((f"{names[a]}-{names[b]}" for a, b in delays), taken=attachments)
    links = tuple(
        _link(link_name, bundle, names, delays[bundle.ends], choices)
        for link_name, bundle in zip(called, bundles, strict=True)
    )
    unlimited = sum(
        not any(key in ("rate", "routes", "forward") for key, _value in each.settings) for each in links
    )
    if unlimited:
        warnings.append(
            f"{unlimited} of {len(links)} links do not say their rate: not limited; --rate sets one"
        )
    hosts = {key: f"{name}-h1" for key, name in names.items() if choices.hosts and not sites[key].hub}
    traffic, expect = _probe(hosts, {ends: span.ns for ends, (span, _note) in delays.items()}, choices)
    flows = _flows(chart, hosts, choices, warnings)
    return Draft(
        name=name,
        about=_about(chart, file, choices, len(links)),
        nodes=nodes,
        links=links,
        profiles=(
            Line(
                "lan",
                f"{{delay: {choices.host_delay}, rate: {choices.host_rate}}}",
                "hosts; not from the file",
            ),
        )
        if hosts
        else (),
        traffic=(*traffic, *flows),
        expect=expect,
        warnings=tuple(warnings),
    )


def _about(chart: Chart, file: str, choices: Choices, links: int) -> tuple[str, ...]:
    fibre = choices.fibre
    factor = (
        f"{fibre.route_factor:g}"
        if fibre.route_factor is not None
        else "1.5 below 1000 km, 1.25 above 1200 km (ITU-T Y.1541)"
    )
    title = printable(chart.title) or file.partition(".")[0]
    return (
        f"{title}, from {printable(file)} ({chart.format}): {len(chart.sites)} sites, {links} links.",
        f"Delays are one way: great-circle distance, times {factor} for the way that fibre takes, at the"
        f" speed of light in glass (group index {fibre.index:g}). Each link says where its numbers are from.",
    )


def _delay(bundle: Bundle, places: Mapping[str, Place], choices: Choices) -> tuple[Span, str]:
    """One way, and why."""
    if not all(end in places for end in bundle.ends):
        return choices.default_delay or Span(0), f"place unknown, so --default-delay {choices.default_delay}"
    straight = great_circle_km(*(places[end] for end in bundle.ends))
    length = choices.fibre.length_km(straight)
    return Span(choices.fibre.delay_ns(straight)), f"{straight:.0f} km straight, {length:.0f} km of fibre"


def _nodes(
    sites: Iterable[Site], names: Mapping[str, str], places: Mapping[str, Place], choices: Choices
) -> tuple[NodeDraft, ...]:
    found = []
    for site in sites:
        name = names[site.key]
        label = site.label if site.label == site.key else f"{site.label} (node {site.key})"
        notes = [printable(label)] if label != name else []
        if site.hub:
            notes.append("where several links meet: a hyperedge of the file")
        found.append(NodeDraft(name, "router", places.get(site.key), note="; ".join(notes)))
        if choices.hosts and not site.hub:
            host = f"{name}-h1" + (f"..{choices.hosts}" if choices.hosts > 1 else "")
            found.append(NodeDraft(host, "host", attach=name))
    return tuple(found)


def _link(
    name: str, bundle: Bundle, names: Mapping[str, str], delay: tuple[Span, str], choices: Choices
) -> LinkDraft:
    span, reason = delay
    settings: list[tuple[str, str]] = [("delay", str(span))]
    ways = [_carrier([_rate(each, choices) for each in way]) for way in (bundle.forward, bundle.reverse)]
    if ways[0] == ways[1]:
        settings += ways[0]
    else:
        settings += [
            (way, "{" + ", ".join(f"{key}: {value}" for key, value in carrier) + "}")
            for way, carrier in zip(("forward", "reverse"), ways, strict=True)
            if carrier
        ]
    origins = Counter(
        _origin(each, choices) for each in (*bundle.forward, *(bundle.reverse if ways[0] != ways[1] else ()))
    )
    rates = ", ".join(
        f"{origin} ({count} times)" if count > 1 else origin for origin, count in origins.items()
    )
    return LinkDraft(
        name, (names[bundle.ends[0]], names[bundle.ends[1]]), tuple(settings), f"{reason}; {rates}"
    )


def _rate(cable: Cable, choices: Choices) -> Rate | None:
    bits_per_s = min(cable.bits_per_s or 0, Rate.limit)
    return Rate(bits_per_s) if bits_per_s else choices.rate


def _origin(cable: Cable, choices: Choices) -> str:
    if cable.bits_per_s:
        return f"rate: {cable.origin}"
    words = f"rate unknown ({cable.origin})" if cable.origin else "rate unknown"
    return f"{words}, so --rate {choices.rate}" if choices.rate else f"{words}, not limited"


def _carrier(rates: Sequence[Rate | None]) -> list[tuple[str, str]]:
    """The settings of so many cables side by side: of one a rate, of several parallel routes."""
    if len(rates) == 1:
        return [("rate", str(rates[0]))] if rates[0] else []
    if len(set(rates)) == 1:
        each = f", rate: {rates[0]}" if rates[0] else ""
        return [("routes", f"{{count: {len(rates)}, policy: flow-hash{each}}}")]
    every = ", ".join(f"{{rate: {rate}}}" if rate else "{}" for rate in rates)
    return [("routes", f"{{policy: flow-hash, each: [{every}]}}")]


def _probe(
    hosts: Mapping[str, str], delays: Mapping[tuple[str, str], int], choices: Choices
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """A ping between the two sites that are farthest apart, and what it must see at least."""
    near: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for (one, other), delay in delays.items():
        near[one].append((other, delay))
        near[other].append((one, delay))
    longest = (-1, "", "")
    for source in hosts:
        far = {
            other: delay for other, delay in reach(source, near).items() if other in hosts and other != source
        }
        if far:
            target = max(far, key=lambda other: far[other])
            longest = max(longest, (far[target], source, target), key=lambda each: each[0])
    one_way, source, target = longest
    if one_way < 0:
        return (), ()
    round_trip = Span(2 * (one_way + 2 * choices.host_delay.ns))
    probe = Line(
        "probe",
        f"{{kind: ping, from: {key(hosts[source])}, to: {key(hosts[target])}, every: 100ms}}",
        "the longest of the shortest ways",
    )
    expected = Line(
        "",
        f"{{metric: probes.probe.{hosts[target]}.rtt.min, min: {round_trip}}}",
        "the sum of its delays, both ways",
    )
    return (probe,), (expected,)


def _flows(chart: Chart, hosts: Mapping[str, str], choices: Choices, warnings: list[str]) -> tuple[Line, ...]:
    """The demands of the file as datagrams at an even pace, each to its host."""
    if choices.demands is None:
        return ()
    if not chart.demands:
        warnings.append("--demands: the file has none")
    flows: list[Line] = []
    sent: Counter[str] = Counter()
    part = {key: number for number, keys in enumerate(parts_of(chart)) for key in keys}
    apart = [demand for demand in chart.demands if part[demand.ends[0]] != part[demand.ends[1]]]
    if apart:
        warnings.append(f"{len(apart)} demands between parts that no link joins are left out")
    for demand in chart.demands:
        bits_per_s = min(int(demand.bits_per_s * Fraction(choices.demands)), Rate.limit)
        source, target = demand.ends
        if bits_per_s and source != target and demand not in apart and hosts.keys() >= {source, target}:
            sent[source] += bits_per_s
            ends = f"from: {key(hosts[source])}, to: {key(hosts[target])}"
            value = f"{{kind: udp, {ends}, rate: {Rate(bits_per_s)}, simulated: true}}"
            flows.append(
                Line(
                    f"demand-{len(flows) + 1}",
                    value,
                    f"{float(demand.bits_per_s) / 1e6:g} Mbit/s in the file",
                )
            )
    over = [hosts[key] for key, rate in sent.items() if rate > choices.host_rate.bits_per_s]
    if over:
        warnings.append(f"{listed(over)} would send more than {choices.host_rate}; --host-rate makes room")
    return tuple(flows)
