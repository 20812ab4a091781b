"""Whether a network can be cut where it is to be: links' delays must cover the time between machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longhaul import log
from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.machines.hostfile import Machine
from longhaul.machines.paths import burst_bits_per_s
from longhaul.machines.placement import Placement
from longhaul.plan import Plan
from longhaul.units.text import rate_text, share_text, time_text

Json = dict[str, Any]

ENGINE_NS = 250_000
"""What the engines at both ends of a cut need beside the network, on a busy machine."""


@dataclass(frozen=True)
class Path:
    """The network between two machines, as measured before the run."""

    ends: tuple[int, int]
    sent: int
    received: int
    rtt_min_ns: int | None
    rtt_p50_ns: int | None
    rtt_p99_ns: int | None
    bits_per_s: float | None
    """At which a burst came; an estimate."""

    @property
    def loss(self) -> float:
        """The share of probes without a reply."""
        return 1 - self.received / self.sent

    def as_dict(self, names: Sequence[str]) -> Json:
        """For the record of the run."""
        return {
            "machines": [names[end] for end in self.ends],
            "sent": self.sent,
            "received": self.received,
            "rtt_min_ns": self.rtt_min_ns,
            "rtt_p50_ns": self.rtt_p50_ns,
            "rtt_p99_ns": self.rtt_p99_ns,
            "bits_per_s": self.bits_per_s,
        }


def path(number: int, measured: Mapping[str, Any]) -> Path:
    """What machine ``number`` measured to a peer."""
    return Path(
        ends=(number, measured["peer"]),
        sent=measured["sent"],
        received=measured["received"],
        rtt_min_ns=measured["rtt_min_ns"],
        rtt_p50_ns=measured["rtt_p50_ns"],
        rtt_p99_ns=measured["rtt_p99_ns"],
        bits_per_s=burst_bits_per_s(measured["burst"]),
    )


def address_of(machine: Machine, port: int) -> str:
    """Where a machine receives, as an address and a port. Raises LonghaulError if its name has no address."""
    import socket

    try:
        found = socket.getaddrinfo(machine.address, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise LonghaulError(
            Code.CLUSTER_UNREACHABLE,
            f"machine {machine.name}: {machine.address} has no address: {error.strerror or error}",
            remedy="write address=ADDRESS behind its name in the hostfile",
            exit_code=3,
        ) from error
    host = found[0][4][0]
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


def check(placement: Placement, paths: Sequence[Path]) -> None:
    """Refuse a cut whose delay is too small; warn of what will cost packets. Raises LonghaulError."""
    names = [machine.name for machine in placement.machines]
    by_ends = {each.ends: each for each in paths}
    for each in paths:
        here, there = (names[end] for end in each.ends)
        if each.received == 0:
            raise LonghaulError(
                Code.CLUSTER_UNREACHABLE,
                f"no UDP datagram comes from {here} to {there} and back",
                remedy="open the firewall for UDP between them, or write address=ADDRESS in the hostfile",
                exit_code=3,
            )
        if each.received < each.sent:
            _warn(
                Code.MACHINE_INACCURATE,
                f"{share_text(each.loss)} of the probes between {here} and {there} are lost: packets will "
                "be, too, and the run will be invalid",
                "use a network without loss between the machines",
            )
    for cut in placement.cuts:
        ends = (min(cut.ends), max(cut.ends))
        found = by_ends.get(ends)
        if found is None:
            continue
        one_way_ns, slow_ns = ((rtt_ns or 0) // 2 for rtt_ns in (found.rtt_p50_ns, found.rtt_p99_ns))
        here, there = (names[end] for end in ends)
        if cut.delay_ns < one_way_ns + ENGINE_NS:
            raise LonghaulError(
                Code.CUT_TOO_SHORT,
                f"link {cut.name}: its delay of {time_text(cut.delay_ns)} is too small to cross from {here} "
                f"to {there}: their network takes {time_text(one_way_ns)} one way (median), and the engines "
                f"{time_text(ENGINE_NS)}",
                remedy="place: both of its ends on one machine, or use a faster network",
                exit_code=3,
            )
        if cut.delay_ns < slow_ns + ENGINE_NS:
            _warn(
                Code.MACHINE_INACCURATE,
                f"link {cut.name}: one packet in 100 takes {time_text(slow_ns)} from {here} to {there}, and "
                f"will be late: the link's delay is {time_text(cut.delay_ns)}",
                "use a network with less jitter between the machines",
            )


def announce(placement: Placement, paths: Sequence[Path]) -> None:
    """Log what runs where, and what is between the machines."""
    names = [machine.name for machine in placement.machines]
    nodes = ", ".join(
        f"{name} ({placement.partition.count(number)} nodes)" for number, name in enumerate(names)
    )
    log.note(f"machines: {nodes}; {len(placement.cuts)} links between them")
    for each in paths:
        here, there = (names[end] for end in each.ends)
        rate = f", {rate_text(each.bits_per_s)}" if each.bits_per_s else ""
        log.note(
            f"{here} - {there}: RTT {time_text(each.rtt_min_ns or 0)} (least), "
            f"{time_text(each.rtt_p99_ns or 0)} (p99){rate}"
        )


def refuse(plan: Plan, *, journal: bool, foreign: Sequence[Mapping[str, Any]], option: str) -> None:
    """What a network that is divided cannot have yet; ``option`` divides it. Raises LonghaulError."""
    obstacles = [
        (bool(plan["jobs"]) or any(flow["simulated"] for flow in plan["flows"]), "simulated traffic"),
        (any(flow["traffic"]["kind"] == "pcap" for flow in plan["flows"]), "replayed captures"),
        (plan["measure"].get("monitor") is not None, "monitored links (measure: monitor)"),
        (journal, "a journal (--journal)"),
        (bool(foreign) or any(node.get("port") for node in plan["nodes"]), "ports"),
        (plan.get("gateway") is not None and option == "--on", "internet access"),
    ]
    found = [what for applies, what in obstacles if applies]
    if found:
        raise LonghaulError(
            Code.NOT_DIVISIBLE,
            f"a network that {option} divides cannot have {', '.join(found)} yet",
            remedy=f"leave out {option}",
            exit_code=2,
        )


def refuse_divided_programs(plan: Plan, placement: Placement) -> None:
    """Programs whose parts or predecessors would be on several machines. Raises LonghaulError."""
    partition = placement.partition
    at = {program["name"]: partition[program["host"]] for program in plan["programs"]}
    for program in plan["programs"]:
        span = program.get("span")
        hosts = {partition[host] for host in span["hosts"]} if span else set()
        after = {at[name] for name in program.get("after", ())}
        what = (
            "the ranks of"
            if len(hosts) > 1
            else "what comes before"
            if after - {at[program["name"]]}
            else None
        )
        if what is not None:
            raise LonghaulError(
                Code.NOT_DIVISIBLE,
                f"program {program['name']}: {what} it would be on several machines, which is not possible "
                "yet",
                remedy="place: their hosts on one machine",
                exit_code=2,
            )


def _warn(code: Code, message: str, remedy: str) -> None:
    log.warn(Diagnostic(code, message, remedy))
