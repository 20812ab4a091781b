"""The charts of a comparison as data: runs over each other on one time axis, and distributions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Chart, Panel, Series, column
from longhaul.report.comparison_figures import busiest, round_trip_curves
from longhaul.report.comparison_runs import Run, Side
from longhaul.report.cumulative import SHARES, Curve, stairs
from longhaul.report.scales import scale

Array = np.ndarray[Any, Any]
Table = Mapping[str, Array]

MOST_FLOWS = 3
MOST_PINGS = 2
MOST_DISTRIBUTIONS = 6
_TIME = Axis("time [s]", low=0)
_PANEL_IN, _DISTRIBUTION_IN = 1.25, 1.9
_FOR_LABELS_IN = 0.5


def over_time(sides: Sequence[Side]) -> Chart | None:
    """Throughput and queues of the busiest directions, flows and pings, one panel below another."""
    panels = [*_links(sides), *_flows(sides), *_pings(sides)]
    if not panels:
        return None
    height = _PANEL_IN * len(panels) + _FOR_LABELS_IN
    return Chart("over-time", "runs over time", column(panels), height_in=height)


def distributions(sides: Sequence[Side]) -> Chart | None:
    """Cumulative distributions of round-trip times, and of lateness of live runs."""
    curves = round_trip_curves(sides)
    panels = []
    for title, points in list(curves.items())[:MOST_DISTRIBUTIONS]:
        shown = [
            Curve(side.label, each, side.colour, 1.6)
            for side, each in zip(sides, points, strict=True)
            if each is not None
        ]
        series, axis = stairs(shown, "round-trip time [ms]")
        panels.append(Panel(title, axis, Axis("share", low=0, high=SHARES), series))
    if not panels:
        return None
    rows = [tuple(panels[place : place + 2]) for place in range(0, len(panels), 2)]
    height = _DISTRIBUTION_IN * len(rows) + _FOR_LABELS_IN
    widths = (1.0, 1.0) if len(panels) > 1 else (1.0,)
    return Chart("distributions", "cumulative distributions", rows, height_in=height, widths=widths)


def _panel(
    title: str, unit: str, lines: Iterable[tuple[Side, Array, Array]], *, kind: Any = "steps-before"
) -> Panel | None:
    """Lines of all sides in one unit; ``None`` if there are none."""
    drawn = [(side, t_s, values) for side, t_s, values in lines if len(t_s) and np.isfinite(values).any()]
    if not drawn:
        return None
    factor, short = scale(unit, [float(np.nanmax(values)) for _, _, values in drawn])
    series = []
    for place, (side, t_s, values) in enumerate(drawn):
        order = np.argsort(t_s, kind="stable")
        is_first = all(other is not side for other, _, _ in drawn[:place])
        # Repetitions have one entry in the legend.
        series.append(
            Series(
                side.label,
                side.colour,
                t_s[order],
                values[order].astype(float) / factor,
                kind=kind,
                listed=is_first,
                size=1.5,
                opacity=1.0 if len(side.runs) == 1 else 0.6,
            )
        )
    return Panel(title, _TIME, Axis(f"[{short}]" if short else "", low=0), series)


def _links(sides: Sequence[Side]) -> list[Panel]:
    tables = {id(run): run.table("links") for side in sides for run in side.runs}
    access = {each["name"] for side in sides for each in side.runs[0].summary["links"] if each["access"]}
    panels = []
    for link, way in busiest(list(tables.values()), access):

        def picked(run: Run, name: str, link: str = link, way: str = way) -> tuple[Array, Array]:
            table = tables[id(run)]
            mask = (table["link"] == link) & (table["way"] == way) if table else np.zeros(0, bool)
            return (table["t_s"][mask], table[name][mask]) if mask.any() else (np.zeros(0), np.zeros(0))

        for title, name, unit in (
            ("throughput", "throughput_bits_per_s", "bit/s"),
            ("queue", "queue_bytes", "bytes"),
        ):
            lines = [(side, *picked(run, name)) for side in sides for run in side.runs]
            panels.append(_panel(f"{title} of {link}, {way}", unit, lines))
    return [each for each in panels if each is not None]


_FLOW_PANELS: tuple[tuple[str, str, str, Callable[..., Any]], ...] = (
    ("goodput", "bits_per_s", "bit/s", np.nansum),
    ("congestion window", "window_segments", "segments", np.nansum),
    ("RTT", "rtt_ns", "ns", np.nanmax),
    ("retransmitted segments", "retransmits", "count", np.nansum),
)


def _flows(sides: Sequence[Side]) -> list[Panel]:
    """Of flows that several sides have, those that carried most; streams of a flow together."""
    tables = {id(run): run.table("flows") for side in sides for run in side.runs}
    carried: dict[str, float] = {}
    seen: dict[str, set[str]] = {}
    for side in sides:
        for run in side.runs:
            for flow in run.summary["flows"]:
                carried[flow["flow"]] = carried.get(flow["flow"], 0) + (flow["goodput_bits_per_s"] or 0)
                seen.setdefault(flow["flow"], set()).add(side.letter)
    common = [name for name, letters in seen.items() if len(letters) > 1]
    panels = []
    for flow in sorted(common, key=lambda name: -carried[name])[:MOST_FLOWS]:
        for title, column_name, unit, together in _FLOW_PANELS:
            lines = [
                (side, *_of_flow(tables[id(run)], flow, column_name, together))
                for side in sides
                for run in side.runs
            ]
            panels.append(_panel(f"{title} of {flow}", "" if unit == "segments" else unit, lines))
    return [each for each in panels if each is not None]


def _of_flow(table: Table, flow: str, name: str, together: Callable[..., Any]) -> tuple[Array, Array]:
    """A quantity of all streams of a flow at the end of each interval."""
    nothing = np.zeros(0), np.zeros(0)
    if not table or name not in table:
        return nothing
    mask = (table["flow"] == flow) & np.isfinite(table[name].astype(float))
    if not mask.any():
        return nothing
    ends = table["start_ns"][mask].astype(float) / 1e9 + table["end_s"][mask].astype(float)
    t_s, places = np.unique(np.round(ends, 6), return_inverse=True)
    values = table[name][mask].astype(float)
    if together is np.nanmax:
        found = np.full(len(t_s), -np.inf)
        np.maximum.at(found, places, values)
    else:
        found = np.bincount(places, weights=values, minlength=len(t_s))
    return t_s, found


def _pings(sides: Sequence[Side]) -> list[Panel]:
    tables = {id(run): run.table("probes") for side in sides for run in side.runs}
    keys: dict[tuple[str, str], int] = {}
    for table in tables.values():
        if table:
            for key in dict.fromkeys(zip(table["name"].tolist(), table["to"].tolist(), strict=True)):
                keys[key] = keys.get(key, 0) + 1
    panels = []
    for name, to in [key for key, count in keys.items() if count > 1][:MOST_PINGS]:
        lines = []
        for side in sides:
            for run in side.runs:
                table = tables[id(run)]
                if table:
                    mask = (table["name"] == name) & (table["to"] == to)
                    lines.append(
                        (side, table["t_s"][mask].astype(float), table["rtt_ns"][mask].astype(float))
                    )
        panels.append(_panel(f"round trips of {name} to {to}", "ns", lines, kind="line"))
    return [each for each in panels if each is not None]
