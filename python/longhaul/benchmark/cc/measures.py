"""Measures of a benchmark run, with units, from the tables of any run."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from longhaul.analysis.comparison import digest
from longhaul.analysis.convergence import (
    Series,
    convergence_time,
    share_ratio,
    time_until,
    time_until_bytes,
    variation,
)
from longhaul.analysis.fairness import jain
from longhaul.benchmark.cc.case import Case, receiving, sending
from longhaul.benchmark.suite import Measure, Measured
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError

PACKET_BYTES, UDP_HEADER_BYTES = 1500, 28
PAYLOAD = 1448 / PACKET_BYTES
"""Of full packets with TCP time stamps."""
HELLO_BYTES = 3000

Array = np.ndarray[Any, Any]
Columns = Mapping[str, Array]


MEASURES: Mapping[str, Measure] = {
    each.name: each
    for each in (
        Measure("utilisation", "utilisation", "share", 1, 0.0),
        Measure("goodput", "goodput", "bit/s", 1, 0.0),
        Measure("loss", "lost", "share", -1, 0.001),
        Measure("queue_mean", "queueing delay", "s", -1, 0.001),
        Measure("queue_p99", "queueing delay, 99 %", "s", -1, 0.001),
        Measure("oscillation", "oscillation", "ratio", -1, 0.05),
        Measure("jain", "Jain's index", "ratio", 1, 0.02),
        Measure("convergence", "converged after", "s", -1, 1.0),
        Measure("first_15k", "15 kB after", "s", -1, 0.1),
        Measure("first_150k", "150 kB after", "s", -1, 0.1),
        Measure("first_1500k", "1.5 MB after", "s", -1, 0.1),
        Measure("reach_60", "60 % after", "s", -1, 0.2),
        Measure("reach_80", "80 % after", "s", -1, 0.2),
        Measure("reach_90", "90 % after", "s", -1, 0.2),
        Measure("cross_loss", "cross traffic lost", "share", -1, 0.001),
        Measure("yielded", "gave way after", "s", -1, 0.2),
        Measure("gain", "gain G", "ratio", 0, 0.02),
        Measure("harm", "standard TCP keeps L", "ratio", 1, 0.02),
        Measure("ratio", "smaller / larger", "ratio", 1, 0.02),
        Measure("long_share", "long / short paths", "ratio", 1, 0.02),
    )
}
"""In the order of tables."""

_EFFECT = ("utilisation", "loss", "queue_mean")
OF_KIND: Mapping[str, tuple[str, ...]] = {
    "basic": ("utilisation", "goodput", "loss", "queue_mean", "queue_p99", "oscillation", "jain"),
    "ramp-up": ("convergence", "first_15k", "first_150k", "first_1500k", *_EFFECT),
    "release": ("reach_60", "reach_80", "reach_90", "utilisation"),
    "arrival": ("yielded", "cross_loss", "utilisation"),
    "impact": ("gain", "harm", "utilisation", "loss"),
    "fairness": ("ratio", "jain", *_EFFECT),
    "bottlenecks": ("long_share", *_EFFECT),
}
HORIZON = frozenset(
    {
        "convergence",
        "first_15k",
        "first_150k",
        "first_1500k",
        "reach_60",
        "reach_80",
        "reach_90",
        "yielded",
    }
)
"""Times that end with the run if what they wait for does not come: at least so long, then."""


def measure(case: Case, directory: Path, summary: Mapping[str, Any], *, stopped: float = 0.0) -> Measured:
    """Read the results of a run. Raises LonghaulError if a flow sent nothing."""
    table = pq.read_table(directory / "links.parquet")
    links = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
    values: dict[str, float | None] = _effect(case, links)
    arrived = {flow.name: series_of(links, receiving(flow.name)) for flow in case.flows}
    rates = {name: each.mean(case.from_s, case.to_s) for name, each in arrived.items()}
    idle = [name for name, rate in rates.items() if rate == 0]
    if idle:
        raise LonghaulError(Code.MEASUREMENT_FAILED, f"nothing arrived of {', '.join(idle)}", exit_code=1)
    match case.kind:
        case "basic":
            values |= {"goodput": PAYLOAD * sum(rates.values()), "jain": jain(list(rates.values()))}
        case "ramp-up":
            values |= _joining(case, arrived)
        case "release":
            values |= _growing(case, arrived["transfer"])
        case "arrival":
            values |= _giving_way(case, links)
        case "fairness":
            values |= {"ratio": share_ratio(*rates.values()), "jain": jain(list(rates.values()))}
        case "bottlenecks":
            values["long_share"] = rates["long"] / mean(rates[name] for name in case.central)
    camps = {
        camp: PAYLOAD * sum(rates[flow.name] for flow in case.flows if flow.camp == camp)
        for camp in ("tested", "standard")
    }
    return Measured(
        {name: values.get(name) for name in OF_KIND[case.kind]},
        camps,
        _drawn(case, links, arrived),
        str(summary["fidelity"]["verdict"]),
        stopped,
        digest(summary),
    )


def series_of(links: Columns, link: str) -> Series:
    """What came out of a link, forward."""
    mask = (links["link"] == link) & (links["way"] == "forward")
    return Series(links["t_s"][mask], links["interval_s"][mask], links["delivered_bits_per_s"][mask])


def _effect(case: Case, links: Columns) -> dict[str, float | None]:
    """Utilisation, loss and queueing delay of the congested links, means over them if there are several."""
    found: dict[str, list[float]] = {}
    for link in case.central:
        mask = (links["link"] == link) & (links["way"] == "forward")
        inside = mask & (links["t_s"] > case.from_s) & (links["t_s"] <= case.to_s)
        if not inside.any():
            raise LonghaulError(
                Code.MEASUREMENT_FAILED, "the machine stalled during the measurement", exit_code=1
            )
        spans = links["interval_s"][inside]
        used = Series(links["t_s"][mask], links["interval_s"][mask], links["utilisation"][mask])
        offered = float(links["offered_packets"][inside].sum())
        gone = sum(
            float(links[f"{fate}_packets"][inside].sum()) for fate in ("lost", "overflowed", "dropped")
        )
        waits = links["queue_bytes"][inside] * 8 / case.bits_per_s
        for name, value in (
            ("utilisation", used.mean(case.from_s, case.to_s)),
            ("loss", gone / offered if offered else 0.0),
            ("queue_mean", float(np.average(waits, weights=spans))),
            ("queue_p99", float(np.quantile(waits, 0.99))),
        ):
            found.setdefault(name, []).append(value)
        bin_s = max(1.0, 2 * case.rtt_s)
        steady = variation(series_of(links, link).binned(case.from_s, case.to_s, bin_s))
        if steady is not None:
            found.setdefault("oscillation", []).append(steady)
    return {name: mean(each) for name, each in found.items()}


def _joining(case: Case, arrived: Mapping[str, Series]) -> dict[str, float | None]:
    """How the second flow comes to its share; times count from its first packet."""
    second = arrived["second"]
    # Programs say hello before they send.
    hello_s = time_until_bytes(second, HELLO_BYTES, after_s=case.event_s, until_s=case.to_s)
    if hello_s is None:
        return {}
    after_s = case.event_s + hello_s
    limits = {"after_s": after_s, "until_s": case.to_s}
    return {
        "convergence": convergence_time(list(arrived.values()), bin_s=1.0, hold_s=3.0, **limits),
        **{f"first_{kilo}k": time_until_bytes(second, 1000 * kilo, **limits) for kilo in (15, 150, 1500)},
    }


def _growing(case: Case, transfer: Series) -> dict[str, float | None]:
    limits = {"after_s": case.event_s, "until_s": case.to_s, "bin_s": 2 * case.rtt_s}
    return {
        f"reach_{percent}": time_until(transfer, case.bits_per_s * percent / 100, **limits)
        for percent in (60, 80, 90)
    }


def _giving_way(case: Case, links: Columns) -> dict[str, float | None]:
    (cross,) = case.cross
    sent, arrived = (series_of(links, name(cross.name)) for name in (sending, receiving))
    # What the queue holds at the end is not lost: the last of what arrives was sent that much earlier.
    way_s = (cross.far_ms + case.rtt_s * 1000) / 1000
    offered = sent.bits(case.event_s, case.to_s - way_s)
    wire = cross.bits_per_s * PACKET_BYTES / (PACKET_BYTES - UDP_HEADER_BYTES)
    limits = {"after_s": case.event_s, "until_s": case.to_s, "bin_s": 2 * case.rtt_s}
    return {
        "cross_loss": max(0.0, 1 - arrived.bits(case.event_s, case.to_s) / offered) if offered else None,
        "yielded": time_until(arrived, 0.95 * wire, **limits),
    }


def _drawn(case: Case, links: Columns, arrived: Mapping[str, Series]) -> dict[str, list[float]]:
    """Some 100 points of each flow, of cases in which something happens."""
    if case.kind not in ("ramp-up", "release", "arrival"):
        return {}
    bin_s = max(2 * case.rtt_s, case.to_s / 100)
    shown = {**arrived, **{each.name: series_of(links, receiving(each.name)) for each in case.cross}}
    rates = {name: each.binned(0, case.to_s, bin_s) for name, each in shown.items()}
    count = len(next(iter(rates.values())))
    return {
        "t_s": [round((number + 0.5) * bin_s, 3) for number in range(count)],
        **{name: [round(float(rate) / 1e6, 3) for rate in each] for name, each in rates.items()},
    }


PAIRED = frozenset({"gain", "harm"})
"""Measures of two runs, which :func:`shares` computes."""


def shares(mixed: Measured, equal: Measured) -> dict[str, float | None]:
    """Gain and harm of a pair of runs: what both camps have, as shares of what they have among equals.

    Where everybody follows the standard, both are 1 by definition.
    """
    return {
        "gain": mixed.camps["tested"] / equal.camps["tested"] if equal.camps["tested"] else None,
        "harm": mixed.camps["standard"] / equal.camps["standard"] if equal.camps["standard"] else None,
    }
