"""Charts of single packets at one link: arrival and departure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.phases import phase_at
from longhaul.report.chart import Axis, Chart, Panel, Series, column
from longhaul.report.colours import BAD, GRID, SERIES
from longhaul.units.text import count_text, time_text

Json = Mapping[str, Any]

_WINDOW_NS = 2_000_000
_SECOND_NS = 1_000_000_000
_MOST_PACKETS = 120
_FEW = 8
"""Packets that are too few for a figure."""


def packet_diagram(rows: Sequence[Json], links: Sequence[Json]) -> Chart | None:
    """Arrival and departure of each packet over 2 ms: the busiest such stretch of one direction.

    Where hardly any packet came in 2 ms, as many as can be told apart.

    Where the delay is longer than the window, departures are drawn earlier by the configured delay, so that
    a faithful link shows upright lines.
    """
    directions = {(each["name"], each["way"]): each for each in links}
    window = _window(rows, directions)
    if window is None:
        return None
    link, packets, shift = window
    start = packets[0]["offered_ns"]
    is_long = packets[-1]["offered_ns"] - start > 5 * _WINDOW_NS
    unit, scale = ("ms", 1e6) if is_long else ("µs", 1e3)
    number = np.arange(1.0, len(packets) + 1)
    arrival = np.array([packet["offered_ns"] - start for packet in packets]) / scale
    departure = np.array(
        [np.nan if each["due_ns"] is None else each["due_ns"] - start - shift for each in packets]
    )
    departure = departure / scale
    left = np.isfinite(departure)
    ended = np.array([packet["fate"] != "delivered" for packet in packets])
    later = f", drawn {time_text(shift)} earlier" if shift else ""
    series = [
        Series(
            "on its way",
            GRID,
            arrival[left],
            number[left],
            kind="strokes",
            listed=False,
            size=1.2,
            low=number[left],
            to_x=departure[left],
        ),
        Series("arrives at the link", SERIES[0], arrival, number, kind="circles", size=6.5),
        Series(
            f"leaves its far end{later}", SERIES[1], departure[left], number[left], kind="squares", size=3.6
        ),
    ]
    if ended.any():
        series.append(Series("does not leave", BAD, arrival[ended], number[ended], kind="crosses", size=7))
    panel = Panel(
        f"{link['from']} > {link['to']}, {count_text(len(packets), 'packet')}",
        Axis(f"time since {start / 1e9:.6f} s [{unit}]"),
        Axis("packet"),
        series=series,
    )
    return Chart(
        "packets", "arrival and departure of single packets", column([panel]), height_in=3.6, legend="inside"
    )


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
