"""Links: the configuration of each direction, and its measurements."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.configuration import Configuration, Configured
from longhaul.analysis.distributions import thinned
from longhaul.analysis.drops import undelivered
from longhaul.analysis.phases import phase_rows, whole_run
from longhaul.analysis.rates import throughput, utilisation
from longhaul.plan import WAYS, Plan
from longhaul.scenario.model.metrics import LINK_COUNTERS, SAMPLED_LINK_COUNTERS

Array = np.ndarray[Any, Any]
Samples = Mapping[str, Array]

_COUNTED = (
    "offered_bytes",
    "delivered_bytes",
    "wire_bytes",
    *(f"{each}_packets" for each in SAMPLED_LINK_COUNTERS),
)
"""Columns of samples that never go back; they are zero when the run starts and is sampled first."""


def intervals(samples: Samples, plan: Plan, configuration: Configuration) -> dict[str, Array]:
    """Rates and increases between consecutive samples of each direction; columns carry their units.

    What was counted by the first sample belongs to the first interval, so that all add up to the totals.
    ``throughput_bits_per_s`` and ``utilisation`` count the same bytes, those that began to leave; utilisation
    is NaN while the rate is unlimited. Samples of nothing, or that are broken, give nothing.
    """
    if not {"t_ns", "link", "way"} <= samples.keys():
        return {}
    places = {link["name"]: place for place, link in enumerate(plan["links"])}
    parts: list[dict[str, Array]] = []
    for mask in _directions(samples):
        one = {name: column[mask] for name, column in samples.items()}
        # A run that ends at a sampling time leaves two samples of one moment; the later one counts.
        later = np.append(np.diff(one["t_ns"]) > 0, True)
        one = {name: column[later] for name, column in one.items()}
        if len(one["t_ns"]) < 2:
            continue
        one = {name: _from_zero(column) if name in _COUNTED else column for name, column in one.items()}
        span_s = np.diff(one["t_ns"]) / 1e9
        part = {
            "t_s": one["t_ns"][1:] / 1e9,
            "interval_s": span_s,
            "link": one["link"][1:],
            "way": one["way"][1:],
            "offered_bits_per_s": np.diff(one["offered_bytes"]) * 8 / span_s,
            "delivered_bits_per_s": np.diff(one["delivered_bytes"]) * 8 / span_s,
        }
        rates = configuration.rates(places[one["link"][0]], one["way"][0])
        times = one["t_ns"]
        part["throughput_bits_per_s"] = throughput(np.diff(one["wire_bytes"]), times[:-1], times[1:])
        part["utilisation"] = utilisation(rates, np.diff(one["wire_bytes"]), times[:-1], times[1:])
        for counter in SAMPLED_LINK_COUNTERS:
            part[f"{counter}_packets"] = np.diff(one[f"{counter}_packets"])
        part["queue_packets"] = one["waiting_packets"][1:]
        part["queue_bytes"] = one["waiting_bytes"][1:]
        part["flying_packets"] = one["flying_packets"][1:]
        parts.append(part)
    if not parts:
        return {}
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _from_zero(column: Array) -> Array:
    found = column.copy()
    found[0] = 0
    return found


def summarise_links(
    plan: Plan, engine: Mapping[str, Any], samples: Samples, configuration: Configuration
) -> list[dict[str, Any]]:
    """Requested against achieved for each direction of each link, over the run and in each of its phases."""
    table = intervals(samples, plan, configuration)
    whole_ns = np.array([0]), np.array([engine["duration_ns"]])
    rows = []
    for index, (link, counted) in enumerate(zip(plan["links"], engine["links"], strict=True)):
        for way in WAYS:
            duration_ns = engine["duration_ns"]
            phases = phase_rows(configuration, index, way, counted[way], duration_ns)
            ends = link["endpoints"] if way == "forward" else link["endpoints"][::-1]
            rows.append(
                {
                    "name": link["name"],
                    "way": way,
                    "from": plan["nodes"][ends[0]]["name"],
                    "to": plan["nodes"][ends[1]]["name"],
                    "access": any(plan["nodes"][end]["kind"] == "host" for end in ends),
                    "requested": {**requested(link[way]), **_over_time(phases)},
                    "achieved": {
                        **_achieved(counted[way], table, link["name"], way, duration_ns),
                        "utilisation": _number(
                            utilisation(
                                configuration.rates(index, way),
                                np.array([counted[way]["wire_bytes"]]),
                                *whole_ns,
                            )
                        ),
                    },
                    "phases": phases,
                    "queueing_delay": thinned(counted[way]["waits"]),
                    "packets": {counter: counted[way][f"{counter}_packets"] for counter in LINK_COUNTERS},
                    "undelivered_packets": undelivered(counted[way], "_packets"),
                    "lateness": _distribution(engine.get("lateness", {}), link["name"], way),
                    "spacing": _distribution(engine.get("spacing", {}), link["name"], way),
                }
            )
    return rows


def requested(direction: Mapping[str, Any]) -> dict[str, Any]:
    """Mean delay in ns, rate in bit/s (None: unlimited), share of loss (None: time decides), queue.

    Of parallel routes: rates and queues together, loss and delay on average.
    """
    numbers = Configured.of(direction)
    return {
        "delay_ns": numbers.delay_ns,
        "rate_bits_per_s": numbers.bits_per_s,
        "loss": numbers.loss,
        "queue_bytes": numbers.queue_bytes,
        "queue_packets": numbers.queue_packets,
        "routes": numbers.routes,
    }


def _over_time(phases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Least and most of the delay, how often the link model changed, and the means over the run."""
    delays = [phase["configured"]["delay_ns"] for phase in phases]
    return {
        "delay_range_ns": [min(delays), max(delays)],
        "changes": len(phases) - 1,
        **whole_run(phases),
    }


def _achieved(
    counters: Mapping[str, Any], table: Mapping[str, Array], name: str, way: str, duration_ns: int
) -> dict[str, Any]:
    peak = 0.0
    if table:
        mask = (table["link"] == name) & (table["way"] == way)
        rates = table["throughput_bits_per_s"][mask & (table["interval_s"] > 0.02)]
        peak = float(rates.max()) if len(rates) else 0.0
    return {**measured(counters, duration_ns), "peak_bits_per_s": peak}


def measured(counters: Mapping[str, Any], duration_ns: int) -> dict[str, Any]:
    """Mean delay, rate and share of loss of a direction over a run, from what it counted."""
    offered = counters["offered_packets"]
    entered = counters["delivered_packets"] + counters["flying_packets"]
    return {
        "delay_ns": counters["wire_delay_mean_ns"] if entered else None,
        "rate_bits_per_s": counters["wire_bytes"] * 8e9 / max(duration_ns, 1),
        "loss": counters["lost_packets"] / offered if offered else None,
    }


def _distribution(figure: Mapping[str, Any], name: str, way: str) -> dict[str, Any] | None:
    found = figure.get("links", {}).get(f"{name}/{way}")
    return {key: value for key, value in found.items() if key != "cdf"} if found else None


def _number(value: Array) -> float | None:
    return float(value[0]) if np.isfinite(value[0]) else None


def _directions(samples: Samples) -> list[Array]:
    """A mask for each direction that the samples name, in their order."""
    keys = np.char.add(np.char.add(samples["link"].astype(str), "/"), samples["way"].astype(str))
    names, first = np.unique(keys, return_index=True)
    return [keys == names[position] for position in np.argsort(first)]
