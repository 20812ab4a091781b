"""Names and units of all metrics, and matching of patterns."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Literal

from longhaul.diagnostics import Code, printable
from longhaul.plan import WAYS
from longhaul.scenario.syntax.problems import did_you_mean
from longhaul.units.quantities import Quantity, Rate, Share, Size, Span, UnitError

Unit = Literal["ns", "bit/s", "bytes", "share", "index", "count", "number", "text"]
"""``index``: a number from 0 to 1 that is not a share of anything, such as Jain's. ``number``: in the unit
that a program prints."""

FIDELITY_QUANTILES = ("p50", "p90", "p99", "p999", "max")
FIDELITY: Mapping[str, Unit] = {
    "verdict": "text",
    "hosts": "text",
    "gaps": "count",
    "waiting": "share",
    **{
        f"{figure}.{quantile}": "ns"
        for figure in ("lateness", "spacing", "simulated", "read_delay")
        for quantile in FIDELITY_QUANTILES
    },
}
ITERATION = ("first", "p50", "p99", "warm_up")
PROGRAM: Mapping[str, Unit] = {
    "wall_time": "ns",
    "exit": "count",
    **{f"iteration.{figure}": "ns" for figure in ITERATION},
}
DELAY = ("mean", "p50", "p90", "p99", "max")
SEND_LATENESS = ("p50", "p99", "max")
TOOK = ("p50", "p99", "max")
PROBE_QUANTILES = ("min", "p50", "p99", "max")
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
    **{f"took.{quantile}": "ns" for quantile in TOOK},
    **{f"send_lateness.{quantile}": "ns" for quantile in SEND_LATENESS},
}
_DATAGRAMS: Mapping[str, Unit] = {
    "goodput": "bit/s",
    "throughput": "bit/s",
    "loss": "share",
    "reordered": "count",
    **{f"delay.{quantile}": "ns" for quantile in DELAY},
    **{f"send_lateness.{quantile}": "ns" for quantile in SEND_LATENESS},
}
_BULK: Mapping[str, Unit] = {**_TCP, **{f"rtt.{quantile}": "ns" for quantile in RTT}}
FLOW: Mapping[str, Mapping[str, Unit]] = {
    "tcp": _BULK,
    # Bulk traffic with a size.
    "transfer": {**_BULK, "took": "ns"},
    "udp": _DATAGRAMS,
    "pcap": _DATAGRAMS,
    "requests": _TRANSFERS,
    "replay": _TRANSFERS,
}
PROBE: Mapping[str, Unit] = {
    **{f"rtt.{quantile}": "ns" for quantile in PROBE_QUANTILES},
    "loss": "share",
    "lost_down": "count",
}
LINK_DROPS = ("lost", "overflowed", "dropped", "down", "too_big")
"""Packets that a link does not deliver, by their fate."""
SAMPLED_LINK_COUNTERS = ("offered", "delivered", *LINK_DROPS)
"""Packets of a link that samples have, too."""
FINAL_LINK_COUNTERS = ("marked", "corrupted")
"""Packets of a link that are known at the end of a run only."""
LINK_COUNTERS = (*SAMPLED_LINK_COUNTERS, *FINAL_LINK_COUNTERS)
"""Packets that results count of each link; in records ``NAME_packets``, from ``crates/network``."""
LINK: Mapping[str, Unit] = {
    "delay": "ns",
    "rate": "bit/s",
    "peak_rate": "bit/s",
    "loss": "share",
    "utilisation": "share",
    **{f"queueing_delay.{quantile}": "ns" for quantile in QUEUEING_DELAY},
    **dict.fromkeys(LINK_COUNTERS, "count"),
}
FAIRNESS: Mapping[str, Unit] = {"jain": "index"}
TOTAL: Mapping[str, Unit] = {"goodput": "bit/s"}
"""Of all flows together, if there are several."""
TRANSFERS: Mapping[str, Unit] = {"f1": "ns", "f2": "share"}
LIVE_ONLY = frozenset({"exit", *(f"send_lateness.{quantile}" for quantile in SEND_LATENESS)})
"""Measures that no simulation has; nor has it any of :data:`FIDELITY` but the verdict."""
SAMPLED = frozenset({"peak_rate"})
"""Measures that need samples over time, which a sweep does not keep."""
SWEPT: Mapping[str, Unit] = {
    name: unit
    for fields in (*FLOW.values(), PROBE, PROGRAM, FAIRNESS, TRANSFERS, LINK)
    for name, unit in fields.items()
    if name not in LIVE_ONLY | SAMPLED
}
"""What a sweep over simulations measures, by the name that ends a metric's."""
SWEPT_LIVE: Mapping[str, Unit] = {
    name: unit
    for fields in (*FLOW.values(), PROGRAM, LINK, FIDELITY)
    for name, unit in fields.items()
    if name in LIVE_ONLY | SAMPLED | FIDELITY.keys() and unit != "text"
}
"""What a sweep over runs on the virtual clock measures besides."""
_NEAREST = 3
DEFAULT_METRICS = (
    *(f"flows.*.{name}" for name in ("goodput", "retransmits", "loss", "done", "took", "took.*", "rtt.p50")),
    "probes.*",
    "programs.*.wall_time",
    "total.goodput",
    "fairness.jain",
)
"""What comparisons and sweeps show where nobody says what they are about."""
_QUANTITY: Mapping[str, type[Quantity]] = {
    "ns": Span,
    "bit/s": Rate,
    "bytes": Size,
    "share": Share,
    "index": Share,
}


def _fields(metric: str) -> Mapping[str, Unit]:
    """The measures of a metric's kind, with their units."""
    kinds: dict[str, Mapping[str, Unit]] = {
        "fidelity": FIDELITY,
        "programs": PROGRAM,
        "probes": PROBE,
        "links": LINK,
        "transfers": TRANSFERS,
        "fairness": FAIRNESS,
        "total": TOTAL,
        "flows": {name: unit for fields in FLOW.values() for name, unit in fields.items()},
    }
    return kinds.get(metric.partition(".")[0], {})


def measure_of(metric: str) -> str | None:
    """``rtt.p50`` of ``flows.bulk.rtt.p50``; ``None`` for a metric of no known measure."""
    return max((name for name in _fields(metric) if metric.endswith(f".{name}")), key=len, default=None)


def unit_of(metric: str) -> Unit:
    """The unit of a metric, by its name alone."""
    unknown: Unit = "number" if metric.startswith("programs.") else "count"
    return _fields(metric).get(measure_of(metric) or "", unknown)


def catalogue(
    *,
    programs: Mapping[str, Iterable[str]],
    traffic: Mapping[str, tuple[str, tuple[str, ...]]],
    links: Iterable[str],
) -> dict[str, Unit]:
    """Every metric of a scenario with its unit.

    ``programs`` have the metrics that they print; ``traffic`` maps a name to its kind and destinations.
    """
    found: dict[str, Unit] = {f"fidelity.{name}": unit for name, unit in FIDELITY.items()}
    found |= {f"fairness.{name}": unit for name, unit in FAIRNESS.items()}
    found |= {f"transfers.{name}": unit for name, unit in TRANSFERS.items()}
    for program, printed in programs.items():
        found |= {f"programs.{program}.{name}": unit for name, unit in PROGRAM.items()}
        found |= dict.fromkeys((f"programs.{program}.{name}" for name in printed), "number")
    flows = 0
    for flow, (kind, destinations) in traffic.items():
        if kind == "ping":
            for to in destinations:
                found |= {f"probes.{flow}.{to}.{name}": unit for name, unit in PROBE.items()}
            continue
        names = [flow] if len(destinations) == 1 else [f"{flow}.{to}" for to in destinations]
        flows += len(names)
        for each in names:
            found |= {f"flows.{each}.{name}": unit for name, unit in FLOW[kind].items()}
    if flows > 1:
        found |= {f"total.{name}": unit for name, unit in TOTAL.items()}
    for link in links:
        for way in WAYS:
            found |= {f"links.{link}.{way}.{name}": unit for name, unit in LINK.items()}
    return found


def matching_metrics(pattern: str, metrics: Iterable[str]) -> list[str]:
    """The metrics that ``pattern`` names: by name, by pattern, or by the end of their names."""
    return [name for name in metrics if fnmatchcase(name, pattern) or name.endswith(f".{pattern}")]


def is_swept(metric: str, *, programs: Collection[str], live: bool = False) -> bool:
    """Whether a sweep measures this metric of the catalogue; ``programs`` are those that are simulated.

    ``live``: the sweep's trials are runs on the virtual clock, which measure all that has a number.
    """
    if live:
        return unit_of(metric) != "text"
    kind, _, rest = metric.partition(".")
    if kind == "programs":
        measures = PROGRAM.keys() - LIVE_ONLY
        return any(rest == f"{name}.{measure}" for name in programs for measure in measures)
    return kind != "fidelity" and any(metric.endswith(f".{measure}") for measure in SWEPT)


def unknown_metric(
    pattern: str, metrics: Iterable[str], *, elsewhere: Iterable[str] = ()
) -> tuple[str, str] | None:
    """What is wrong with a pattern that matches none of ``metrics``, and the nearest names; else ``None``.

    ``elsewhere`` are metrics that the scenario has, but a sweep of it does not.
    """
    names = list(metrics)
    if matching_metrics(pattern, names):
        return None
    endings = dict.fromkeys(ending for name in names for ending in _endings(name))
    near = did_you_mean(pattern, [*names, *endings], most=_NEAREST, listed=_beginning_alike(pattern, names))
    if matching_metrics(pattern, elsewhere):
        return f'"{printable(pattern)}" is not measured in a sweep', near
    return f'there is no metric "{printable(pattern)}"', near


def _beginning_alike(pattern: str, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that have most words with ``pattern`` in common, from the first one on."""
    words = pattern.split(".")
    for count in range(len(words) - 1, 0, -1):
        beginning = ".".join(words[:count])
        if alike := [name for name in names if name.startswith(f"{beginning}.")]:
            return alike
    return list(names)


def nearest_metrics(name: str, metrics: Iterable[str]) -> str:
    """The remedy for a name that is not the whole name of a metric."""
    names = list(metrics)
    meant = matching_metrics(name, names)
    listed = _beginning_alike(name, names)
    return did_you_mean(name, meant or names, most=_NEAREST, listed=listed, surely=bool(meant))


def _endings(metric: str) -> Iterable[str]:
    """``rtt.p50`` and ``p50`` of ``flows.bulk.rtt.p50``."""
    parts = metric.split(".")
    return (".".join(parts[place:]) for place in range(2, len(parts)))


def bound(value: Any, unit: Unit) -> int | float | str:
    """A bound of an expectation in the metric's unit; raises :class:`UnitError`."""
    if unit == "text":
        return str(value)
    if unit == "count":
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnitError(
                Code.WRONG_TYPE,
                f'"{str(value)[:40]}" is not a number of things',
                "write a whole number, without unit",
            )
        return value
    if unit == "number":
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise UnitError(
                Code.WRONG_TYPE,
                f'"{str(value)[:40]}" is not a number',
                "write a number in the unit that the program prints, without unit",
            )
        return float(value)
    quantity = _QUANTITY[unit].parse(value)
    amount: int | Fraction = getattr(
        quantity, {"ns": "ns", "bit/s": "bits_per_s", "bytes": "bytes"}.get(unit, "share")
    )
    return amount if isinstance(amount, int) else float(amount)
