"""What an expectation may speak of: the names of measures, and the unit of each."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Literal

from longhaul.scenario.units import Quantity, Rate, Share, Size, Span, UnitError

Unit = Literal["ns", "bit/s", "bytes", "share", "count", "text"]

_LATENESS: dict[str, Unit] = {
    f"lateness.{name}": "ns" for name in ("mean", "p50", "p90", "p99", "p999", "max")
}

FIDELITY: Mapping[str, Unit] = {
    "verdict": "text",
    **_LATENESS,
    "gaps.count": "count",
    "gaps.total": "ns",
    "gaps.max": "ns",
    "unconfigured_drops": "count",
}
PROGRAM: Mapping[str, Unit] = {"wall_time": "ns", "exit": "count"}
PING: Mapping[str, Unit] = {
    **{f"rtt.{name}": "ns" for name in ("min", "mean", "p50", "p90", "p99", "max")},
    "loss": "share",
    "sent": "count",
    "received": "count",
}
TCP: Mapping[str, Unit] = {"throughput": "bit/s", "bytes": "bytes", "retransmits": "count"}
UDP: Mapping[str, Unit] = {"throughput": "bit/s", "bytes": "bytes", "loss": "share", "jitter": "ns"}
LINK: Mapping[str, Unit] = {
    "throughput": "bit/s",
    "delay": "ns",
    "loss": "share",
    "overflow": "share",
    **{
        f"{name}_packets": "count"
        for name in ("offered", "copied", "delivered", "lost", "overflowed", "dropped", "down", "too_big")
    },
}
_OF_KIND: Mapping[str, Mapping[str, Unit]] = {"ping": PING, "tcp": TCP, "udp": UDP}
_QUANTITY: Mapping[str, type[Quantity]] = {"ns": Span, "bit/s": Rate, "bytes": Size, "share": Share}


def catalogue(
    *, programs: Iterable[str], traffic: Mapping[str, tuple[str, tuple[str, ...]]], links: Iterable[str]
) -> dict[str, Unit]:
    """Every metric of a scenario with its unit. ``traffic`` maps a name to its kind and destinations."""
    found: dict[str, Unit] = {f"fidelity.{name}": unit for name, unit in FIDELITY.items()}
    for program in programs:
        found |= {f"programs.{program}.{name}": unit for name, unit in PROGRAM.items()}
    for flow, (kind, destinations) in traffic.items():
        names = (
            [flow] if len(destinations) == 1 else [f"{flow}.{destination}" for destination in destinations]
        )
        for each in names:
            found |= {f"traffic.{each}.{name}": unit for name, unit in _OF_KIND[kind].items()}
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
