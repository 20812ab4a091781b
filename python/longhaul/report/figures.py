"""The charts of a run's report. Each function takes plain data and returns a chart, or None without data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from longhaul.analysis.phases import series_of
from longhaul.report.chart import Axis, Chart, Foot, Kind, Level, Look, Panel, Series, column, left_out_text
from longhaul.report.colours import BAD, INK, MUTED, SERIES
from longhaul.report.cumulative import SHARES, Curve, stairs
from longhaul.report.over_time import with_configured, with_marks, with_steps
from longhaul.results.arrow_functions import column_of, dictionary_encode, is_in
from longhaul.units.text import time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

MOST_PANELS = 8
"""Links with the most traffic that get a panel of their own."""
_FEW_CURVES = 3
"""Whose names have room among them."""
_TIME = Axis("time [s]")


def delays(links: Sequence[Json], probes: Sequence[Json]) -> Chart | None:
    """Configured delay against measured delay of each direction and each path; both axes in ms."""
    series = []
    # Each phase of a direction whose delay changed is a point; one that was not measured is none.
    one_way = [
        (phase["configured"]["delay_ns"], phase["measured"]["delay_ns"] + _late(each))
        for each in links
        for phase in each["phases"]
        if phase["measured"] and phase["measured"]["delay_ns"] and phase["configured"]["delay_ns"]
    ]
    if one_way:
        series.append((f"one direction of a link, mean ({len(one_way)})", one_way))
    round_trips = [
        (each["path_rtt_min_ns"], each["rtt_min_ns"])
        for each in probes
        if each["path_rtt_ns"] and each["path_rtt_min_ns"] and each["rtt_min_ns"]
    ]
    if round_trips:
        series.append((f"round trip of a ping, least ({len(round_trips)})", round_trips))
    if not series:
        return None
    values = np.array([pair for _, pairs in series for pair in pairs], dtype=float) / 1e6
    low, high = float(values.min() / 1.6), float(values.max() * 1.6)
    ends = np.array([low, high])
    drawn = [Series("equal", MUTED, ends, ends, listed=False, size=0.8)]
    for number, (label, pairs) in enumerate(series):
        configured, measured = (np.array(sorted(set(pairs)), dtype=float) / 1e6).T
        kind: Kind = "squares" if number else "discs"
        drawn.append(Series(label, SERIES[number], configured, measured, kind=kind, size=5, opacity=0.8))
    x, y = (
        Axis(f"{what} delay [ms]", is_logarithmic=True, low=low, high=high)
        for what in ("configured", "measured")
    )
    return Chart(
        "delays",
        "configured delay against measured delay of packets",
        column([Panel("", x, y, series=drawn)]),
        height_in=3.4,
        width_in=4.2,
        legend="inside",
    )


def lateness(distribution: Json, links: Mapping[str, Json]) -> Chart | None:
    """Share of packets that left within a time of being due; time in µs, on a logarithmic axis."""
    return _cumulative(
        distribution,
        links,
        "all packets",
        ("lateness [µs]", "share of packets"),
        ("lateness", "distribution of lateness"),
    )


def spacing(distribution: Json, links: Mapping[str, Json]) -> Chart | None:
    """Share of gaps between packets that were within a time of what was due, in the same way."""
    return _cumulative(
        distribution,
        links,
        "all gaps",
        ("inter-packet gap error [µs]", "share of gaps"),
        ("spacing", "distribution of the inter-packet gap error"),
    )


def _cumulative(
    distribution: Json,
    links: Mapping[str, Json],
    all_of_them: str,
    labels: tuple[str, str],
    what: tuple[str, str],
) -> Chart | None:
    """A distribution in ns, that of the busiest links, and its median and 99th percentile."""
    if not distribution.get("cdf"):
        return None
    busiest = sorted(links.items(), key=lambda item: -item[1]["count"])[:4]
    curves = [
        Curve(name, _points(each, 1e3), colour, 0.9)
        for (name, each), colour in zip(busiest, SERIES[1:], strict=False)
    ]
    series, axis = stairs(
        [*curves, Curve(all_of_them, _points(distribution, 1e3), INK, 1.6)], labels[0], is_logarithmic=True
    )
    levels = []
    for quantile in ("p50", "p99"):
        ns = distribution[f"{quantile}_ns"]
        look: Look = "dashed" if quantile == "p50" else "dotted"
        levels.append(Level(ns / 1e3, MUTED, f"{quantile} {time_text(ns)}", look=look, along="x"))
    panel = Panel("", axis, Axis(labels[1], low=0, high=SHARES), series=series, levels=levels)
    return Chart(*what, column([panel]), height_in=3.9, width_in=4.2, legend="above")


def queueing_delays(links: Sequence[Json]) -> Chart | None:
    """Share of packets that waited for a time at most, in the directions where most packets waited."""
    waited = [each for each in links if each["queueing_delay"]["max_ns"]]
    busiest = sorted(waited, key=lambda each: -_positive(each["queueing_delay"]))[: len(SERIES)]
    curves = [(f"{each['from']} > {each['to']}", each["queueing_delay"]) for each in busiest]
    return _distributions(
        curves,
        SERIES,
        ("waited [ms]", "share of packets"),
        ("queueing-delays", "distribution of queueing delays"),
        left_out_text(len(waited), len(curves), "The {shown} of {every} directions where most waited"),
    )


def rtts(flows: Sequence[Json], colours: Mapping[tuple[str, int], str]) -> Chart | None:
    """Share of round trips of TCP flows that took a time at most."""
    every = [flow for flow in flows if flow["rtt"]]
    seen = _foremost(every, len(SERIES), _goodput)
    curves = [(flow["flow"], flow["rtt"]) for flow in seen]
    return _distributions(
        curves,
        [colours.get((flow["flow"], 0), INK) for flow in seen],
        ("round trip [ms]", "share of samples"),
        ("rtts", "distribution of round-trip times"),
        left_out_text(len(every), len(curves), _MOST_GOODPUT),
    )


def _positive(waits: Json) -> float:
    """How many of the values of a distribution are not zero."""
    zero = waits["cdf"][0][1] if waits["cdf"][0][0] == 0 else 0.0
    return float(waits["count"] * (1 - zero))


def _distributions(
    curves: Sequence[tuple[str, Json]],
    colours: Sequence[str],
    labels: tuple[str, str],
    what: tuple[str, str],
    note: str,
) -> Chart | None:
    """Distributions in ns side by side, in ms."""
    if not curves:
        return None
    shown = zip(curves, colours, strict=False)
    series, axis = stairs(
        [Curve(name, _points(each, 1e6), colour) for (name, each), colour in shown], labels[0]
    )
    return Chart(
        *what,
        # Beside a legend above there is no room for a note of the chart.
        column([Panel(note, axis, Axis(labels[1], low=0, high=SHARES), series=series)]),
        height_in=3.4,
        width_in=4.2,
        legend="inside" if len(curves) <= _FEW_CURVES else "above",
    )


def _points(distribution: Json, unit_ns: float) -> Array:
    found: Array = np.array(distribution["cdf"], dtype=float).reshape(-1, 2) / [unit_ns, 1]
    return found


def utilisation(
    table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()
) -> Chart | None:
    """Share of the rate that the busiest links used over time, of links that always have one."""
    limited = [each for each in links if each["achieved"]["utilisation"] is not None]
    return _panels(
        table, limited, ("utilisation", 0.01), "of the rate [%]", "utilisation", changes, has_rates=False
    )


def throughput(
    table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()
) -> Chart | None:
    """Throughput of the busiest links over time, both directions; the rate is dashed."""
    return _panels(
        table,
        links,
        ("throughput_bits_per_s", 1e6),
        "throughput [Mbit/s]",
        "throughput",
        changes,
        has_rates=True,
    )


def queues(table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()) -> Chart | None:
    """Bytes waiting at the sampling times, of links where anything waited, and when queues dropped."""
    if not table or not table["queue_bytes"].any():
        return None
    waited = set(table["link"][table["queue_bytes"] > 0])
    chosen = [each for each in links if each["name"] in waited]
    return _panels(
        table,
        chosen,
        ("queue_bytes", 1e3),
        "waiting [kB]",
        "queues",
        changes,
        has_rates=False,
        events=("dropped by the queue", ("overflowed_packets", "dropped_packets")),
    )


def round_trips(
    rows: Mapping[str, Array], probes: Sequence[Json], changes: Sequence[Json] = ()
) -> Chart | None:
    """Round-trip time of every ping over time; pings without a reply at the foot."""
    if not probes or not len(rows.get("t_s", ())):
        return None
    shown = _foremost(probes, MOST_PANELS, lambda each: (each["loss"] or 0, each["rtt_p99_ns"] or 0))
    panels = []
    for probe, colour in zip(shown, SERIES, strict=False):
        mask = (rows["name"] == probe["name"]) & (rows["to"] == probe["to"])
        t_s, rtt_ms = rows["t_s"][mask], rows["rtt_ns"][mask].astype(float) / 1e6
        path = f"{probe['from']} > {probe['to']}"
        missing = f", {probe['lost']:,} of {probe['sent']:,} lost" if probe["lost"] else ""
        unanswered = t_s[np.isnan(rtt_ms)]
        panel = Panel(
            f"{path}{missing}",
            _TIME,
            Axis("RTT [ms]"),
            series=[Series(path, colour, t_s, rtt_ms, kind="dots", listed=False, size=2.5)],
            feet=[Foot("no reply", BAD, unanswered)] if len(unanswered) else [],
        )
        panels.append(with_steps(panel, probe["path_rtt_steps"], unit=1e6))
    return Chart(
        "round-trips",
        "round-trip times over time",
        column(with_marks(panels, changes)),
        height_in=0.5 + 1.35 * len(shown),
        note=left_out_text(
            len(probes),
            len(shown),
            "The {shown} of {every} pings with the most loss, then the longest RTT (p99)",
        ),
    )


def windows(
    rows: Mapping[str, Array],
    flows: Sequence[Json],
    colours: Mapping[tuple[str, int], str],
    changes: Sequence[Json] = (),
) -> Chart | None:
    """Congestion window of each stream of the first flows over time, in segments, or real ones' in bytes."""
    every = [flow for flow in flows if flow["kind"] == "tcp" and _window_column(rows, flow)]
    shown = _foremost(every, MOST_PANELS, _goodput)
    if not shown:
        return None
    panels = []
    for flow in shown:
        name, unit, scale = _window_column(rows, flow) or ("", "", 1.0)
        mine = rows["flow"] == flow["flow"]
        series = []
        for place, stream in enumerate(sorted(set(rows["stream"][mine].tolist()))[: len(SERIES)]):
            mask = mine & (rows["stream"] == stream)
            t_s = rows["end_s"][mask].astype(float) + rows["start_ns"][mask].astype(float) / 1e9
            values = rows[name][mask].astype(float) / scale
            colour = colours.get((flow["flow"], place), INK)
            series.append(Series(f"stream {place}", colour, t_s, values, size=1.0))
        title = f"{flow['flow']}, {flow['cc'] or 'the machine default'}"
        panels.append(Panel(title, replace(_TIME, low=0), Axis(f"window [{unit}]", low=0), series=series))
    return Chart(
        "windows",
        "congestion windows over time",
        column(with_marks(panels, changes)),
        height_in=0.5 + 1.35 * len(shown),
        note=left_out_text(len(every), len(shown), _MOST_GOODPUT),
    )


_MOST_GOODPUT = "The {shown} of {every} TCP flows with the highest goodput"


def _goodput(flow: Json) -> float:
    return flow["goodput_bits_per_s"] or 0.0


def _foremost(items: Sequence[Json], most: int, key: Callable[[Json], Any]) -> list[Json]:
    """All items if they are no more than ``most``; otherwise those with the greatest keys, in their order."""
    places = sorted(range(len(items)), key=lambda place: key(items[place]), reverse=True)[:most]
    return [items[place] for place in sorted(places)]


def _window_column(rows: Mapping[str, Array], flow: Json) -> tuple[str, str, float] | None:
    """Column, unit and scale of a flow's windows, if it has any."""
    for name, unit, scale in (("window_segments", "segments", 1.0), ("cwnd_bytes", "kB", 1e3)):
        if name in rows and np.isfinite(rows[name][rows["flow"] == flow["flow"]].astype(float)).any():
            return name, unit, scale
    return None


def _panels(
    table: Mapping[str, Array],
    links: Sequence[Json],
    drawn: tuple[str, float],
    label: str,
    name: str,
    changes: Sequence[Json],
    *,
    has_rates: bool,
    events: tuple[str, Sequence[str]] = ("", ()),
) -> Chart | None:
    """A column of ``table``, divided by a number, of both directions of the busiest links.

    ``events`` are a name and columns; intervals in which one of these counts anything are marked.
    """
    volume = _with_traffic(table, links)
    chosen = _chosen(volume, links)
    if not chosen:
        return None
    values, unit = drawn
    wanted = [each["name"] for each in chosen]
    mine = is_in(column_of(table["link"]), wanted).to_numpy(zero_copy_only=False)
    happened = np.zeros(len(table["link"]), dtype=bool)
    for column_name in events[1]:
        happened |= table[column_name] > 0
    table = {name: table[name][mine] for name in ("link", "way", "t_s", values)}
    happened = happened[mine]
    panels = []
    for link in chosen:
        both = [each for each in links if each["name"] == link["name"]]
        of_link = table["link"] == link["name"]
        series = []
        for way, colour in (("forward", SERIES[0]), ("reverse", SERIES[1])):
            mask = of_link & (table["way"] == way)
            ends = (link["from"], link["to"]) if way == "forward" else (link["to"], link["from"])
            x, y = table["t_s"][mask], table[values][mask].astype(float) / unit
            series.append(Series(f"{ends[0]} > {ends[1]}", colour, x, y, kind="steps-before"))
        # Asked for places, too, numpy does not import masked arrays.
        at_s, _places = np.unique(table["t_s"][of_link & happened], return_index=True)
        feet = [Foot(events[0], BAD, at_s)] if len(at_s) else []
        panel = Panel(_with_rates(link["name"], both), _TIME, Axis(label, low=0), series=series, feet=feet)
        top = max([float(np.nanmax(each.y, initial=0.0)) for each in series])
        for one, colour in _rates_to_draw(both, most_bits_per_s=3e6 * top) if has_rates else ():
            panel = with_configured(panel, one["phases"], "rate_bits_per_s", unit=1e6, colour=colour)
        panels.append(panel)
    return Chart(
        name,
        f"{name} over time",
        column(with_marks(panels, changes)),
        height_in=0.5 + 1.35 * len(chosen),
        legend="beside",
        note=left_out_text(len(volume), len(chosen), "The {shown} links of {every} that carried most"),
    )


def _rates_to_draw(both: Sequence[Json], *, most_bits_per_s: float) -> list[tuple[Json, str]]:
    """Directions whose rate is drawn as it is not far above what is shown, in grey if it is that of both."""
    limited = [each for each in both if (_least_rate(each) or inf) < most_bits_per_s]
    if len(limited) == len(both) and len({series_of(each, "rate_bits_per_s").brief for each in both}) == 1:
        return [(limited[0], MUTED)]
    colours = {"forward": SERIES[0], "reverse": SERIES[1]}
    return [(each, colours[each["way"]]) for each in limited]


def _least_rate(link: Json) -> float | None:
    rates = [phase["configured"]["rate_bits_per_s"] for phase in link["phases"]]
    return min((each for each in rates if each is not None), default=None)


def _with_rates(name: str, both: Sequence[Json]) -> str:
    """A link's name with its rate, or that of each direction if they differ."""
    if all(_least_rate(each) is None for each in both):
        return name
    brief = dict.fromkeys(series_of(each, "rate_bits_per_s").brief for each in both)
    return f"{name}, {' and back '.join(brief)}"


def _chosen(volume: Mapping[str, float], links: Sequence[Json]) -> list[Json]:
    """The busiest links, in the order of the scenario."""
    busiest = set(sorted(volume, key=lambda name: -volume[name])[:MOST_PANELS])
    return [each for each in links if each["way"] == "forward" and each["name"] in busiest]


def _with_traffic(table: Mapping[str, Array], links: Sequence[Json]) -> dict[str, float]:
    """What each link carried, if anything; those of hosts only where there are no others."""
    if not table:
        return {}
    forward = [each for each in links if each["way"] == "forward"]
    inner = [each["name"] for each in forward if not each["access"]] or [each["name"] for each in forward]
    rates = np.nan_to_num(table["throughput_bits_per_s"].astype(float))
    of_rows = dictionary_encode(column_of(table["link"]))
    sums = np.bincount(of_rows.indices.to_numpy(), rates, len(of_rows.dictionary))
    carried = dict(zip(of_rows.dictionary.to_pylist(), sums.tolist(), strict=True))
    return {name: carried[name] for name in inner if carried.get(name, 0.0) > 0}


def _late(link: Json) -> float:
    return link["lateness"]["mean_ns"] if link["lateness"] else 0.0
