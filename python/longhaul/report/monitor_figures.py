"""Charts of detailed measurements: monitored links, packets, the kernel's TCP connections."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from longhaul.analysis.bins import envelope, fullest, series
from longhaul.analysis.sockets import congestion_events, connections
from longhaul.plan import WAYS, Plan
from longhaul.report.chart import Axis, Chart, Foot, Panel, Series, column, left_out_text
from longhaul.report.colours import BAD, INK, MUTED, SERIES
from longhaul.report.over_time import with_configured, with_marks
from longhaul.units.text import time_text

Json = Mapping[str, Any]
Array = np.ndarray[Any, Any]

_TIME = Axis("time [s]")
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


def monitor(table: Mapping[str, Array], plan: Plan, changes: Sequence[Json] = ()) -> Chart | None:
    """Rate and queue of the busier direction of each monitored link: the whole run, and its fullest part."""
    wanted = plan.get("measure", {}).get("monitor")
    if not wanted or not len(table.get("link", ())):
        return None
    every_ns = wanted["every_ns"]
    chosen = [_busier(table, plan["links"][index]["name"], every_ns) for index in wanted["links"]]
    shown = [each for each in chosen if each[1]][:_MOST_LINKS]
    if not shown:
        return None
    rows = [row for title, dense in shown for row in _rate_and_queue(title, dense, every_ns)]
    whole = with_marks([row[0] for row in rows], changes)
    return Chart(
        "monitor",
        "rate and queue of monitored links in short bins of time",
        [(panel, row[1]) for panel, row in zip(whole, rows, strict=True)],
        height_in=0.4 + 2.5 * len(shown),
        widths=(2, 1),
        note=left_out_text(sum(bool(each[1]) for each in chosen), len(shown), "The first {shown} of {every}"),
    )


def _rate_and_queue(title: str, dense: Mapping[str, Array], every_ns: int) -> list[tuple[Panel, Panel]]:
    """Two rows of panels: the whole run on the left, its fullest part on the right."""
    rate = dense["delivered_wire_bytes"] * 8e3 / every_ns
    queue = dense["queue_bytes"] / 1e3
    part = fullest(rate, width=_ZOOM)
    begin_ns = dense["start_ns"][part.start]
    times_ms = (dense["start_ns"][part] - begin_ns) / 1e6
    left = f"{title}, bins of {time_text(every_ns)}: least, mean and most"
    right = f"from {begin_ns / 1e9:.4f} s"
    found = []
    for number, (values, label) in enumerate(((rate, "[Mbit/s]"), (queue, "waiting [kB]"))):
        above = number == 0
        colour = SERIES[number]
        close = Series(title, colour, times_ms, values[part], kind="steps-after", listed=False, size=1.0)
        axis = Axis(label, low=0)
        found.append(
            (
                Panel(left if above else "", _TIME, axis, _whole(dense["start_ns"], values, colour, title)),
                Panel(right if above else "", Axis("time [ms]"), replace(axis, label=""), [close]),
            )
        )
    return found


def _busier(table: Mapping[str, Array], link: str, every_ns: int) -> tuple[str, dict[str, Array]]:
    ways = [(f"{link} {way}", series(table, link=link, way=way, every_ns=every_ns)) for way in WAYS]
    title, dense = max(ways, key=lambda each: each[1]["delivered_bytes"].sum())
    return title, dense if len(dense["start_ns"]) else {}


def _whole(start_ns: Array, values: Array, colour: str, name: str) -> list[Series]:
    least, mean, most = envelope(values, columns=_COLUMNS)
    stretch = max(len(values) // _COLUMNS, 1)
    times = start_ns[: len(mean) * stretch : stretch] / 1e9
    return [
        Series(name, colour, times, most, kind="area", listed=False, opacity=0.3, low=least),
        Series(name, colour, times, mean, kind="steps-after", listed=False, size=0.9),
    ]


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
) -> Chart | None:
    """How long each recorded packet was on its link, from arrival to departure, over time."""
    if not len(table.get("link", ())):
        return None
    phases = {(each["name"], each["way"]): each["phases"] for each in links}
    keys = list(dict.fromkeys(zip(table["link"], table["way"], strict=True)))
    counts = {key: int(((table["link"] == key[0]) & (table["way"] == key[1])).sum()) for key in keys}
    shown = sorted(keys, key=lambda key: -counts[key])[:_MOST_LINKS]
    panels = []
    for (link, way), colour in zip(shown, SERIES, strict=False):
        mask = (table["link"] == link) & (table["way"] == way)
        delay_ms = table["delay_ns"][mask].astype(float) / 1e6
        at_s = table["arrival_ns"][mask] / 1e9
        ended = np.isnan(delay_ms)
        seen = _distinct(at_s[~ended], delay_ms[~ended])
        short = f", {ended.sum():,} of them did not leave" if ended.any() else ""
        panel = Panel(
            f"{link} {way}, {counts[link, way]:,} packets{short}",
            Axis("arrival [s]"),
            Axis("delay [ms]"),
            series=[
                Series(
                    f"{link} {way}",
                    colour,
                    at_s[~ended][seen],
                    delay_ms[~ended][seen],
                    kind="dots",
                    listed=False,
                    size=2,
                )
            ],
            feet=[Foot("did not leave", BAD, at_s[ended])] if ended.any() else [],
        )
        panels.append(with_configured(panel, phases.get((link, way), ()), "delay_ns", unit=1e6))
    return Chart(
        "packet-delays",
        "delay of each recorded packet over time",
        column(with_marks(panels, changes)),
        height_in=0.5 + 1.35 * len(shown),
        note=left_out_text(len(keys), len(shown), "The {shown} of {every} directions with most packets"),
    )


def sockets(table: Mapping[str, Array], changes: Sequence[Json] = ()) -> Chart | None:
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
    rows = [_window_and_trip(each, colour) for each, colour in zip(shown, SERIES, strict=False)]
    columns = [with_marks(panels, changes) for panels in zip(*rows, strict=True)]
    return Chart(
        "sockets",
        "congestion window and round trip of TCP connections over time",
        list(zip(*columns, strict=True)),
        height_in=0.5 + 1.35 * len(shown),
        widths=(1, 1),
        note=left_out_text(every, len(shown), "The {shown} of {every} connections that sent most"),
    )


def _window_and_trip(each: Mapping[str, Sequence[Any]], colour: str) -> tuple[Panel, Panel]:
    at_s = np.array(each["t_ns"]) / 1e9
    segments = np.array(each["cwnd_segments"], dtype=float)
    threshold = np.array([np.nan if value is None else value for value in each["ssthresh_segments"]])
    events = [event["t_ns"] / 1e9 for event in congestion_events(each) if event["retransmits"]]
    rtt_ms = np.array(each["rtt_ns"], dtype=float) / 1e6
    title = f"{each['host'][-1]} {each['local'][-1]} > {each['remote'][-1]}, {each['cc'][-1]}"[:60]
    window = Panel(
        title,
        _TIME,
        Axis("segments", low=0),
        series=[
            Series("window", colour, at_s, segments, size=1.0),
            Series("threshold", MUTED, at_s, threshold, dashed=True, size=0.7),
        ],
        feet=[Foot("retransmission", BAD, np.array(events))] if events else [],
    )
    trip = Series("round trip", INK, at_s, rtt_ms, listed=False, size=1.0)
    return window, Panel("", _TIME, Axis("RTT [ms]", low=0), series=[trip])
