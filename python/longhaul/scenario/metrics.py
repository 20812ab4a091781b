"""What an expectation may speak of: the names of measures, and the unit of each."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal

from longhaul.scenario.units import Quantity, Rate, Share, Size, Span, UnitError

Unit = Literal["ns", "bit/s", "bytes", "share", "count", "text"]

FIDELITY: Mapping[str, Unit] = {
    "verdict": "text",
    "gaps": "count",
    "waiting": "share",
    **{
        f"{figure}.{quantile}": "ns"
        for figure in ("lateness", "spacing", "simulated")
        for quantile in ("p50", "p90", "p99", "p999", "max")
    },
}
PROGRAM: Mapping[str, Unit] = {"wall_time": "ns", "exit": "count"}
DELAY = ("mean", "p50", "p90", "p99", "max")
SEND_LATENESS = ("p50", "p99", "max")
RTT = ("mean", "p50", "p90", "p99", "max")
QUEUEING_DELAY = ("mean", "p50", "p90", "p99", "max")
_TCP: Mapping[str, Unit] = {
    "goodput": "bit/s",
    "throughput": "bit/s",
    "retransmits": "count",
    "retransmission_rate": "share",
}
_TRANSFERS: Mapping[str, Unit] = {
    **_TCP,
    "done": "count",
    **{f"took.{quantile}": "ns" for quantile in ("p50", "p99", "max")},
    **{f"send_lateness.{quantile}": "ns" for quantile in SEND_LATENESS},
}
FLOW: Mapping[str, Mapping[str, Unit]] = {
    "tcp": {**_TCP, **{f"rtt.{quantile}": "ns" for quantile in RTT}},
    "udp": {
        "goodput": "bit/s",
        "throughput": "bit/s",
        "loss": "share",
        "reordered": "count",
        **{f"delay.{quantile}": "ns" for quantile in DELAY},
        **{f"send_lateness.{quantile}": "ns" for quantile in SEND_LATENESS},
    },
    "requests": _TRANSFERS,
    "replay": _TRANSFERS,
}
PROBE: Mapping[str, Unit] = {
    **{f"rtt.{quantile}": "ns" for quantile in ("min", "p50", "p99", "max")},
    "loss": "share",
}
LINK: Mapping[str, Unit] = {
    "delay": "ns",
    "rate": "bit/s",
    "peak_rate": "bit/s",
    "loss": "share",
    "utilisation": "share",
    **{f"queueing_delay.{quantile}": "ns" for quantile in QUEUEING_DELAY},
    **dict.fromkeys(
        ("offered", "delivered", "lost", "overflowed", "dropped", "down", "too_big", "marked", "corrupted"),
        "count",
    ),
}
TRANSFERS: Mapping[str, Unit] = {"f1": "ns", "f2": "share"}
_QUANTITY: Mapping[str, type[Quantity]] = {"ns": Span, "bit/s": Rate, "bytes": Size, "share": Share}


def unit_of(metric: str) -> Unit:
    """The unit of a metric, by its name alone."""
    kinds: dict[str, Mapping[str, Unit]] = {
        "fidelity": FIDELITY,
        "programs": PROGRAM,
        "probes": PROBE,
        "links": LINK,
        "transfers": TRANSFERS,
        "fairness": {"jain": "share"},
        "flows": {name: unit for fields in FLOW.values() for name, unit in fields.items()},
    }
    fields = kinds.get(metric.partition(".")[0], {})
    endings = (name for name in fields if metric.endswith(f".{name}"))
    return fields.get(max(endings, key=len, default=""), "count")


def catalogue(
    *, programs: Iterable[str], traffic: Mapping[str, tuple[str, tuple[str, ...]]], links: Iterable[str]
) -> dict[str, Unit]:
    """Every metric of a scenario with its unit. ``traffic`` maps a name to its kind and destinations."""
    found: dict[str, Unit] = {f"fidelity.{name}": unit for name, unit in FIDELITY.items()}
    found["fairness.jain"] = "share"
    found |= {f"transfers.{name}": unit for name, unit in TRANSFERS.items()}
    for program in programs:
        found |= {f"programs.{program}.{name}": unit for name, unit in PROGRAM.items()}
    for flow, (kind, destinations) in traffic.items():
        if kind == "ping":
            for to in destinations:
                found |= {f"probes.{flow}.{to}.{name}": unit for name, unit in PROBE.items()}
            continue
        names = [flow] if len(destinations) == 1 else [f"{flow}.{to}" for to in destinations]
        for each in names:
            found |= {f"flows.{each}.{name}": unit for name, unit in FLOW[kind].items()}
    for link in links:
        for way in ("forward", "reverse"):
            found |= {f"links.{link}.{way}.{name}": unit for name, unit in LINK.items()}
    return found


def bound(value: Any, unit: Unit) -> int | float | str:
    """A bound of an expectation in the metric's unit; raises :class:`UnitError`."""
    if unit == "text":
        return str(value)
    if unit == "count":
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnitError(
                f'"{str(value)[:40]}" is no number of things', "write a whole number, without unit"
            )
        return value
    quantity = _QUANTITY[unit].parse(value)
    amount: int | Fraction = getattr(
        quantity, {"ns": "ns", "bit/s": "bits_per_s", "bytes": "bytes"}.get(unit, "share")
    )
    return amount if isinstance(amount, int) else float(amount)
