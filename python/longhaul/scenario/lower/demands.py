"""The demands of a scenario, compared with the certificate of the machine.

The certificate is what ``longhaul calibrate`` measured. What programs send is not known and not counted; nor
is what a TCP flow takes that no rate limits. So silence is not a promise, but a warning has a reason.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, assert_never

from longhaul.diagnostics import Code, Diagnostic
from longhaul.scenario.check.names import program_hosts
from longhaul.scenario.lower.link_models import Plain, distribution_mean
from longhaul.scenario.lower.paths import Routes, Way
from longhaul.scenario.lower.replay import span_ns
from longhaul.scenario.lower.resolve import Resolved
from longhaul.scenario.model import Program
from longhaul.scenario.model.traffic import Kind
from longhaul.scenario.syntax.yaml_tree import Path
from longhaul.units.quantities import Rate, Span

UDP_HEADERS = 28
_LONGEST_START_S = 60
"""Seconds of bringing hosts up from which on it is worth a word."""
_FOREVER = 1 << 62


@dataclass(frozen=True)
class Load:
    """What one flow may put on the network while it lasts."""

    name: str
    start_ns: int
    stop_ns: int
    bits_per_s: int
    packets_per_s: float
    """Of packets that travel alone: segments of TCP do not."""
    bottleneck: tuple[int, int] | None
    """The link that a TCP flow shares with others, and its rate."""


def concerns(resolved: Resolved, certificate: Mapping[str, Any] | None) -> tuple[Diagnostic, ...]:
    """Warnings with place, what is asked, what was shown, and a remedy; none without a certificate."""
    if certificate is None:
        return ()
    found: list[Diagnostic] = []
    loads = _loads(resolved)
    for told in (_bits(loads, certificate), _packets(loads, certificate)):
        if told:
            name, message, remedy = told
            found.append(resolved.scenario.warning(Code.MACHINE_TOO_SLOW, ("traffic", name), message, remedy))
    found += _hosts(resolved, certificate)
    found += _processors(resolved, certificate)
    found += _lateness(resolved, certificate)
    return tuple(found)


def _loads(resolved: Resolved) -> list[Load]:
    """Of every real flow whose rate is known."""
    plan = resolved.plan
    routes = Routes(plan)
    found = []
    for flow in resolved.traffic:
        if flow["simulated"]:
            continue
        for destination in flow["destinations"]:
            way = routes.way(flow["source"], destination)
            load = _load(flow, way, plan["duration_ns"]) if way else None
            if load and load.start_ns < load.stop_ns:
                found.append(load)
    return found


def _load(flow: Plain, way: Way, duration_ns: int | None) -> Load | None:
    span = (flow["name"], flow["start_ns"], flow["stop_ns"] or duration_ns or _FOREVER)
    kind: Kind = flow["kind"]
    match kind:
        case "ping":
            # There and back.
            packets = 2e9 / flow["every_ns"]
            return Load(*span, round(packets * 8 * (flow["size_bytes"] + UDP_HEADERS)), packets, None)
        case "udp":
            size = flow["size_bytes"] + UDP_HEADERS
            packets = flow["rate_bits_per_s"] / 8 / (size - UDP_HEADERS)
            # What is offered has to be read, even if the bottleneck drops it.
            return Load(*span, round(packets * 8 * size), packets, None)
        case "pcap":
            sent = flow["packets"]["at_ns"]
            passes_ns = max(flow["every_ns"] * flow["repeat"], sent[-1], 1)
            span = (flow["name"], flow["start_ns"], min(span[2], flow["start_ns"] + passes_ns))
            packets = len(sent) * flow["repeat"] * 1e9 / passes_ns
            return Load(*span, round(flow["bytes"] * 8e9 / passes_ns), packets, None)
        case "tcp":
            demand = flow["rate_bits_per_s"] * flow["flows"] if flow["rate_bits_per_s"] else None
        case "requests":
            demand = _demand_of_requests(flow)
        case "replay":
            first_ns, last_ns = span_ns(flow)
            span = (flow["name"], first_ns, max(last_ns, first_ns + 1))
            demand = round(flow["bytes"] * 8e9 / (last_ns - first_ns)) if last_ns > first_ns else None
        case _:
            assert_never(kind)
    limit = way.bits_per_s
    known = [rate for rate in (demand, limit) if rate is not None]
    if not known:
        return None
    shared = (way.bottleneck, limit) if way.bottleneck is not None and limit is not None else None
    return Load(*span, min(known), 0.0, shared)


def _demand_of_requests(flow: Plain) -> int | None:
    """Bits that requests have to send a second, on average; ``None``: as many as they can."""
    size, gap_ns = distribution_mean(flow["size"]), distribution_mean(flow["gap"])
    return round(size * 8e9 / gap_ns) if 0 < gap_ns < math.inf and size < math.inf else None


def _peak(loads: Sequence[Load]) -> tuple[int, int, str] | None:
    """Most bit/s at once, when, and the flow that has the largest part."""
    changes = [(load.start_ns, load, load.bits_per_s) for load in loads]
    changes += [(load.stop_ns, load, -load.bits_per_s) for load in loads]
    changes.sort(key=lambda change: change[0])
    offered: dict[tuple[int, int] | None, int] = {}
    bits, best, best_ns = 0, 0, None
    for at_ns, together in groupby(changes, key=lambda change: change[0]):
        for _at_ns, load, more in together:
            place = load.bottleneck
            before = offered.get(place, 0)
            offered[place] = before + more
            bits += _carried(place, offered[place]) - _carried(place, before)
        if bits > best:
            best, best_ns = bits, at_ns
    if best_ns is None:
        return None
    active = (load for load in loads if load.start_ns <= best_ns < load.stop_ns)
    return best, best_ns, max(active, key=lambda load: load.bits_per_s).name


def _carried(bottleneck: tuple[int, int] | None, bits_per_s: int) -> int:
    """What flows may put on the network that offer this together."""
    return bits_per_s if bottleneck is None else min(bottleneck[1], bits_per_s)


def _bits(loads: Sequence[Load], certificate: Mapping[str, Any]) -> tuple[str, str, str] | None:
    peak = _peak(loads)
    shown = certificate.get("faithful_bits_per_s")
    if peak is None or shown is None or peak[0] <= shown:
        return None
    asked, at_ns, name = peak
    message = f"flows may send {_rate(asked)} together at {Span(at_ns)}"
    return name, f"{message}; {_kept(shown, str(_rate(shown)))}", "lower rates, or simulate"


def _packets(loads: Sequence[Load], certificate: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """The most at once; of several such times the first."""
    shown = certificate.get("faithful_packets_per_s")
    single = [load for load in loads if load.packets_per_s]
    peaks = []
    for begin in sorted({load.start_ns for load in single}):
        active = [load for load in single if load.start_ns <= begin < load.stop_ns]
        name = max(active, key=lambda load: load.packets_per_s).name
        peaks.append((sum(load.packets_per_s for load in active), -begin, name))
    if shown is None or not peaks or max(peaks)[0] <= shown:
        return None
    packets, minus_at_ns, name = max(peaks)
    at_ns = -minus_at_ns
    message = f"flows send {packets:,.0f} packets/s together at {Span(at_ns)}"
    remedy = "send larger packets, or fewer"
    return name, f"{message}; {_kept(shown, f'{shown:,}')}", remedy


def _hosts(resolved: Resolved, certificate: Mapping[str, Any]) -> list[Diagnostic]:
    hosts = sum(node["kind"] == "host" for node in resolved.plan["nodes"])
    speed = certificate.get("hosts_per_s")
    if not speed or hosts / speed <= _LONGEST_START_S:
        return []
    message = (
        f"{hosts} hosts take about {hosts / speed:.0f} s to start; this machine started {speed:g} per second"
    )
    return [
        resolved.scenario.warning(Code.MACHINE_TOO_SLOW, ("nodes",), message, "use fewer hosts, or simulate")
    ]


def _processors(resolved: Resolved, certificate: Mapping[str, Any]) -> list[Diagnostic]:
    """Parallel programs compute on all their hosts at once, beside the engine's own processor."""
    cpus = int(certificate["cpus"])
    found = []
    for name, program in resolved.scenario.document.programs.items():
        ranks = _ranks(program)
        if ranks > max(1, cpus - 1):
            path: Path = ("programs", name, "hosts")
            rest = "1 processor is" if cpus <= 2 else f"{cpus - 1} processors are"
            message = f"{ranks} hosts compute at once; {rest} left beside the engine's"
            remedy = "expect longer computing times, or use a larger machine"
            found.append(resolved.scenario.warning(Code.MACHINE_TOO_SLOW, path, message, remedy))
    return found


def _ranks(program: Program) -> int:
    return len(program_hosts(program)) if program.run is not None and program.hosts else 0


def _lateness(resolved: Resolved, certificate: Mapping[str, Any]) -> list[Diagnostic]:
    """Expectations of lateness that even an idle machine did not meet."""
    found = []
    for position, each in enumerate(resolved.expectations):
        quantile = each["metric"].removeprefix("fidelity.lateness.")
        shown = certificate.get(f"jitter_{quantile}_ns")
        if each["metric"] == quantile or shown is None or each["max"] is None or each["max"] >= shown:
            continue
        message = (
            f"expects {Span(round(each['max']))}; this machine reached {Span(round(shown))} when it was idle"
        )
        path: Path = ("expect", position, "max")
        found.append(
            resolved.scenario.warning(
                Code.LATENESS_DEMAND, path, message, "allow more, or use a better machine"
            )
        )
    return found


def _kept(shown: float, text: str) -> str:
    if not shown:
        return "this machine was not faithful at any rate when it was measured"
    return f"this machine was faithful up to {text}"


def _rate(bits_per_s: int) -> Rate:
    """To three digits."""
    return Rate(max(1, round(float(f"{bits_per_s:.3g}"))))
