"""Figures of single packets at one link: arrival and departure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.phases import phase_at
from longhaul.report.plotting import BAD, GRID, SERIES, figure, plain, style, svg
from longhaul.report.points import unlisted
from longhaul.units.text import time_text

Json = Mapping[str, Any]

_WINDOW_NS = 2_000_000
_SECOND_NS = 1_000_000_000
_MOST_PACKETS = 120
_FEW = 8
"""Packets that are too few for a figure."""
_WAY, _LEAVES, _ARRIVES, _ENDS = map(
    unlisted, ("on its way", "leaves its far end", "arrives at the link", "does not leave")
)


def packet_diagram(rows: Sequence[Json], links: Sequence[Json]) -> str | None:
    """Arrival and departure of each packet over 2 ms: the busiest such stretch of one direction.

    Where hardly any packet came in 2 ms, as many as can be told apart.

    Where the delay is longer than the window, departures are drawn earlier by the delay that was
    asked for, so that a faithful link shows upright lines.
    """
    directions = {(each["name"], each["way"]): each for each in links}
    window = _window(rows, directions)
    if window is None:
        return None
    link, packets, shift = window
    start = packets[0]["offered_ns"]
    with style():
        made = figure(3.6)
        axes = made.subplots()
        plain(axes)
        long = packets[-1]["offered_ns"] - start > 5 * _WINDOW_NS
        unit, scale = ("ms", 1e6) if long else ("µs", 1e3)
        for number, packet in enumerate(packets, start=1):
            arrival = (packet["offered_ns"] - start) / scale
            if packet["due_ns"] is not None:
                departure = (packet["due_ns"] - start - shift) / scale
                axes.plot(
                    [arrival, departure], [number, number], color=GRID, linewidth=1.2, zorder=1, label=_WAY
                )
                axes.plot(
                    [departure], [number], "s", color=SERIES[1], markersize=3.6, zorder=3, label=_LEAVES
                )
            look: dict[str, Any] = {"color": SERIES[0], "markersize": 6.5, "fillstyle": "none"}
            axes.plot([arrival], [number], "o", **look, zorder=2, label=_ARRIVES)
            if packet["fate"] != "delivered":
                axes.plot([arrival], [number], "x", color=BAD, markersize=7, zorder=4, label=_ENDS)
        axes.plot([], [], "o", color=SERIES[0], markersize=6.5, fillstyle="none", label="arrives at the link")
        later = f", drawn {time_text(shift)} earlier" if shift else ""
        axes.plot([], [], "s", color=SERIES[1], markersize=4, label=f"leaves its far end{later}")
        if any(packet["fate"] != "delivered" for packet in packets):
            axes.plot([], [], "x", color=BAD, label="does not")
        axes.set(xlabel=f"time since {start / 1e9:.6f} s [{unit}]", ylabel="packet")
        axes.set_title(f"{link['from']} > {link['to']}, {len(packets)} packets")
        axes.legend(loc="lower right")
        return svg(made, "packets", "arrival and departure of single packets")


def _window(
    rows: Sequence[Json], directions: Mapping[tuple[str, str], Json]
) -> tuple[Json, list[Json], int] | None:
    """Direction, packets in order of arrival, and the ns by which departures are drawn earlier.

    Of all recorded windows, one with many packets, yet with little queueing if there is such a one.
    """
    groups: dict[tuple[str, str, int], list[Json]] = {}
    # A run that was cut short has packets, but nothing of its links.
    known = [row for row in rows if (row["link"], row["way"]) in directions]
    for row in known:
        groups.setdefault((row["link"], row["way"], row["offered_ns"] // _WINDOW_NS), []).append(row)
    if groups and max(map(len, groups.values())) < _FEW:
        groups = {}
        for row in known:
            groups.setdefault((row["link"], row["way"], row["offered_ns"] // _SECOND_NS), []).append(row)

    def transit_ns(key: tuple[str, str, int]) -> list[int]:
        return [row["due_ns"] - row["offered_ns"] for row in groups[key] if row["due_ns"] is not None] or [0]

    def asked_ns(key: tuple[str, str, int]) -> int:
        first = groups[key][0]["offered_ns"]
        return int(phase_at(directions[key[:2]]["phases"], first)["configured"]["delay_ns"] or 0)

    def merit(key: tuple[str, str, int]) -> tuple[bool, int]:
        calm = float(np.median(transit_ns(key))) - asked_ns(key) < _WINDOW_NS / 4
        return calm and len(groups[key]) >= _FEW, min(len(groups[key]), _MOST_PACKETS)

    if not groups:
        return None
    key = max(groups, key=merit)
    packets = sorted(groups[key], key=lambda row: row["offered_ns"])[:_MOST_PACKETS]
    base = min(asked_ns(key), *transit_ns(key)) if merit(key)[0] else min(transit_ns(key))
    return directions[key[:2]], packets, base if base > _WINDOW_NS else 0
