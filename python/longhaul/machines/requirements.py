"""Whether a network can be cut where it is to be: links' delays must cover the time between machines."""

from collections.abc import Sequence

from longhaul import log
from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.machines.paths import MeasuredPath
from longhaul.machines.placement import Placement
from longhaul.units.text import count_text, rate_text, share_text, time_text

ENGINE_NS = 250_000
"""What the engines at both ends of a cut need beside the network, on a busy machine."""


def check(placement: Placement, paths: Sequence[MeasuredPath]) -> None:
    """Refuse a cut whose delay is too small; warn of what will cost packets. Raises LonghaulError."""
    names = [machine.name for machine in placement.machines]
    by_ends = {each.ends: each for each in paths}
    for each in paths:
        here, there = (names[end] for end in each.ends)
        if each.received == 0:
            raise LonghaulError(
                Code.CLUSTER_UNREACHABLE,
                f"UDP datagrams between {here} and {there} are not answered",
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


def announce(placement: Placement, paths: Sequence[MeasuredPath]) -> None:
    """Log what runs where, and what is between the machines."""
    names = [machine.name for machine in placement.machines]
    counts = [count_text(placement.partition.count(number), "node") for number in range(len(names))]
    parts = ", ".join(f"{name} ({count})" for name, count in zip(names, counts, strict=True))
    log.note(f"machines: {parts}; {count_text(len(placement.cuts), 'link')} between them")
    for each in paths:
        here, there = (names[end] for end in each.ends)
        rate = f", {rate_text(each.bits_per_s)}" if each.bits_per_s else ""
        log.note(
            f"{here} - {there}: RTT {time_text(each.rtt_min_ns or 0)} (min), "
            f"{time_text(each.rtt_p99_ns or 0)} (p99){rate}"
        )


def _warn(code: Code, message: str, remedy: str) -> None:
    log.warn(Diagnostic(code, message, remedy))
