"""The charts of a comparison as data: metrics, runs over each other on one time axis, and distributions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.distributions import merged
from longhaul.analysis.estimates import estimate
from longhaul.report.chart import Axis, Chart, Panel, Series, column, left_out_text
from longhaul.report.comparison_runs import Run, Side
from longhaul.report.cumulative import SHARES, Curve, stairs
from longhaul.report.scales import scale
from longhaul.scenario.model.metrics import measure_of, unit_of

Array = np.ndarray[Any, Any]
Table = Mapping[str, Array]

_COLUMNS = 3
"""Of panels of metrics."""
_ABOVE = 0.17
"""Of a row: from its middle to the runs above it, and to their mean below it."""
_MOST_DIRECTIONS = 2
_LEAST_SHARE = 0.05
"""Of what the busiest direction carried; acknowledgements are less."""
MOST_FLOWS = 3
MOST_PINGS = 2
MOST_DISTRIBUTIONS = 6
_TIME = Axis("time [s]", low=0)
_PANEL_IN, _DISTRIBUTION_IN = 1.25, 1.9
_FOR_LABELS_IN = 0.5


def drawings(sides: Sequence[Side], metrics: Sequence[str]) -> dict[str, Callable[[], Chart | None]]:
    """How to make each chart of a comparison, by name; ``metrics`` are those that have panels."""
    return {
        "metrics": lambda: values(sides, metrics),
        "over_time": lambda: over_time(sides),
        "distributions": lambda: distributions(sides),
    }


def values(sides: Sequence[Side], metrics: Sequence[str]) -> Chart | None:
    """A panel a metric: every run as a dot, and each side's mean with its 95 % interval."""
    if not metrics:
        return None
    panels = [_values(sides, metric) for metric in metrics]
    columns = min(_COLUMNS, len(panels))
    rows = [tuple(panels[place : place + columns]) for place in range(0, len(panels), columns)]
    height = (0.35 + 0.3 * len(sides)) * len(rows) + _FOR_LABELS_IN
    return Chart(
        "metrics", "metrics of each side with their intervals", rows, height, widths=(1.0,) * columns
    )


def _values(sides: Sequence[Side], metric: str) -> Panel:
    measured = [[run for run in side.runs if run.metrics.get(metric) is not None] for side in sides]
    numbers = [np.array([float(run.metrics[metric]) for run in group]) for group in measured]
    factor, unit = scale(unit_of(metric), np.concatenate(numbers).tolist())
    series = []
    for row, (side, runs, values) in enumerate(zip(sides, measured, numbers, strict=True)):
        if not runs:
            continue
        above = np.full(len(runs), row - _ABOVE if len(runs) > 1 else row)
        size = 5.0 if len(runs) > 1 else 9.0
        series.append(
            Series(
                f"{side.letter}, runs",
                side.colour,
                values / factor,
                above,
                kind="dots",
                listed=False,
                size=size,
                opacity=0.7,
            )
        )
        mean = estimate(values.tolist(), [run.digest for run in runs])
        if mean.half_width is not None:
            at = np.array([mean.mean]) / factor
            series.append(
                Series(
                    f"{side.letter}, mean",
                    side.colour,
                    at,
                    np.array([row + _ABOVE]),
                    kind="squares",
                    listed=False,
                    size=5.0,
                    x_interval=(at - mean.half_width / factor, at + mean.half_width / factor),
                )
            )
    # With ends of its own no axis moves with that of another metric.
    low, high = _reach(series)
    axis = Axis(f"[{unit}]" if unit else measure_of(metric) or metric, low=low, high=high)
    return Panel(metric, axis, Axis("", names=tuple(side.letter for side in sides)), series)


def _reach(every: Sequence[Series]) -> tuple[float, float]:
    """From where to where an axis goes that shows all of them, with their intervals."""
    ends = [end for each in every if each.x_interval is not None for end in each.x_interval]
    x = np.concatenate([*(each.x for each in every), *ends])
    low, high = float(x.min()), float(x.max())
    room = (high - low) * 0.08 or abs(low) * 0.1 or 1.0
    return low - room, high + room


def over_time(sides: Sequence[Side]) -> Chart | None:
    """Throughput and queues of the busiest directions, flows and pings, one panel below another."""
    panels = [*_links(sides), *_flows(sides), *_pings(sides)]
    if not panels:
        return None
    height = _PANEL_IN * len(panels) + _FOR_LABELS_IN
    return Chart("over-time", "runs over time", column(panels), height_in=height, legend="above")


def distributions(sides: Sequence[Side]) -> Chart | None:
    """Cumulative distributions of round-trip times, and of lateness of live runs."""
    every = _round_trips(sides)
    panels = [
        _distribution(sides, title, points, "round-trip time [ms]")
        for title, points in list(every.items())[:MOST_DISTRIBUTIONS]
    ]
    left_out = left_out_text(len(every), len(panels), "The first {shown} of {every} that several sides have")
    late = [_lateness(side) for side in sides]
    if any(each is not None for each in late):
        panels.append(_distribution(sides, "lateness", late, "lateness [µs]", is_logarithmic=True))
    if not panels:
        return None
    rows = [tuple(panels[place : place + 2]) for place in range(0, len(panels), 2)]
    height = _DISTRIBUTION_IN * len(rows) + _FOR_LABELS_IN
    widths = (1.0, 1.0) if len(panels) > 1 else (1.0,)
    return Chart(
        "distributions",
        "cumulative distributions",
        rows,
        height_in=height,
        widths=widths,
        legend="inside",
        note=left_out,
    )


def _distribution(
    sides: Sequence[Side],
    title: str,
    points: Sequence[Array | None],
    label: str,
    *,
    is_logarithmic: bool = False,
) -> Panel:
    shown = [
        Curve(side.label, each, side.colour, 1.6)
        for side, each in zip(sides, points, strict=True)
        if each is not None
    ]
    series, axis = stairs(shown, label, is_logarithmic=is_logarithmic)
    return Panel(title, axis, Axis("share", low=0, high=SHARES), series)


def _round_trips(sides: Sequence[Side]) -> dict[str, list[Array | None]]:
    """For each ping and flow that several sides have: round trips (ms), each with the share of all below.

    One of each side, ``None`` where it has none.
    """
    panels: dict[str, list[Array | None]] = {}
    for place, side in enumerate(sides):
        for title, points in (*_pings_of(side.runs), *_flows_of(side.runs)):
            panels.setdefault(title, [None] * len(sides))[place] = points
    return {title: each for title, each in panels.items() if sum(one is not None for one in each) > 1}


def _pings_of(runs: Sequence[Run]) -> list[tuple[str, Array]]:
    """All runs' round trips of a ping together: value in ms, share."""
    gathered: dict[str, list[Array]] = {}
    for run in runs:
        table = run.table("probes")
        if not table:
            continue
        for name, to in dict.fromkeys(zip(table["name"].tolist(), table["to"].tolist(), strict=True)):
            mask = (table["name"] == name) & (table["to"] == to)
            rtt_ns = table["rtt_ns"][mask].astype(float)
            gathered.setdefault(f"{name} to {to}: every ping", []).append(rtt_ns[np.isfinite(rtt_ns)])
    found = []
    for title, parts in gathered.items():
        rtt_ms = np.sort(np.concatenate(parts)) / 1e6
        if len(rtt_ms):
            shown = np.unique(np.linspace(0, len(rtt_ms) - 1, 400).astype(np.intp))
            found.append((title, np.column_stack((rtt_ms[shown], (shown + 1) / len(rtt_ms)))))
    return found


def _flows_of(runs: Sequence[Run]) -> list[tuple[str, Array]]:
    gathered: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        for flow in run.summary["flows"]:
            if flow.get("rtt"):
                gathered.setdefault(f"{flow['flow']}: TCP's samples", []).append(flow["rtt"])
    return [
        (title, np.asarray(merged(each)["cdf"], dtype=float) / [1e6, 1])
        for title, each in gathered.items()
        if any(one["count"] for one in each)
    ]


def _lateness(side: Side) -> Array | None:
    """Lateness (µs) of the packets of all live runs of a side, each with the share of all below."""
    found = [run.lateness for run in side.runs if run.lateness]
    return np.asarray(merged(found)["cdf"], dtype=float) / [1e3, 1] if found else None


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


def _busiest(tables: Sequence[Mapping[str, Array]], access: set[str]) -> list[tuple[str, str]]:
    """Directions that all tables have and that carried most, without access links where there are others."""
    volumes: dict[tuple[str, str], float] = {}
    seen: dict[tuple[str, str], int] = {}
    for table in tables:
        if not table:
            continue
        for key in dict.fromkeys(zip(table["link"].tolist(), table["way"].tolist(), strict=True)):
            mask = (table["link"] == key[0]) & (table["way"] == key[1])
            carried = np.nansum(table["throughput_bits_per_s"][mask] * table["interval_s"][mask])
            volumes[key] = volumes.get(key, 0.0) + float(carried)
            seen[key] = seen.get(key, 0) + 1
    everywhere = [key for key, count in seen.items() if count == len(tables)]
    inner = [key for key in everywhere if key[0] not in access] or everywhere
    most = max((volumes[key] for key in inner), default=0.0)
    worth = [key for key in inner if volumes[key] > most * _LEAST_SHARE]
    return sorted(worth, key=lambda key: -volumes[key])[:_MOST_DIRECTIONS]


def _links(sides: Sequence[Side]) -> list[Panel]:
    tables = {id(run): run.table("links") for side in sides for run in side.runs}
    access = {each["name"] for side in sides for each in side.runs[0].summary["links"] if each["access"]}
    panels = []
    for link, way in _busiest(list(tables.values()), access):

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
