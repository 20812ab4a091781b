"""Figures of detailed measurements: monitored links, packets, the kernel's TCP connections."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.bins import envelope, fullest, series
from longhaul.analysis.sockets import congestion_events, connections
from longhaul.plan import WAYS, Plan
from longhaul.report.over_time import draw_configured, mark_changes
from longhaul.report.plotting import BAD, INK, MUTED, SERIES, figure, plain, say_left_out, style, svg
from longhaul.report.points import unlisted
from longhaul.report.zoom import zoomable
from longhaul.units.text import time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

_MOST_LINKS = 4
_MOST_CONNECTIONS = 6
_LEAST_SHARE = 0.001
"""Of the bytes of the connection that sent most; whoever sent less is not shown."""
_COLUMNS = 600
"""Stretches of time that a figure tells apart."""
_ZOOM = 200
"""Bins of the part that is shown one by one."""
_ROWS = 120
"""Heights that a panel of dots tells apart."""


def monitor(table: Mapping[str, Array], plan: Plan, changes: Sequence[Json] = ()) -> str | None:
    """Rate and queue of the busier direction of each monitored link: the whole run, and its fullest part."""
    wanted = plan.get("measure", {}).get("monitor")
    if not wanted or not len(table.get("link", ())):
        return None
    every_ns = wanted["every_ns"]
    chosen = [_busier(table, plan["links"][index]["name"], every_ns) for index in wanted["links"]]
    shown = [each for each in chosen if each[1]][:_MOST_LINKS]
    if not shown:
        return None
    with style():
        made = figure(0.4 + 2.5 * len(shown))
        grid = made.subplots(2 * len(shown), 2, squeeze=False, width_ratios=[2, 1], sharex="col")
        for number, (title, dense) in enumerate(shown):
            rate = dense["delivered_wire_bytes"] * 8e3 / every_ns
            queue = dense["queue_bytes"] / 1e3
            part = fullest(rate, width=_ZOOM)
            for row, (values, label) in enumerate(((rate, "[Mbit/s]"), (queue, "waiting [kB]"))):
                whole, zoom = grid[2 * number + row]
                colour = SERIES[row]
                _whole(whole, dense["start_ns"], values, colour, title)
                times = dense["start_ns"][part] - dense["start_ns"][part.start]
                zoom.plot(
                    times / 1e6,
                    values[part],
                    color=colour,
                    drawstyle="steps-post",
                    linewidth=1.0,
                    label=unlisted(title),
                )
                whole.set_ylabel(label)
                for axes in (whole, zoom):
                    plain(axes)
                    axes.set_ylim(bottom=0)
            top_left, top_right = grid[2 * number]
            top_left.set_title(f"{title}, bins of {time_text(every_ns)}: least, mean and most")
            top_right.set_title(f"from {dense['start_ns'][part.start] / 1e9:.4f} s")
        mark_changes((whole for whole, _zoom in grid), changes)
        grid[-1][0].set_xlabel("time [s]")
        grid[-1][1].set_xlabel("time [ms]")
        say_left_out(made, sum(bool(each[1]) for each in chosen), len(shown), "The first {shown} of {every}")
        return svg(made, "monitor", "rate and queue of monitored links in short bins of time")


def _busier(table: Mapping[str, Array], link: str, every_ns: int) -> tuple[str, dict[str, Array]]:
    ways = [(f"{link} {way}", series(table, link=link, way=way, every_ns=every_ns)) for way in WAYS]
    title, dense = max(ways, key=lambda each: each[1]["delivered_bytes"].sum())
    return title, dense if len(dense["start_ns"]) else {}


def _whole(axes: Any, start_ns: Array, values: Array, colour: str, name: str) -> None:
    least, mean, most = envelope(values, columns=_COLUMNS)
    stretch = max(len(values) // _COLUMNS, 1)
    times = start_ns[: len(mean) * stretch : stretch] / 1e9
    axes.fill_between(times, least, most, color=colour, alpha=0.3, linewidth=0, step="post")
    axes.plot(times, mean, color=colour, linewidth=0.9, drawstyle="steps-post", label=unlisted(name))


def _distinct(x: Array, y: Array) -> Array:
    """Positions of points no two of which would be the same dot; every dot that there would be is kept."""
    if not len(x):
        return np.zeros(0, dtype=np.int64)
    column, row = (
        np.round((each - each.min()) / (np.ptp(each) or 1.0) * steps).astype(np.int64)
        for each, steps in ((x, _COLUMNS), (y, _ROWS))
    )
    found: Array = np.sort(np.unique(column * (_ROWS + 1) + row, return_index=True)[1])
    return found


def packet_delays(
    table: Mapping[str, Array], links: Sequence[Json], changes: Sequence[Json] = ()
) -> str | None:
    """How long each recorded packet was on its link, from arrival to departure, over time."""
    if not len(table.get("link", ())):
        return None
    phases = {(each["name"], each["way"]): each["phases"] for each in links}
    keys = list(dict.fromkeys(zip(table["link"], table["way"], strict=True)))
    counts = {key: int(((table["link"] == key[0]) & (table["way"] == key[1])).sum()) for key in keys}
    shown = sorted(keys, key=lambda key: -counts[key])[:_MOST_LINKS]
    with style():
        made = figure(0.5 + 1.35 * len(shown))
        grid = made.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (link, way), colour in zip(grid, shown, SERIES, strict=False):
            plain(axes)
            mask = (table["link"] == link) & (table["way"] == way)
            delay_ms = table["delay_ns"][mask].astype(float) / 1e6
            at_s = table["arrival_ns"][mask] / 1e9
            ended = np.isnan(delay_ms)
            seen = _distinct(at_s[~ended], delay_ms[~ended])
            left = at_s[~ended][seen]
            axes.plot(
                left, delay_ms[~ended][seen], ".", color=colour, markersize=2, label=unlisted(f"{link} {way}")
            )
            if ended.any():
                foot: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
                foot["label"] = unlisted("did not leave")
                axes.plot(at_s[ended], np.zeros(ended.sum()), "x", color=BAD, markersize=4, **foot)
            draw_configured(axes, phases.get((link, way), ()), "delay_ns", unit=1e6)
            short = f", {ended.sum():,} of them did not leave" if ended.any() else ""
            axes.set_title(f"{link} {way}, {counts[link, way]:,} packets{short}")
            axes.set_ylabel("delay [ms]")
        mark_changes(grid, changes)
        grid[-1].set_xlabel("arrival [s]")
        say_left_out(made, len(keys), len(shown), "The {shown} of {every} directions with most packets")
        return zoomable(made, "packet-delays", "delay of each recorded packet over time")


def sockets(table: Mapping[str, Array], changes: Sequence[Json] = ()) -> str | None:
    """Congestion window and round trip of the connections that sent most, as the kernel sees them."""
    if not len(table.get("host", ())):
        return None
    found = connections({name: column.tolist() for name, column in table.items()}).values()
    busiest = sorted(found, key=lambda each: -each["sent_bytes"][-1])[:_MOST_CONNECTIONS]
    most = max((each["sent_bytes"][-1] for each in busiest), default=0)
    # What controls the others says little.
    worth = [each for each in busiest if each["sent_bytes"][-1] >= max(most * _LEAST_SHARE, 1)]
    shown = [each for each in worth if len(each["t_ns"]) > 1]
    every = sum(len(each["t_ns"]) > 1 for each in found)
    if not shown:
        return None
    with style():
        made = figure(0.5 + 1.35 * len(shown))
        grid = made.subplots(len(shown), 2, sharex=True, squeeze=False)
        for (windows, trips), each, colour in zip(grid, shown, SERIES, strict=False):
            at_s = np.array(each["t_ns"]) / 1e9
            segments = np.array(each["cwnd_segments"])
            windows.plot(at_s, segments, color=colour, linewidth=1.0, label="window")
            threshold = np.array([np.nan if value is None else value for value in each["ssthresh_segments"]])
            dashes = (0, (4, 3))
            windows.plot(at_s, threshold, color=MUTED, linewidth=0.7, linestyle=dashes, label="threshold")
            events = [event["t_ns"] / 1e9 for event in congestion_events(each) if event["retransmits"]]
            foot = windows.get_xaxis_transform()
            windows.plot(
                events,
                np.zeros(len(events)),
                "x",
                color=BAD,
                markersize=4,
                transform=foot,
                label=unlisted("retransmission"),
            )
            rtt_ms = np.array(each["rtt_ns"], dtype=float) / 1e6
            trips.plot(at_s, rtt_ms, color=INK, linewidth=1.0, label=unlisted("round trip"))
            for axes in (windows, trips):
                plain(axes)
                axes.set_ylim(bottom=0)
            windows.set_title(
                f"{each['host'][-1]} {each['local'][-1]} > {each['remote'][-1]}, {each['cc'][-1]}"[:60]
            )
            windows.set_ylabel("segments")
            trips.set_ylabel("RTT [ms]")
        for column in grid.T:
            mark_changes(column, changes)
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        say_left_out(made, every, len(shown), "The {shown} of {every} connections that sent most")
        return zoomable(made, "sockets", "congestion window and round trip of TCP connections over time")
