"""Links: the configuration of each direction, and its measurements."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from longhaul.analysis.configuration import Configuration, Configured
from longhaul.analysis.distributions import thinned
from longhaul.analysis.drops import undelivered
from longhaul.analysis.phases import phase_rows, whole_run
from longhaul.analysis.rates import bits_at_constant_rates, share_of, throughput, utilisation
from longhaul.plan import WAYS, Plan, Way
from longhaul.scenario.lower.main_tables import is_access_link
from longhaul.scenario.model.metrics import LINK_COUNTERS, SAMPLED_LINK_COUNTERS

Array = np.ndarray[Any, Any]
Samples = Mapping[str, Array]


def intervals(samples: Samples, plan: Plan, configuration: Configuration) -> dict[str, Array]:
    """Rates and increases between consecutive samples of each direction; columns carry their units.

    What was counted by the first sample belongs to the first interval, so that all add up to the totals.
    ``throughput_bits_per_s`` and ``utilisation`` count the same bytes, those that began to leave; utilisation
    is NaN while the rate is unlimited. Samples of nothing, or that are broken, give nothing.
    """
    return next(interval_pieces(samples, plan, configuration, rows=None), {})


def interval_pieces(
    samples: Samples, plan: Plan, configuration: Configuration, *, rows: int | None = 1 << 15
) -> Iterator[dict[str, Array]]:
    """The same in pieces of so many rows: all of a long run are as large as its samples."""
    if not {"t_ns", "link", "way"} <= samples.keys() or not len(samples["t_ns"]):
        return
    kept, first = _rows(samples)
    # The rows that begin an interval, which the row after each of them ends.
    starts = np.flatnonzero(~first[1:])
    for begin in range(0, len(starts), rows or max(len(starts), 1)):
        mine = starts[begin : begin + rows] if rows else starts
        yield _between(samples, plan, configuration, (kept[mine], kept[mine + 1]), first[mine])


def _between(
    samples: Samples, plan: Plan, configuration: Configuration, places: tuple[Array, Array], first: Array
) -> dict[str, Array]:
    """The intervals from one place of the samples to another; ``first`` are those from zero on."""
    starting, ending = places

    def increase(name: str) -> Array:
        column = samples[name]
        found: Array = column[ending] - np.where(first, 0, column[starting])
        return found

    from_ns, to_ns = samples["t_ns"][starting], samples["t_ns"][ending]
    span_s = (to_ns - from_ns) / 1e9
    link, way = samples["link"][ending], samples["way"][ending]
    sent = increase("wire_bytes")
    return {
        "t_s": to_ns / 1e9,
        "interval_s": span_s,
        "link": link,
        "way": way,
        "offered_bits_per_s": increase("offered_bytes") * 8 / span_s,
        "delivered_bits_per_s": increase("delivered_bytes") * 8 / span_s,
        "throughput_bits_per_s": throughput(sent, from_ns, to_ns),
        "utilisation": _utilisation(plan, configuration, (link, way), sent, (from_ns, to_ns)),
        **{f"{each}_packets": increase(f"{each}_packets") for each in SAMPLED_LINK_COUNTERS},
        "queue_packets": samples["waiting_packets"][ending],
        "queue_bytes": samples["waiting_bytes"][ending],
        "flying_packets": samples["flying_packets"][ending],
    }


def _rows(samples: Samples) -> tuple[Array, Array]:
    """Places of the samples, each direction's together in the order of the first; and which are a first."""
    firsts: dict[tuple[str, str], int] = {}
    keys = zip(samples["link"].tolist(), samples["way"].tolist(), strict=True)
    # The place of its first sample is the number of a direction.
    directions = np.fromiter(
        map(firsts.setdefault, keys, count()), dtype=np.int64, count=len(samples["link"])
    )
    order = np.argsort(directions, kind="stable")
    directions, t_ns = directions[order], samples["t_ns"][order]
    # A run that ends at a sampling time leaves two samples of one moment; the later one counts.
    last = np.append(directions[1:] != directions[:-1], True)
    later = last | np.append(t_ns[1:] > t_ns[:-1], True)
    directions = directions[later]
    return order[later], np.append([True], directions[1:] != directions[:-1])


def _utilisation(
    plan: Plan, configuration: Configuration, of: tuple[Array, Array], sent: Array, times: tuple[Array, Array]
) -> Array:
    """The utilisation of intervals that are sorted by their directions, ``of`` a link and a way each."""
    places = {link["name"]: place for place, link in enumerate(plan["links"])}
    link, way = of
    changes = np.flatnonzero((link[1:] != link[:-1]) | (way[1:] != way[:-1])) + 1
    bounds = np.array([0, *changes, len(sent)])
    steps = [
        configuration.rates(places[name], each)
        for name, each in zip(link[bounds[:-1]], way[bounds[:-1]], strict=True)
    ]
    lengths = np.diff(bounds)
    starts_ns = np.repeat(np.array([each[0][0] for each in steps]), lengths)
    rates = np.repeat(np.array([each[0][1] for each in steps], dtype=float), lengths)
    found = share_of(bits_at_constant_rates(rates, starts_ns, *times), sent)
    for place, each in enumerate(steps):
        if len(each) > 1:
            mine = slice(bounds[place], bounds[place + 1])
            found[mine] = utilisation(each, sent[mine], times[0][mine], times[1][mine])
    return found


def summarise_links(
    plan: Plan,
    engine: Mapping[str, Any],
    peaks: Mapping[tuple[str, str], float],
    configuration: Configuration,
) -> list[dict[str, Any]]:
    """Requested against achieved for each direction of each link, over the run and in each of its phases.

    ``peaks`` are :func:`peak_rates` of the run.
    """
    used = _used(plan, engine, configuration)
    rows = []
    duration_ns = engine["duration_ns"]
    for index, (link, counted) in enumerate(zip(plan["links"], engine["links"], strict=True)):
        access = is_access_link(plan["nodes"], link)
        for way in WAYS:
            first = configuration.phases(index, way)[0].configured
            phases = phase_rows(configuration, index, way, counted[way], duration_ns)
            ends = link["endpoints"] if way == "forward" else link["endpoints"][::-1]
            rows.append(
                {
                    "name": link["name"],
                    "way": way,
                    "from": plan["nodes"][ends[0]]["name"],
                    "to": plan["nodes"][ends[1]]["name"],
                    "access": access,
                    "requested": {**_requested(first), **_over_time(phases)},
                    "achieved": {
                        **measured(counted[way], duration_ns),
                        "peak_bits_per_s": peaks.get((link["name"], way), 0.0),
                        "utilisation": used[index][way],
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
    return _requested(Configured.of(direction))


def _requested(numbers: Configured) -> dict[str, Any]:
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


def _used(
    plan: Plan, engine: Mapping[str, Any], configuration: Configuration
) -> list[dict[Way, float | None]]:
    """The utilisation of each direction of each link over the run; ``None`` without a rate."""
    links, duration_ns = len(plan["links"]), engine["duration_ns"]
    names = np.array([link["name"] for link in plan["links"]], dtype=object)
    sent = np.array([each[way]["wire_bytes"] for way in WAYS for each in engine["links"]])
    times = np.zeros(len(WAYS) * links, dtype=np.int64), np.full(len(WAYS) * links, duration_ns)
    of = np.tile(names, len(WAYS)), np.repeat(np.array(WAYS, dtype=object), links)
    found = _utilisation(plan, configuration, of, sent, times)
    values = [float(value) if np.isfinite(value) else None for value in found]
    return [dict(zip(WAYS, values[place::links], strict=True)) for place in range(links)]


def peak_rates(table: Mapping[str, Array]) -> dict[tuple[str, str], float]:
    """The largest throughput of each direction in intervals of more than 20 ms; one without has none."""
    long = table["interval_s"] > 0.02
    columns = (table[name][long].tolist() for name in ("link", "way", "throughput_bits_per_s"))
    peaks: dict[tuple[str, str], float] = {}
    for link, way, rate in zip(*columns, strict=True):
        peaks[link, way] = max(rate, peaks.get((link, way), 0.0))
    return peaks


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
