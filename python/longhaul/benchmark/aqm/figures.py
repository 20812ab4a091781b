"""The figures of queue disciplines: the trade-off of RFC 7928, section 2.7, and those of its scenarios."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from longhaul.analysis.loss_patterns import contour
from longhaul.benchmark.aqm.measures import QUANTILES
from longhaul.benchmark.figures import cases, colours, legend, strip, value
from longhaul.benchmark.rows import MODES, subjects_in
from longhaul.report.colours import INK
from longhaul.report.mpl import Axes, Figure, FixedLocator, FuncFormatter, Line2D, NullFormatter, NullLocator
from longhaul.report.plotting import figure, plain, style, svg, unlisted

Json = Mapping[str, Any]

_TRADE_OFF = (
    ("tcp-friendly", "", "one Reno"),
    ("aggressive", "", "one CUBIC"),
    ("unresponsive", "alone", "datagrams above capacity"),
    ("congestion", "mild", "mild congestion"),
    ("congestion", "medium", "medium congestion"),
    ("congestion", "heavy", "heavy congestion"),
)
_DISTRIBUTIONS = (
    ("tcp-friendly", "one Reno"),
    ("congestion heavy", "heavy congestion"),
    ("mix", "traffic mix"),
)
_LEVELS = (
    ("queue_mean", 1e3, "queueing delay [ms]"),
    ("loss", 100, "lost [%]"),
    ("sync", 100, "flows that lose together [%]"),
)
_REAL_TIME = (
    ("bursts", "IV", "fct_p95", 1e3, "web object, 95 % [ms]"),
    ("bursts", "IV", "frames", 100, "frames damaged [%]"),
    ("mix", "", "voip_jitter", 1e3, "VoIP jitter [ms]"),
)
LEAST_MS = 0.01
"""The lower end of logarithmic axes of delay."""
STYLES: Mapping[str, Literal["-", "--"]] = {"live": "-", "sim": "--"}


def trade_off(content: Json) -> str | None:
    """Goodput over queueing delay: every run, the median, and the contour of the runs."""
    shown = [each for each in _TRADE_OFF if each[1] in cases(content, each[0])]
    if not shown:
        return None
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    with style():
        made = figure(0.7 + 2.2 * rows)
        grid = list(made.subplots(rows, columns, squeeze=False, sharex=True).flat)
        for axes, (scenario, label, title) in zip(grid, shown, strict=False):
            plain(axes)
            axes.set_title(title)
            _delay_axis(axes, across=True)
            axes.xaxis.set_major_locator(FixedLocator((0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)))
            axes.xaxis.set_minor_locator(NullLocator())
            for subject, colour in colours(content):
                for mode in MODES:
                    _runs(axes, content, scenario, label, subject, mode, colour)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        for place, axes in enumerate(grid[: len(shown)]):
            if place + columns >= len(shown):
                axes.set_xlabel("queueing delay [ms]")
                axes.tick_params(labelbottom=True)
            if place % columns == 0:
                axes.set_ylabel("goodput [Mbit/s]")
        legend(made, content)
        return svg(made, "trade-off", "goodput over queueing delay, with contours over the runs")


def _runs(axes: Axes, content: Json, scenario: str, label: str, subject: str, mode: str, colour: str) -> None:
    found = [value(content, scenario, label, subject, mode, name) for name in ("queue_mean", "goodput")]
    if found[0] is None or found[1] is None:
        return
    points = np.column_stack([np.array(found[0]["values"]) * 1e3, np.array(found[1]["values"]) / 1e6])
    points[:, 0] = np.clip(points[:, 0], LEAST_MS, None)
    axes.plot(
        points[:, 0], points[:, 1], ".", color=colour, markersize=2.5, alpha=0.5,
        label=unlisted(f"{subject}, {MODES[mode]}, runs"),
    )  # fmt: skip
    middle = np.median(points, axis=0)
    axes.plot(
        middle[0],
        middle[1],
        marker="o" if mode == "live" else "s",
        markersize=5,
        color=colour,
        markerfacecolor=colour if mode == "live" else "none",
        linestyle="",
        label=unlisted(f"{subject}, {MODES[mode]}, median"),
    )
    ellipse = contour(points)
    if ellipse is not None:
        major, minor, angle = ellipse
        turn, tilt = np.linspace(0, 2 * np.pi, 73), np.radians(angle)
        along, beside = major * np.cos(turn), minor * np.sin(turn)
        centre = points.mean(axis=0)
        axes.plot(
            np.clip(centre[0] + along * np.cos(tilt) - beside * np.sin(tilt), LEAST_MS, None),
            centre[1] + along * np.sin(tilt) + beside * np.cos(tilt),
            color=colour,
            linewidth=0.8,
            linestyle=STYLES[mode],
            label=unlisted(f"{subject}, {MODES[mode]}, contour"),
        )


def distributions(content: Json) -> str | None:
    """Distribution functions of the queueing delays of packets in the first run."""
    found = {(each["case"], each["subject"], each["mode"]): each["columns"] for each in content["series"]}
    shown = [each for each in _DISTRIBUTIONS if any(key[0] == each[0] for key in found)]
    if not shown:
        return None
    with style():
        made = figure(2.6)
        panels = made.subplots(1, len(shown), squeeze=False, sharey=True, sharex=True)[0]
        for axes, (case, title) in zip(panels, shown, strict=True):
            plain(axes)
            axes.set_title(title)
            _delay_axis(axes, across=True)
            for subject, colour in colours(content):
                for mode in MODES:
                    columns = found.get((case, subject, mode))
                    if columns:
                        axes.plot(
                            np.clip(columns["delay_ms"], LEAST_MS, None),
                            [100 * each for each in QUANTILES],
                            color=colour,
                            linestyle=STYLES[mode] if len(content["modes"]) > 1 else "-",
                            label=unlisted(f"{subject}, {MODES[mode]}"),
                        )
            axes.set_xlabel("queueing delay [ms]")
        panels[0].set(ylabel="packets [%]", ylim=(0, 100))
        _line_legend(content, made)
        return svg(made, "distributions", "distribution of the queueing delay of packets")


def course(content: Json, case: str, title: str) -> str | None:
    """Mean queueing delay over time in the first run, live beside simulated."""
    found = {
        (each["subject"], each["mode"]): each["columns"]
        for each in content["series"]
        if each["case"] == case and "t_s" in each["columns"]
    }
    modes = [mode for mode in MODES if any(key[1] == mode for key in found)]
    if not modes:
        return None
    with style():
        made = figure(2.6)
        panels = made.subplots(1, len(modes), squeeze=False, sharey=True)[0]
        for axes, mode in zip(panels, modes, strict=True):
            plain(axes)
            axes.set_title(f"{title}, {MODES[mode]}")
            for subject, colour in colours(content):
                columns = found.get((subject, mode))
                if columns:
                    waits = np.clip(columns["queue_ms"], 0.1, None)
                    axes.plot(columns["t_s"], waits, color=colour, linewidth=1.1, label=unlisted(subject))
            axes.set_xlabel("time [s]")
            _delay_axis(axes, across=False)
        panels[0].set_ylabel("queueing delay [ms]")
        _line_legend(content, made)
        return svg(made, f"course-{case}", f"queueing delay over time, {title}")


def round_trips(content: Json) -> str | None:
    """What a flow has, against one of 100 ms, as its round-trip time grows."""
    labels = cases(content, "rtt-fairness")
    if not labels:
        return None
    trips = [float(label.split(" ")[0]) for label in labels]
    with style():
        made = figure(2.6)
        axes = made.subplots()
        plain(axes)
        for subject, colour in colours(content):
            for mode in MODES:
                found = [value(content, "rtt-fairness", each, subject, mode, "ratio") for each in labels]
                drawn = [(trip, each["mean"]) for trip, each in zip(trips, found, strict=True) if each]
                _line(axes, drawn, subject, mode, colour)
        axes.axhline(1, color=INK, linewidth=0.7, linestyle=":")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(trips, [f"{each:g}" for each in trips])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_locator(FixedLocator((0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)))
        axes.yaxis.set_minor_locator(NullLocator())
        _plain_numbers(axes, across=False)
        axes.set(xlabel="round-trip time [ms]", ylabel="goodput / that of 100 ms")
        legend(made, content)
        return svg(made, "round-trips", "goodput against that of a flow of 100 ms")


def levels(content: Json) -> str | None:
    """Delay, loss and synchronisation as the load grows."""
    labels = cases(content, "congestion")
    if not labels:
        return None
    with style():
        made = figure(2.6)
        panels = made.subplots(1, len(_LEVELS), squeeze=False)[0]
        for axes, (measure, factor, title) in zip(panels, _LEVELS, strict=True):
            plain(axes)
            for subject, colour in colours(content):
                for mode in MODES:
                    found = [value(content, "congestion", each, subject, mode, measure) for each in labels]
                    drawn = [(place, each["mean"] * factor) for place, each in enumerate(found) if each]
                    _line(axes, drawn, subject, mode, colour)
            axes.set_xticks(range(len(labels)), labels)
            axes.set_xlim(-0.3, len(labels) - 0.7)
            axes.set_ylim(bottom=0)
            axes.set_ylabel(title)
        legend(made, content)
        return svg(made, "levels", "delay, loss and synchronisation at three levels of congestion")


def _line(axes: Axes, points: Sequence[tuple[float, float]], subject: str, mode: str, colour: str) -> None:
    if points:
        across, up = zip(*points, strict=True)
        axes.plot(
            across,
            up,
            color=colour,
            marker="o" if mode == "live" else "s",
            markersize=4.5,
            markerfacecolor=colour if mode == "live" else "none",
            linestyle=STYLES[mode],
            linewidth=0.9,
            label=unlisted(f"{subject}, {MODES[mode]}"),
        )


def real_time(content: Json, scenario: str) -> str | None:
    """What users of short transfers, video and calls notice."""
    shown = [
        each
        for each in _REAL_TIME
        if each[0] == scenario and any(_has(content, each, subject) for subject in content["subjects"])
    ]
    if not shown:
        return None
    rows = len(content["subjects"])
    with style():
        made = figure(0.9 + 0.3 * rows)
        panels = made.subplots(1, len(shown), squeeze=False, sharey=True)[0]
        for axes, (name, label, measure, factor, title) in zip(panels, shown, strict=True):
            plain(axes)
            strip(axes, content, name, label, measure, factor=factor)
            axes.set_xlim(left=0)
            axes.set_xlabel(title)
        panels[0].set_ylim(rows - 0.5, -0.5)
        _legend_of_modes(content, made)
        return svg(made, f"real-time-{scenario}", "what short transfers, video and calls notice")


def _has(content: Json, panel: tuple[str, str, str, float, str], subject: str) -> bool:
    return any(value(content, panel[0], panel[1], subject, mode, panel[2]) for mode in MODES)


def _legend_of_modes(content: Json, made: Figure) -> None:
    if len(content["modes"]) > 1:
        legend(made, content, subjects=False)


def _line_legend(content: Json, made: Figure) -> None:
    handles = [Line2D([], [], color=colour, label=subject) for subject, colour in colours(content)]
    modes = [mode for mode in MODES if subjects_in(content, mode)]
    if len(modes) > 1:
        handles += [Line2D([], [], color=INK, linestyle=STYLES[mode], label=MODES[mode]) for mode in modes]
    made.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 9), columnspacing=1.2)


def _delay_axis(axes: Axes, *, across: bool) -> None:
    if across:
        axes.set_xscale("log")
    else:
        axes.set_yscale("log")
    _plain_numbers(axes, across=across)


def _plain_numbers(axes: Axes, *, across: bool) -> None:
    axis = axes.xaxis if across else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda number, _place: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())
