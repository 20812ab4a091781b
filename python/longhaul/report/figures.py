"""The figures of a run's report. Each function takes plain data and returns an SVG, or None without data."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from longhaul.analysis.phases import series_of
from longhaul.report.cumulative import Curve, draw_cumulative
from longhaul.report.over_time import draw_configured, draw_steps, mark_changes
from longhaul.report.plotting import (
    BAD,
    INK,
    MUTED,
    SERIES,
    figure,
    left_out_text,
    plain,
    say_left_out,
    style,
    svg,
)
from longhaul.report.points import unlisted
from longhaul.report.zoom import zoomable
from longhaul.units.text import time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

MOST_PANELS = 8
"""Links with the most traffic that get a panel of their own."""
_FEW_CURVES = 3
"""Whose names have room among them."""


def delays(links: Sequence[Json], probes: Sequence[Json]) -> str | None:
    """What was asked of each direction and each path against what packets met; both axes in ms."""
    series = []
    # Each phase of a direction whose delay changed is a point; one that was not measured is none.
    one_way = [
        (phase["configured"]["delay_ns"], phase["measured"]["delay_ns"] + _late(each))
        for each in links
        for phase in each["phases"]
        if phase["measured"] and phase["measured"]["delay_ns"] and phase["configured"]["delay_ns"]
    ]
    if one_way:
        series.append((f"one direction of a link, mean ({len(one_way)})", "o", one_way))
    round_trips = [
        (each["path_rtt_min_ns"], each["rtt_min_ns"])
        for each in probes
        if each["path_rtt_ns"] and each["path_rtt_min_ns"] and each["rtt_min_ns"]
    ]
    if round_trips:
        series.append((f"round trip of a ping, least ({len(round_trips)})", "s", round_trips))
    if not series:
        return None
    with style():
        made = figure(3.4, width_in=4.2)
        axes = made.subplots()
        plain(axes)
        values = np.array([pair for _, _, pairs in series for pair in pairs], dtype=float) / 1e6
        low, high = values.min() / 1.6, values.max() * 1.6
        axes.plot([low, high], [low, high], color=MUTED, linewidth=0.8, label=unlisted("equal"))
        for (label, marker, pairs), colour in zip(series, SERIES, strict=False):
            points = np.array(pairs, dtype=float) / 1e6
            axes.plot(points[:, 0], points[:, 1], marker, color=colour, label=label, markersize=5, alpha=0.8)
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set(xlabel="configured delay [ms]", ylabel="measured delay [ms]")
        axes.legend(loc="upper left")
        return svg(made, "delays", "configured delay against measured delay of packets")


def lateness(distribution: Json, links: Mapping[str, Json]) -> str | None:
    """Share of packets that left within a time of being due; time in us, on a logarithmic axis."""
    return _cumulative(
        distribution,
        links,
        "all packets",
        ("lateness [µs]", "share of packets"),
        ("lateness", "distribution of lateness"),
    )


def spacing(distribution: Json, links: Mapping[str, Json]) -> str | None:
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
) -> str | None:
    """A distribution in ns, that of the busiest links, and its median and 99th percentile."""
    if not distribution.get("cdf"):
        return None
    with style():
        made = figure(3.9, width_in=4.2)
        axes = made.subplots()
        plain(axes)
        busiest = sorted(links.items(), key=lambda item: -item[1]["count"])[:4]
        curves = [
            Curve(name, _points(each, 1e3), colour, 0.9)
            for (name, each), colour in zip(busiest, SERIES[1:], strict=False)
        ]
        everything = Curve(all_of_them, _points(distribution, 1e3), INK, 1.6)
        draw_cumulative(axes, [*curves, everything], is_logarithmic=True)
        for quantile, dashes in (("p50", (3, 3)), ("p99", (1, 2))):
            ns = distribution[f"{quantile}_ns"]
            label = f"{quantile} {time_text(ns)}"
            axes.axvline(ns / 1e3, color=MUTED, linewidth=1.0, linestyle=(0, dashes), label=label)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        made.legend(loc="outside upper center", ncols=2, columnspacing=1.2, handlelength=1.4)
        return svg(made, *what)


def queueing_delays(links: Sequence[Json]) -> str | None:
    """Share of packets that waited for a time at most, in the directions where most packets waited."""
    waited = [each for each in links if each["queueing_delay"]["max_ns"]]
    busiest = sorted(waited, key=lambda each: -_positive(each["queueing_delay"]))[: len(SERIES)]
    curves = [(f"{each['from']} > {each['to']}", each["queueing_delay"]) for each in busiest]
    return _distributions(
        curves,
        SERIES,
        ("waited [ms]", "share of packets"),
        ("waits", "distribution of queueing delays"),
        (len(waited), "The {shown} of {every} directions where most waited"),
    )


def rtts(flows: Sequence[Json], colours: Mapping[tuple[str, int], str]) -> str | None:
    """Share of round trips of TCP flows that took a time at most."""
    seen = [flow for flow in flows if flow["rtt"]]
    every, seen = len(seen), seen[: len(SERIES)]
    curves = [(flow["flow"], flow["rtt"]) for flow in seen]
    look = [colours.get((flow["flow"], 0), INK) for flow in seen]
    return _distributions(
        curves,
        look,
        ("round trip [ms]", "share of samples"),
        ("rtts", "distribution of round-trip times"),
        (every, "The first {shown} of {every} TCP flows"),
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
    of: tuple[int, str],
) -> str | None:
    """Distributions in ns side by side, in ms; ``of`` is how many there are, and how that is said."""
    if not curves:
        return None
    with style():
        made = figure(3.4, width_in=4.2)
        axes = made.subplots()
        plain(axes)
        shown = zip(curves, colours, strict=False)
        draw_cumulative(axes, [Curve(name, _points(each, 1e6), colour) for (name, each), colour in shown])
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if len(curves) <= _FEW_CURVES:
            axes.legend(loc="best")
        else:
            made.legend(loc="outside upper center", ncols=3, columnspacing=1.2, handlelength=1.2)
        # Beside a legend outside there is no room for a title of the figure.
        axes.set_title(left_out_text(of[0], len(curves), of[1]), fontsize=8.5, color=MUTED)
        return svg(made, *what)


def _points(distribution: Json, unit_ns: float) -> Array:
    found: Array = np.array(distribution["cdf"], dtype=float).reshape(-1, 2) / [unit_ns, 1]
    return found


def utilisation(
    table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()
) -> str | None:
    """Share of the rate that the busiest links used over time, of links that always have one."""

    def draw(axes: Any, rows: Mapping[str, Array], colour: str, label: str) -> None:
        axes.plot(rows["t_s"], rows["utilisation"] * 100, color=colour, label=label, drawstyle="steps-pre")

    limited = [each for each in links if each["achieved"]["utilisation"] is not None]
    return _panels(table, limited, draw, "of the rate [%]", "utilisation", changes, rate=False)


def throughput(table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()) -> str | None:
    """Throughput of the busiest links over time, both directions; the rate is dashed."""

    def draw(axes: Any, rows: Mapping[str, Array], colour: str, label: str) -> None:
        axes.plot(
            rows["t_s"], rows["throughput_bits_per_s"] / 1e6, color=colour, label=label, drawstyle="steps-pre"
        )

    return _panels(table, links, draw, "throughput [Mbit/s]", "throughput", changes, rate=True)


def queues(table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()) -> str | None:
    """Bytes waiting at the sampling times, of links where anything waited."""
    if not table or not table["queue_bytes"].any():
        return None
    waited = {name for name in set(table["link"]) if table["queue_bytes"][table["link"] == name].max() > 0}

    def draw(axes: Any, rows: Mapping[str, Array], colour: str, label: str) -> None:
        axes.plot(rows["t_s"], rows["queue_bytes"] / 1e3, color=colour, label=label, drawstyle="steps-pre")

    chosen = [each for each in links if each["name"] in waited]
    return _panels(table, chosen, draw, "waiting [kB]", "queues", changes, rate=False)


def round_trips(
    rows: Mapping[str, Array], probes: Sequence[Json], changes: Sequence[Json] = ()
) -> str | None:
    """Round-trip time of every ping over time; pings without a reply at the foot."""
    if not probes or not len(rows.get("t_s", ())):
        return None
    shown = list(probes)[:MOST_PANELS]
    with style():
        made = figure(0.5 + 1.35 * len(shown))
        grid = made.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, probe, colour in zip(grid, shown, SERIES, strict=False):
            plain(axes)
            mask = (rows["name"] == probe["name"]) & (rows["to"] == probe["to"])
            t_s, rtt_ms = rows["t_s"][mask], rows["rtt_ns"][mask].astype(float) / 1e6
            name = unlisted(f"{probe['from']} > {probe['to']}")
            axes.plot(t_s, rtt_ms, ".", color=colour, markersize=2.5, label=name)
            unanswered = np.isnan(rtt_ms)
            if unanswered.any():
                axes.plot(
                    t_s[unanswered],
                    np.zeros(unanswered.sum()),
                    "x",
                    color=BAD,
                    markersize=4,
                    transform=axes.get_xaxis_transform(),
                    clip_on=False,
                    label=unlisted("no reply"),
                )
            draw_steps(axes, probe["path_rtt_steps"], unit=1e6)
            missing = f", {probe['lost']:,} of {probe['sent']:,} lost" if probe["lost"] else ""
            axes.set_title(f"{probe['from']} > {probe['to']}{missing}")
            axes.set_ylabel("RTT [ms]")
        grid[-1].set_xlabel("time [s]")
        mark_changes(grid, changes)
        say_left_out(made, len(probes), len(shown), "The first {shown} of {every} pings")
        return zoomable(made, "round-trips", "round-trip times over time")


def windows(
    rows: Mapping[str, Array],
    flows: Sequence[Json],
    colours: Mapping[tuple[str, int], str],
    changes: Sequence[Json] = (),
) -> str | None:
    """Congestion window of each stream of the first flows over time, in segments, or real ones' in bytes."""
    shown = [(flow, seen) for flow in flows if flow["kind"] == "tcp" and (seen := _window_column(rows, flow))]
    every, shown = len(shown), shown[:MOST_PANELS]
    if not shown:
        return None
    with style():
        made = figure(0.5 + 1.35 * len(shown))
        grid = made.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (flow, (column, unit, scale)) in zip(grid, shown, strict=False):
            plain(axes)
            mine = rows["flow"] == flow["flow"]
            for place, stream in enumerate(np.unique(rows["stream"][mine])[: len(SERIES)]):
                colour = colours.get((flow["flow"], place), INK)
                mask = mine & (rows["stream"] == stream)
                t_s = rows["end_s"][mask].astype(float) + rows["start_ns"][mask].astype(float) / 1e9
                values = rows[column][mask].astype(float) / scale
                axes.plot(t_s, values, color=colour, linewidth=1.0, label=f"stream {place}")
            axes.set_title(f"{flow['flow']}, {flow['cc'] or 'the machine default'}")
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
            axes.set_ylabel(f"window [{unit}]")
        grid[-1].set_xlabel("time [s]")
        mark_changes(grid, changes)
        say_left_out(made, every, len(shown), "The first {shown} of {every} TCP flows")
        return zoomable(made, "windows", "congestion windows over time")


def _window_column(rows: Mapping[str, Array], flow: Json) -> tuple[str, str, float] | None:
    """Column, unit and scale of a flow's windows, if it has any."""
    for column, unit, scale in (("window_segments", "segments", 1.0), ("cwnd_bytes", "kB", 1e3)):
        if column in rows and np.isfinite(rows[column][rows["flow"] == flow["flow"]].astype(float)).any():
            return column, unit, scale
    return None


def _panels(
    table: Mapping[str, Array],
    links: Sequence[Json],
    draw: Any,
    label: str,
    name: str,
    changes: Sequence[Json],
    *,
    rate: bool,
) -> str | None:
    chosen = _chosen(table, links)
    if not chosen:
        return None
    with style():
        made = figure(0.5 + 1.35 * len(chosen))
        grid = made.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
        for axes, link in zip(grid, chosen, strict=True):
            plain(axes)
            for way, colour in (("forward", SERIES[0]), ("reverse", SERIES[1])):
                mask = (table["link"] == link["name"]) & (table["way"] == way)
                ends = (link["from"], link["to"]) if way == "forward" else (link["to"], link["from"])
                draw(
                    axes,
                    {column: values[mask] for column, values in table.items()},
                    colour,
                    f"{ends[0]} > {ends[1]}",
                )
            both = [each for each in links if each["name"] == link["name"]]
            top = axes.get_ylim()[1]
            for one, colour in _rates_to_draw(both, most_bits_per_s=3e6 * top) if rate else ():
                draw_configured(axes, one["phases"], "rate_bits_per_s", unit=1e6, colour=colour)
            axes.set_ylim(bottom=0)
            axes.set_title(_with_rates(link["name"], both))
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        grid[len(chosen) // 2].set_ylabel(label)
        grid[-1].set_xlabel("time [s]")
        mark_changes(grid, changes)
        links_with_traffic = len(_with_traffic(table, links))
        say_left_out(made, links_with_traffic, len(chosen), "The {shown} links of {every} that carried most")
        return zoomable(made, name, f"{name} over time")


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
    told = dict.fromkeys(series_of(each, "rate_bits_per_s").brief for each in both)
    return f"{name}, {' and back '.join(told)}"


def _chosen(table: Mapping[str, Array], links: Sequence[Json]) -> list[Json]:
    """The busiest links, those between routers first, in the order of the scenario."""
    volume = _with_traffic(table, links)
    busiest = sorted(volume, key=lambda name: -volume[name])[:MOST_PANELS]
    return [each for each in links if each["way"] == "forward" and each["name"] in busiest]


def _with_traffic(table: Mapping[str, Array], links: Sequence[Json]) -> dict[str, float]:
    """What each link carried, if anything; those of hosts only where there are no others."""
    if not table:
        return {}
    forward = [each for each in links if each["way"] == "forward"]
    inner = [each["name"] for each in forward if not each["access"]] or [each["name"] for each in forward]
    volume = {name: float(np.nansum(table["throughput_bits_per_s"][table["link"] == name])) for name in inner}
    return {name: carried for name, carried in volume.items() if carried > 0}


def _late(link: Json) -> float:
    return link["lateness"]["mean_ns"] if link["lateness"] else 0.0
