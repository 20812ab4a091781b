"""The verdict on a run: faithful, degraded or invalid, with the reasons.

Thresholds are defined here and documented in docs/explanation/fidelity.md.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from longhaul.analysis.drops import ON_LINKS, unaccounted
from longhaul.plan import WAYS
from longhaul.units.text import few_text, share_text, time_text

WAITING_SHARE = 0.10
"""Of the run, in which some program of a host was ready and had no CPU; beyond it the host was starved."""


def evaluate_hosts(waiting: Mapping[str, float], *, is_measured: bool) -> dict[str, Any]:
    """``state``: ``ok``, ``starved``, or ``unknown`` where the kernel does not say; with reasons.

    ``waiting`` is by host the share of the time in which a program of it waited for a CPU.
    """
    starved = {host: share for host, share in waiting.items() if share > WAITING_SHARE}
    state = "starved" if starved else "ok" if is_measured else "unknown"
    return {"state": state, "threshold": WAITING_SHARE, "reasons": [_reason(starved)] if starved else []}


def _reason(starved: Mapping[str, float]) -> dict[str, str]:
    worst = sorted(starved, key=lambda host: -starved[host])
    named = few_text([f"{host} ({share_text(starved[host])})" for host in worst])
    return {
        "what": "programs and TCP ran slower than on dedicated hosts: CPU wait over "
        f"{share_text(WAITING_SHARE)} of the time on {named}",
        "remedy": "run fewer hosts or programs at a time, give them less to compute, or use a machine with "
        "more CPU cores",
    }


LATENESS_P99_NS = 100_000
"""Limit of p99 lateness with real-time priority."""
LATENESS_P99_ORDINARY_NS = 50_000
"""Limit of p99 lateness without real-time priority, which has longer tails."""
SIMULATED_P99_NS = 1_000_000
"""Limit of p99 lateness of simulated hosts. Beyond it, the engine also reads late what real hosts send."""
GAP_SHARE = 0.01
"""Limit of the share of the run that scheduling stalls take."""
BUSY_SHARE = 0.5
"""An engine that works for a larger share of the run is named as the cause of late packets."""
CLOCK_BOUND_NS = 500_000
"""Limit of the bound of the relation of two machines' clocks."""
STEAL_SHARE = 0.05
"""Limit of steal time, as a share of CPU time."""

Verdict = Literal["faithful", "degraded", "invalid"]

FATES = (
    "delivered", "lost", "overflowed", "dropped", "down",
    "no_route", "ttl_expired", "too_big", "answered", "pacer_dropped", "filtered", "looped", "held",
)  # fmt: skip

LOST_BETWEEN = "lost_between_machines"
"""Of a run whose network is divided: packets that the network between the machines lost."""

_PORT_DROPS = {
    "write_failed_packets": "the kernel refused to take them",
    "read_failed": "reading the port failed",
    "no_memory_packets": "memory ran out",
    "receive_dropped_packets": "the engine did not read the device in time",
    "unresolved_packets": "no host behind the device has their address",
    "unsupported_frames": "super-packets of this protocol cannot be divided",
}
_HOST_DROPS = {
    "dev_tx_dropped": "the engine did not read in time",
    "dev_rx_dropped": "the kernel dropped them on arrival",
    "UdpRcvbufErrors": "a UDP receiver's buffer was full",
    "UdpMemErrors": "the kernel had no memory for UDP",
    "Udp6RcvbufErrors": "a UDP receiver's buffer was full",
    "IpInDiscards": "the kernel discarded them",
    "IpOutDiscards": "the kernel discarded them",
    "Ip6InDiscards": "the kernel discarded them",
    "Ip6OutDiscards": "the kernel discarded them",
    "TCPBacklogDrop": "a TCP receiver's backlog was full",
    "TCPRcvQDrop": "a TCP receiver's queue was full",
    "RcvPruned": "a TCP receiver's buffer was full",
    "OfoPruned": "a TCP receiver had no room for what waits for a lost segment",
    "TCPOFODrop": "a TCP receiver had no room for what waits for a lost segment",
    "softnet_dropped": "the machine's receive queue was full",
}
_REMEDIES = {
    "receive_dropped_packets": "reduce the traffic or free a CPU core",
    "unresolved_packets": "check subnets, and that the hosts behind the device are up",
    "unsupported_frames": "switch off generic receive offload: sudo ethtool -K DEVICE gro off",
    "dev_tx_dropped": "reduce the traffic or free a CPU core",
    "UdpRcvbufErrors": "give the receiver a larger socket buffer, or raise net.core.rmem_max",
    "Udp6RcvbufErrors": "give the receiver a larger socket buffer, or raise net.core.rmem_max",
    "TCPBacklogDrop": "raise tcp: {buffers: ...} in the scenario",
    "TCPRcvQDrop": "raise tcp: {buffers: ...} in the scenario",
    "RcvPruned": "raise tcp: {buffers: ...} in the scenario",
    "OfoPruned": "raise tcp: {buffers: ...} in the scenario",
    "TCPOFODrop": "raise tcp: {buffers: ...} in the scenario",
}


@dataclass(frozen=True)
class Reason:
    """One reason for a verdict."""

    verdict: Verdict
    what: str
    remedy: str | None = None


@dataclass(frozen=True)
class Fidelity:
    """The verdict, its reasons, and the main figures."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    lateness: dict[str, Any]
    """Distribution of written minus due over all packets, in ns."""
    spacing: dict[str, Any]
    """Distribution of the inter-packet gap error, in ns."""
    gaps: dict[str, Any]
    """Scheduling stalls: times over 100 µs in which the machine did not run the engine."""
    scheduling: dict[str, Any]
    work: dict[str, float] = field(default_factory=dict)
    """Shares of the run in which the engine worked (``busy``), and in which it wrote packets (``write``)."""
    simulated: dict[str, Any] = field(default_factory=dict)
    """Distribution of the lateness of events of simulated hosts, in ns; empty without them."""
    read_delay: dict[str, Any] = field(default_factory=dict)
    """By host at an interface of the machine: time from the arrival of packets at the kernel until the engine
    read them, in ns."""
    waiting: dict[str, float] = field(default_factory=dict)
    """CPU wait by host, a share of the run; hosts without any are left out."""
    hosts: dict[str, Any] = field(default_factory=dict)
    """A verdict of its own: whether hosts had the CPU that their programs wanted; empty in a simulation."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def judge(
    engine: Mapping[str, Any] | None,
    hosts: Mapping[str, Mapping[str, int]],
    accounts: Mapping[str, Mapping[str, int]] | None = None,
) -> Fidelity:
    """The verdict on a run, by what the engine counted, what ``hosts`` lost and what else was counted."""
    if not engine:
        reason = Reason("invalid", "the engine left no results", "see logs/engine.err")
        return Fidelity("invalid", (reason,), {}, {}, {}, {})
    if engine.get("unfinished"):
        reason = Reason("invalid", "the run ended before the engine could write its results")
        return Fidelity("invalid", (reason,), {}, {}, {}, {})
    if engine.get("mode") == "sim":
        reasons = tuple(_vanished(engine))
        return Fidelity("invalid" if reasons else "faithful", reasons, {}, {}, {}, {})
    is_virtual = engine.get("clock") == "virtual"
    if is_virtual:
        timing = _virtual_timing(engine)
    else:
        timing = _timings_of_machines(engine) if engine.get("machines") else _timing(engine)
    reasons = (*_vanished(engine), *_unconfigured(engine, hosts), *timing)
    waiting = _waiting(accounts or {}, engine["duration_ns"])
    is_measured = any("cpu.waited_ns" in each for each in (accounts or {}).values())
    return Fidelity(
        verdict=worst_of(each.verdict for each in reasons),
        reasons=reasons,
        lateness=dict(engine["lateness"]["all"]),
        spacing=dict(engine.get("spacing", {}).get("all", {})),
        gaps={} if is_virtual else _gaps(engine),
        scheduling={} if is_virtual else dict(engine["scheduling"]),
        work=_work(engine),
        simulated=dict(engine.get("simulated", {}).get("lateness", {})),
        read_delay=_read_delays(engine),
        waiting=waiting,
        # Hosts on the virtual clock wait for nothing: computing takes them no time.
        hosts=evaluate_hosts(waiting, is_measured=is_measured or is_virtual),
    )


def with_damage(found: Fidelity, *, files: Iterable[str], lines: Mapping[str, int]) -> Fidelity:
    """The verdict where records are damaged: ``files`` say what is wrong, ``lines`` were left out by file."""
    remedy = "restore it from a copy, or run the scenario again"
    reasons = (
        *(Reason("invalid", each, remedy) for each in files),
        *(
            Reason("degraded", f"{count} damaged line{'s' if count > 1 else ''} of {name} left out", remedy)
            for name, count in lines.items()
        ),
    )
    verdicts = (found.verdict, *(each.verdict for each in reasons))
    return replace(found, verdict=worst_of(verdicts), reasons=(*found.reasons, *reasons))


def worst_of(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; ``faithful`` for none."""
    order: tuple[Verdict, ...] = ("faithful", "degraded", "invalid")
    return max(verdicts, key=order.index, default="faithful")


def _vanished(engine: Mapping[str, Any]) -> Iterator[Reason]:
    if engine.get("error"):
        yield Reason("invalid", f"the engine failed: {engine['error']}", "see logs/engine.err")
    packets = engine["packets"]
    begun = packets["injected"] + packets["copied"] + packets["replies"]
    ended = sum(packets.get(fate, 0) for fate in (*FATES, LOST_BETWEEN))
    if begun != ended:
        yield Reason(
            "invalid", f"{begun - ended} packets have no fate", "this is a defect of Longhaul: report it"
        )
    ways = [each[way] for each in engine.get("links", ()) for way in WAYS]
    rows = [{"packets": {cause: way[f"{cause}_packets"] for cause in ON_LINKS}} for way in ways]
    for cause, count in unaccounted(packets, rows).items() if rows else ():
        what = f"{count} packets counted as {cause} are not accounted for by any link"
        yield Reason("invalid", what, "this is a defect of Longhaul: report it")


def _unconfigured(engine: Mapping[str, Any], hosts: Mapping[str, Mapping[str, int]]) -> Iterator[Reason]:
    """Unintended drops, summed over hosts by cause."""
    for counters, causes in ((engine["ports"], _PORT_DROPS), (hosts, _HOST_DROPS)):
        for counter, why in causes.items():
            found = {host: each[counter] for host, each in counters.items() if each.get(counter)}
            if not found:
                continue
            # Machine-wide counters stand the same with every host.
            count = max(found.values()) if counter == "softnet_dropped" else sum(found.values())
            where = "the machine" if counter == "softnet_dropped" else few_text(sorted(found))
            what = f"{count} unintended drops of packets at {where}: {why} ({counter})"
            yield Reason("invalid", what, _REMEDIES.get(counter))


def _virtual_timing(engine: Mapping[str, Any]) -> Iterator[Reason]:
    """Hosts that run on a clock of ours wait for each packet; that they did is checked all the same."""
    guests: Mapping[str, Mapping[str, int]] = engine["virtual"]["hosts"]
    late = {host: each["late_frames"] for host, each in guests.items() if each["late_frames"]}
    if late:
        worst = time_text(max(guests[host]["most_late_ns"] for host in late))
        where = few_text(sorted(late))
        what = f"{sum(late.values())} packets came to {where} after they were due, by up to {worst}"
        yield Reason("degraded", what, "give the last links of the hosts a delay, and no parallel routes")
    refused = {host: each["no_room_frames"] for host, each in guests.items() if each["no_room_frames"]}
    if refused:
        what = (
            f"{sum(refused.values())} unintended drops of packets at {few_text(sorted(refused))}: "
            "the host's card was full (no_room_frames)"
        )
        yield Reason("invalid", what, "give the links of the hosts a rate")
    if engine.get("lost_records"):
        yield Reason("invalid", f"{engine['lost_records']} records were lost", "see logs/worker.err")


def _gaps(engine: Mapping[str, Any]) -> dict[str, Any]:
    """The scheduling stalls, with the share of the run that they took."""
    gaps: dict[str, Any] = engine["gaps"]
    return {**gaps, "share": gaps["total_ns"] / max(engine["duration_ns"], 1)}


def _timing(engine: Mapping[str, Any]) -> Iterator[Reason]:
    lateness, duration_ns = engine["lateness"]["all"], max(engine["duration_ns"], 1)
    ordinary = engine["scheduling"]["policy"] != "fifo"
    limit_ns = LATENESS_P99_ORDINARY_NS if ordinary else LATENESS_P99_NS
    if lateness["p99_ns"] > limit_ns:
        remedy = (
            "allow real-time priority (longhaul doctor)"
            if ordinary
            else f"reduce the traffic{_busy_text(engine) or ' or free a CPU core'}"
        )
        p99, limit = time_text(lateness["p99_ns"]), time_text(limit_ns)
        what = f"p99 lateness of packets is {p99}, over the limit of {limit}"
        yield Reason("degraded", what, remedy)
    turns = engine.get("simulated", {}).get("lateness", {})
    if turns.get("p99_ns", 0) > SIMULATED_P99_NS:
        p99, limit = time_text(turns["p99_ns"]), time_text(SIMULATED_P99_NS)
        what = f"p99 lateness of simulated hosts is {p99}, over the limit of {limit}"
        yield Reason("degraded", what, "reduce the simulated traffic")
    share = engine["gaps"]["total_ns"] / duration_ns
    if share > GAP_SHARE:
        count = engine["gaps"]["count"]
        stalled = f"for {share_text(share)} of the time ({count} scheduling stalls)"
        what = f"the engine did not run {stalled}"
        yield Reason("degraded", what, "stop other programs, or use a machine with more CPU cores")
    cores = engine["scheduling"]["cores"]
    steal = (engine.get("steal_ns") or 0) / (duration_ns * max(cores, 1))
    if steal > STEAL_SHARE:
        what = f"the hypervisor took {share_text(steal)} of the CPU time"
        yield Reason("degraded", what, "use a less shared machine")
    yield from _lost_records(engine)


def _lost_records(engine: Mapping[str, Any]) -> Iterator[Reason]:
    if engine.get("lost_records"):
        what = f"{engine['lost_records']} records were lost: the disk was too slow"
        yield Reason("degraded", what, "record less (measure:), or on a faster disk")


def _timings_of_machines(engine: Mapping[str, Any]) -> Iterator[Reason]:
    """The engine of each machine by itself, and what happened between them."""
    lost = engine["packets"].get(LOST_BETWEEN, 0)
    # Of a run that failed, packets were on their way.
    if lost and not engine.get("error"):
        what = f"{lost} unintended drops of packets: the network between the machines lost them"
        yield Reason("invalid", what, "use a network without loss, or less traffic between the machines")
    for name, each in engine["machines"].items():
        for reason in _timing(each):
            yield replace(reason, what=f"{name}: {reason.what}")
        for peer in (each.get("tunnel") or {}).get("peers", ()):
            yield from _crossing(name, peer)
    yield from _lost_records(engine)


def _crossing(name: str, peer: Mapping[str, Any]) -> Iterator[Reason]:
    """Packets that came from another machine after they were due, and the relation of the clocks."""
    late, count = peer["late"], peer["late"]["count"] + peer["early"]["count"]
    late_ns = late_quantile_ns(late, count, 0.99)
    if late_ns > LATENESS_P99_NS:
        what = (
            f"p99 lateness of packets that cross from {peer['machine']} to {name} is {time_text(late_ns)}, "
            f"over the limit of {time_text(LATENESS_P99_NS)}"
        )
        yield Reason("degraded", what, "give the links between them more delay, or use a faster network")
    clock = peer.get("clock")
    if clock and clock["bound_ns"] > CLOCK_BOUND_NS:
        bound = time_text(clock["bound_ns"])
        what = f"the clocks of {name} and {peer['machine']} are related to within {bound} only"
        yield Reason("degraded", what, "use a network with less delay and jitter between the machines")


def late_quantile_ns(late: Mapping[str, Any], count: int, share: float) -> int:
    """How late a ``share`` of ``count`` packets are at most; ``late`` has those that were late at all."""
    in_time = count - late["count"]
    if not late["count"] or in_time >= share * count:
        return 0
    wanted = (share * count - in_time) / late["count"]
    return next((int(ns) for ns, below in late["cdf"] if below >= wanted), int(late["max_ns"]))


def _work(engine: Mapping[str, Any]) -> dict[str, float]:
    """Shares of the run in which the engine worked; empty for a run of before they were recorded."""
    duration_ns = max(engine["duration_ns"], 1)
    return {
        name.removesuffix("_ns"): taken_ns / duration_ns for name, taken_ns in engine.get("work", {}).items()
    }


def _read_delays(engine: Mapping[str, Any]) -> dict[str, Any]:
    """How long packets waited at each interface of the machine, without the points of the distribution."""
    delays = {host: each["read_delay"] for host, each in engine["ports"].items() if each.get("read_delay")}
    return {
        host: {name: value for name, value in delay.items() if name != "cdf"}
        for host, delay in delays.items()
    }


def _busy_text(engine: Mapping[str, Any]) -> str:
    busy = _work(engine).get("busy", 0.0)
    return f": the engine is busy for {share_text(busy)} of the time" if busy > BUSY_SHARE else ""


def _waiting(accounts: Mapping[str, Mapping[str, int]], duration_ns: int) -> dict[str, float]:
    """The share of each host that waited, the longest first."""
    # A host that waits at its own limit has what the scenario gives it.
    waited = {
        host: waited_ns
        for host, each in accounts.items()
        if (waited_ns := each.get("cpu.waited_ns", 0) - each.get("cpu.throttled_ns", 0)) > 0
    }
    order = sorted(waited, key=lambda host: -waited[host])
    return {host: min(waited[host] / max(duration_ns, 1), 1.0) for host in order}
