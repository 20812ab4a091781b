"""The key metrics of a run in a list of runs: totals and worst cases of the summary."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from longhaul.analysis.totals import total_goodput

Json = Mapping[str, Any]


class Headline(NamedTuple):
    """A metric of a whole run."""

    name: str
    title: str
    unit: str
    about: str


HEADLINES = (
    Headline("goodput", "goodput", "bit/s", "the sum over all flows"),
    Headline(
        "rtt_p50", "RTT p50", "ns", "median round trip of pings, or of TCP flows without pings; the worst"
    ),
    Headline("rtt_p99", "RTT p99", "ns", "99th percentile of the same; the worst"),
    Headline("retransmits", "retransmits", "count", "segments that all flows retransmitted"),
    Headline("jain", "Jain", "index", "Jain's fairness index of concurrent flows"),
    Headline("wall_time", "wall time", "ns", "the program that took longest"),
)


def headline_metrics(summary: Json) -> dict[str, float | None]:
    """Each of :data:`HEADLINES` by its name; ``None`` where the run has nothing of the kind."""
    flows, probes = summary.get("flows") or (), summary.get("probes") or ()
    rtts = [flow["rtt"] for flow in flows if flow.get("rtt") and flow["rtt"].get("count")]
    pings = [each for each in probes if each.get("rtt_p50_ns") is not None]
    return {
        "goodput": total_goodput(flows),
        "rtt_p50": _worst(each["rtt_p50_ns"] for each in pings) or _worst(each["p50_ns"] for each in rtts),
        "rtt_p99": _worst(each.get("rtt_p99_ns") for each in pings)
        or _worst(each["p99_ns"] for each in rtts),
        "retransmits": _total(flow.get("retransmits") for flow in flows),
        "jain": (summary.get("fairness") or {}).get("jain"),
        "wall_time": _worst(each.get("wall_ns") for each in summary.get("programs") or ()),
    }


def _numbers(values: Iterable[Any]) -> list[float]:
    return [each for each in values if isinstance(each, int | float)]


def _total(values: Iterable[Any]) -> float | None:
    found = _numbers(values)
    return sum(found) if found else None


def _worst(values: Iterable[Any]) -> float | None:
    return max(_numbers(values), default=None)
