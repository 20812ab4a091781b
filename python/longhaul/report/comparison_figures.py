"""The figures of a comparison: the same axes and colours for every group."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.distributions import merged
from longhaul.analysis.estimates import estimate
from longhaul.report.chart_drawing import draw_series
from longhaul.report.colours import SIDES
from longhaul.report.comparison_runs import Run, Side
from longhaul.report.cumulative import SHARES, Curve, stairs
from longhaul.report.plotting import figure, plain, say_left_out, style, svg
from longhaul.report.scales import scale
from longhaul.scenario.model.metrics import unit_of

Array = np.ndarray[Any, Any]

_COLUMNS = 3
_MOST_DIRECTIONS = 2
_MOST_CHARACTERS = 36
"""Of a title, in one line."""
_LEAST_SHARE = 0.05
"""Of what the busiest direction carried; acknowledgements are less."""
_MOST_PANELS = 6


def values(sides: Sequence[Side], metrics: Sequence[str]) -> str | None:
    """A panel a metric: every run as a dot, and each side's mean with its 95 % interval."""
    if not metrics:
        return None
    rows = -(-len(metrics) // _COLUMNS)
    with style():
        made = figure(0.3 + 1.75 * rows)
        grid = made.subplots(rows, _COLUMNS, squeeze=False).flat
        for metric, axes in zip(metrics, grid, strict=False):
            plain(axes)
            measured = [[run for run in side.runs if run.metrics.get(metric) is not None] for side in sides]
            numbers = [[float(run.metrics[metric]) for run in group] for group in measured]
            digests = [[run.digest for run in group] for group in measured]
            factor, unit = scale(unit_of(metric), [each for group in numbers for each in group])
            for place, (side, group, equal, colour) in enumerate(
                zip(sides, numbers, digests, SIDES, strict=False)
            ):
                if not group:
                    continue
                mean = estimate(group, equal)
                shifts = np.linspace(-0.12, 0.12, len(group)) if len(group) > 1 else [0.0]
                axes.plot(
                    place + np.asarray(shifts),
                    np.asarray(group) / factor,
                    ".",
                    color=colour,
                    alpha=0.55,
                    markersize=5 if len(group) > 1 else 9,
                    label=f"{side.letter}, runs",
                )
                if mean.half_width is not None:
                    axes.errorbar(
                        [place + 0.3],
                        [mean.mean / factor],
                        yerr=[mean.half_width / factor],
                        color=colour,
                        marker="D",
                        markersize=4,
                        capsize=3,
                        elinewidth=1.3,
                        label=f"{side.letter}, mean",
                    )
            axes.set_xticks(range(len(sides)), [side.letter for side in sides])
            axes.set_xlim(-0.5, len(sides) - 0.3)
            axes.grid(visible=False, axis="x")
            axes.margins(y=0.15)
            axes.set_title(_in_two_lines(metric), fontsize=8)
            axes.set_ylabel(f"[{unit}]" if unit else "")
            axes.ticklabel_format(axis="y", useOffset=False)
        for unused in grid:
            unused.set_visible(False)
        return svg(made, "values", "metrics of each side with their intervals")


def _in_two_lines(metric: str) -> str:
    """A long name, broken after a dot."""
    if len(metric) <= _MOST_CHARACTERS:
        return metric
    cut = metric.rfind(".", 0, _MOST_CHARACTERS) + 1
    return f"{metric[:cut]}\n{metric[cut:]}"


def throughput(sides: Sequence[Side]) -> str | None:
    """Delivered rate over time of the busiest directions of links, a row a side, on equal axes."""
    tables = [[run.table("links") for run in side.runs] for side in sides]
    access = {each["name"] for side in sides for each in side.runs[0].summary["links"] if each["access"]}
    chosen = busiest([each for group in tables for each in group], access)
    if not chosen:
        return None
    with style():
        made = figure(0.6 + 1.35 * len(sides))
        grid = made.subplots(len(sides), len(chosen), sharex=True, sharey="col", squeeze=False)
        for row, side, group, colour in zip(grid, sides, tables, SIDES, strict=False):
            for axes, (link, way) in zip(row, chosen, strict=True):
                plain(axes)
                for number, table in enumerate(group):
                    mask = (table["link"] == link) & (table["way"] == way) if table else np.zeros(0, bool)
                    if mask.any():
                        axes.plot(
                            table["t_s"][mask],
                            table["throughput_bits_per_s"][mask] / 1e6,
                            color=colour,
                            alpha=1.0 if len(group) == 1 else max(0.25, 1.2 / len(group)),
                            linewidth=1.0,
                            drawstyle="steps-pre",
                            label=side.runs[number].directory.name,
                        )
                axes.set_title(f"{side.letter}: {link} {way}")
        for axes in grid.flat:
            axes.set_ylim(bottom=0)
            axes.set_xlim(left=0)
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        made.supylabel("throughput [Mbit/s]", fontsize=9)
        return svg(made, "throughput", "throughput over time, a row for each side")


def busiest(tables: Sequence[Mapping[str, Array]], access: set[str]) -> list[tuple[str, str]]:
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


def round_trip_curves(sides: Sequence[Side]) -> dict[str, list[Array | None]]:
    """For each ping and flow that several sides have: round trips (ms), each with the share of all below.

    One of each side, ``None`` where it has none.
    """
    panels: dict[str, list[Array | None]] = {}
    for place, side in enumerate(sides):
        for title, points in (*_pings(side.runs), *_flows(side.runs)):
            panels.setdefault(title, [None] * len(sides))[place] = points
    return {title: each for title, each in panels.items() if sum(one is not None for one in each) > 1}


def round_trips(sides: Sequence[Side]) -> str | None:
    """Shares of round trips that took a time at most: of every ping, and of every TCP flow's samples."""
    return _distributions(
        sides,
        round_trip_curves(sides),
        ("round trip [ms]", "share"),
        ("round-trips", "distribution of round-trip times, all sides"),
    )


def lateness(sides: Sequence[Side]) -> str | None:
    """Shares of packets that left within a time of being due, of each live run."""
    found = [[run.lateness for run in side.runs if run.lateness] for side in sides]
    curves = [np.asarray(merged(group)["cdf"], dtype=float) / [1e3, 1] if group else None for group in found]
    return _distributions(
        sides,
        {"": curves} if any(found) else {},
        ("lateness [µs]", "share of packets"),
        ("lateness", "distribution of lateness, all sides"),
        is_logarithmic=True,
    )


def _pings(runs: Sequence[Run]) -> list[tuple[str, Array]]:
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


def _flows(runs: Sequence[Run]) -> list[tuple[str, Array]]:
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


def _distributions(
    sides: Sequence[Side],
    every_panel: Mapping[str, Sequence[Array | None]],
    labels: tuple[str, str],
    what: tuple[str, str],
    *,
    is_logarithmic: bool = False,
) -> str | None:
    if not every_panel:
        return None
    every, panels = len(every_panel), dict(list(every_panel.items())[:_MOST_PANELS])
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    with style():
        made = figure(0.4 + 2.3 * rows)
        grid = made.subplots(rows, columns, squeeze=False).flat
        for (title, curves), axes in zip(panels.items(), grid, strict=False):
            plain(axes)
            shown = [
                Curve(f"{side.letter}, {side.modes}", points, colour, 1.4)
                for side, points, colour in zip(sides, curves, SIDES, strict=False)
                if points is not None
            ]
            series, axis = stairs(shown, labels[0], is_logarithmic=is_logarithmic)
            for each in series:
                draw_series(axes, each)
            axes.set(title=title, xlabel=axis.label, ylabel=labels[1], ylim=(0, SHARES))
            axes.set_xscale("log" if axis.is_logarithmic else "linear")
        for unused in grid:
            unused.set_visible(False)
        # Not every side has a curve in the first panel.
        named = {
            label: handle
            for axes in made.axes
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        made.axes[0].legend(named.values(), named, loc="lower right")
        say_left_out(made, every, len(panels), "The first {shown} of {every} that several sides have")
        return svg(made, *what)
