"""The figures of a benchmark: one colour for each algorithm, filled for live, hollow for simulated."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from longhaul.benchmark.rows import BASIC, MODES, controls_in
from longhaul.report.colours import GRID, INK, MUTED, SERIES
from longhaul.report.mpl import Axes, Figure, FixedLocator, FuncFormatter, Line2D, NullFormatter, NullLocator
from longhaul.report.plotting import figure, plain, style, svg
from longhaul.report.points import unlisted

Json = Mapping[str, Any]

BAND = 0.15
"""Live and simulated agree within this share."""
MOST_COLUMNS = 6


def effect(content: Json) -> str | None:
    """How full the link and how long the queue, in each basic scenario."""
    shown = [each for each in content["scenarios"] if each["name"] in BASIC]
    if not shown:
        return None
    columns = min(3, len(shown))
    rows = ceil(len(shown) / columns)
    with style():
        made = figure(0.5 + 2.1 * rows)
        grid = list(made.subplots(rows, columns, squeeze=False).flat)
        for axes, scenario in zip(grid, shown, strict=False):
            plain(axes)
            axes.set_title(scenario["title"])
            _scatter(axes, content, scenario["name"], "", "queue_mean", "utilisation", 1e3, 100)
            axes.set_xlim(left=0)
            _from_full(axes)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        for axes in made.axes[-columns:]:
            axes.set_xlabel("queueing delay [ms]")
        for axes in made.axes[::columns]:
            axes.set_ylabel("link used [%]")
        _legend(made, content)
        return svg(made, "effect", "utilisation over queueing delay in each basic scenario")


def trade_off(content: Json) -> str | None:
    """Throughput over delay as the queue grows: a line for each control."""
    labels = _cases(content, "trade-off")
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for mode in MODES:
        for control in content["controls"]:
            for label in labels:
                wait = _value(content, "trade-off", label, control, mode, "queue_mean")
                used = _value(content, "trade-off", label, control, mode, "utilisation")
                if wait and used:
                    point = (wait["mean"] * 1e3, used["mean"] * 100)
                    lines.setdefault((control, mode), []).append(point)
    modes = [mode for mode in MODES if any(key[1] == mode for key in lines)]
    if len(labels) < 2 or not modes:
        return None
    with style():
        made = figure(3.0)
        panels = made.subplots(1, len(modes), squeeze=False, sharex=True, sharey=True)[0]
        for axes, mode in zip(panels, modes, strict=True):
            plain(axes)
            axes.set_title(MODES[mode])
            for control, colour in _colours(content):
                if (control, mode) in lines:
                    across, up = zip(*lines[control, mode], strict=True)
                    axes.plot(across, up, "o-", color=colour, markersize=4, label=unlisted(control))
            axes.set_xlabel("queueing delay [ms]")
        waits = [wait for line in lines.values() for wait, _used in line]
        panels[0].set_xscale("log")
        panels[0].set_xlim(0.7 * max(min(waits), 0.1), 1.4 * max(waits))
        panels[0].xaxis.set_major_locator(FixedLocator((0.3, 1, 3, 10, 30, 100, 300)))
        panels[0].xaxis.set_minor_locator(NullLocator())
        panels[0].xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        _from_full(panels[0])
        panels[0].set_ylabel("link used [%]")
        _legend(made, content, modes=False)
        return svg(made, "trade-off", "utilisation over queueing delay for several queues")


def over_time(content: Json, case: str) -> str | None:
    """Rates in the first run: a column for each control, live above simulated."""
    found = {
        (each["control"], each["mode"]): each["mbit_per_s"]
        for each in content["series"]
        if each["case"] == case
    }
    if not found:
        return None
    place = next(
        (scenario, each)
        for scenario in content["scenarios"]
        for each in scenario["cases"]
        if each["name"] == case
    )
    limits = place[1]
    modes = [mode for mode in MODES if any(key[1] == mode for key in found)]
    controls = [each for each in content["controls"] if any(key[0] == each for key in found)]
    controls = controls[:MOST_COLUMNS]
    with style():
        made = figure(0.7 + 1.45 * len(modes))
        grid = made.subplots(len(modes), len(controls), squeeze=False, sharex=True, sharey=True)
        names: dict[str, str] = {}
        for row, mode in zip(grid, modes, strict=True):
            for axes, control in zip(row, controls, strict=True):
                plain(axes)
                series = found.get((control, mode))
                if series is None:
                    axes.text(
                        0.5, 0.5, f"not {MODES[mode]}", transform=axes.transAxes, color=MUTED,
                        ha="center", va="center",
                    )  # fmt: skip
                    continue
                for name, colour in zip([each for each in series if each != "t_s"], SERIES, strict=False):
                    axes.plot(series["t_s"], series[name], color=colour, linewidth=1.1, label=unlisted(name))
                    names[name] = colour
                axes.axvline(limits["event_s"], color=MUTED, linewidth=0.8, linestyle=":")
                axes.set_ylim(0, limits["bits_per_s"] / 1e6 * 1.05)
                axes.set_xlim(0, limits["to_s"])
        for axes, control in zip(grid[0], controls, strict=True):
            axes.set_title(control)
        for row, mode in zip(grid, modes, strict=True):
            row[0].set_ylabel(f"{MODES[mode]} [Mbit/s]")
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        handles = [Line2D([], [], color=colour, label=name) for name, colour in names.items()]
        made.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return svg(made, f"time-{case}", f"rates over time, {case}")


def friendliness(content: Json) -> str | None:
    """Gain of the control over the loss of the standard, beside Reno and beside CUBIC."""
    labels = _cases(content, "impact")
    if not labels:
        return None
    with style():
        made = figure(3.3)
        panels = made.subplots(1, len(labels), squeeze=False, sharex=True, sharey=True)[0]
        for axes, label in zip(panels, labels, strict=True):
            plain(axes)
            axes.set_title(label)
            axes.axvline(1, color=GRID, linewidth=1.2)
            axes.axhline(1, color=GRID, linewidth=1.2)
            _scatter(axes, content, "impact", label, "harm", "gain", 1, 1)
            axes.set_xlabel("L: what standard TCP keeps")
        panels[0].set(ylabel="G: what the control gains", xlim=(0, None), ylim=(0, None))
        _legend(made, content)
        return svg(made, "friendliness", "gain over loss beside standard TCP")


_SHARING = (
    ("fairness", "ratio", "equal round trips"),
    ("rtt-fairness", "ratio", "unequal round trips"),
    ("bottlenecks", "long_share", "three bottlenecks"),
)


def sharing(content: Json) -> str | None:
    """What the weaker has of what the stronger has: equal and unequal paths."""
    shown = [each for each in _SHARING if _cases(content, each[0])]
    if not shown:
        return None
    controls = content["controls"]
    with style():
        made = figure(0.9 + 0.3 * len(controls))
        panels = made.subplots(1, len(shown), squeeze=False, sharey=True)[0]
        for axes, (scenario, measure, title) in zip(panels, shown, strict=True):
            plain(axes)
            label = _cases(content, scenario)[0]
            axes.set_title(f"{title}{', ' + label if label else ''}")
            for place, (control, colour) in enumerate(_colours(content)):
                for mode, shift in (("live", -0.14), ("sim", 0.14)):
                    value = _value(content, scenario, label, control, mode, measure)
                    if value:
                        _point(
                            axes,
                            value["mean"],
                            place + shift,
                            value["half_width"],
                            None,
                            colour,
                            mode,
                            control,
                        )
            axes.set_yticks(range(len(controls)), controls, color=INK)
            axes.set_xlim(0, 1.15)
            axes.axvline(1, color=MUTED, linewidth=0.8, linestyle=":")
            axes.set_xlabel("weaker / stronger")
        panels[0].set_ylim(len(controls) - 0.5, -0.5)
        _legend(made, content, controls=False)
        return svg(made, "sharing", "how evenly transfers share")


def agreement(content: Json) -> str | None:
    """Simulated over live, for every measure that there is both ways."""
    compared = [each for each in content["compared"] if each["live"] > 0 and each["simulated"] > 0]
    if not compared:
        return None
    titles = {each["name"]: each["title"] for each in content["measures"]}
    names = [name for name in titles if any(each["measure"] == name for each in compared)]
    colours = dict(_colours(content))
    controls = controls_in(content, "live")
    with style():
        made = figure(0.8 + 0.22 * len(names))
        axes = made.subplots()
        plain(axes)
        axes.axvspan(1 - BAND, 1 + BAND, color=GRID, alpha=0.6, linewidth=0)
        axes.axvline(1, color=MUTED, linewidth=0.8)
        for each in compared:
            shift = (controls.index(each["control"]) + 1) / (len(controls) + 1) - 0.5
            ratio = min(max(each["simulated"] / each["live"], 0.1), 10)
            axes.plot(
                ratio,
                names.index(each["measure"]) + 0.7 * shift,
                marker="o",
                markersize=3.6,
                linestyle="",
                label=unlisted(each["control"]),
                color=colours[each["control"]],
                markerfacecolor=colours[each["control"]] if each["disagrees"] else "none",
            )
        axes.set_yticks(range(len(names)), [titles[name] for name in names], color=INK)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlim(0.09, 11)
        ticks = (0.1, 0.25, 0.5, 1, 2, 4, 10)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("simulated / live; beyond 0.1 or 10 at the edge")
        handles = [
            Line2D([], [], marker="o", linestyle="", color=colours[each], label=each) for each in controls
        ]
        made.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return svg(made, "agreement", "simulated over live for every measure")


def _from_full(axes: Axes) -> None:
    """An axis of per cent that ends a little above 100, and shows at least ten of them."""
    low, _high = axes.get_ylim()
    low = max(0.0, min(low, 91.0))
    axes.set_ylim(low, 100 + 0.06 * (100 - low))


def _scatter(
    axes: Axes, content: Json, scenario: str, label: str, across: str, up: str, wide: float, high: float
) -> None:
    for control, colour in _colours(content):
        for mode in MODES:
            one = _value(content, scenario, label, control, mode, across)
            other = _value(content, scenario, label, control, mode, up)
            if one and other:
                x_half, y_half = (
                    each["half_width"] * factor if each["half_width"] else None
                    for each, factor in ((one, wide), (other, high))
                )
                _point(axes, one["mean"] * wide, other["mean"] * high, x_half, y_half, colour, mode, control)


def _point(
    axes: Axes,
    x: float,
    y: float,
    x_half: float | None,
    y_half: float | None,
    colour: str,
    mode: str,
    control: str,
) -> None:
    axes.errorbar(
        x,
        y,
        xerr=x_half,
        yerr=y_half,
        marker="o" if mode == "live" else "s",
        markersize=4.5,
        color=colour,
        markerfacecolor=colour if mode == "live" else "none",
        elinewidth=0.7,
        linestyle="",
        label=unlisted(f"{control}, {MODES[mode]}"),
    )


def _legend(made: Figure, content: Json, *, controls: bool = True, modes: bool = True) -> None:
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=control)
        for control, colour in _colours(content)
        if controls
    ]
    if modes:
        handles += [
            Line2D([], [], marker="o" if mode == "live" else "s", linestyle="", color=INK, label=MODES[mode],
                   markerfacecolor=INK if mode == "live" else "none")
            for mode in MODES if controls_in(content, mode)
        ]  # fmt: skip
    made.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 9), columnspacing=1.2)


def _colours(content: Json) -> list[tuple[str, str]]:
    return [(control, SERIES[place % len(SERIES)]) for place, control in enumerate(content["controls"])]


def _cases(content: Json, scenario: str) -> Sequence[str]:
    return list(dict.fromkeys(each["case"] for each in content["results"] if each["scenario"] == scenario))


def _value(content: Json, scenario: str, label: str, control: str, mode: str, measure: str) -> Json | None:
    wanted = (scenario, label, control, mode, measure)
    keys = ("scenario", "case", "control", "mode", "measure")
    return next((each for each in content["results"] if tuple(each[key] for key in keys) == wanted), None)
