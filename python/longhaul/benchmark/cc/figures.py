"""The figures of congestion-control algorithms."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from longhaul.benchmark.figures import (
    cases,
    colours,
    from_full,
    legend,
    over_time,
    scatter,
    strip,
    value,
)
from longhaul.benchmark.rows import MODES
from longhaul.report.colours import GRID, MUTED
from longhaul.report.mpl import FixedLocator, FuncFormatter, NullLocator
from longhaul.report.plotting import figure, plain, style, svg, unlisted

Json = Mapping[str, Any]

BASIC = ("access", "data-centre", "trans-oceanic", "satellite", "wireless", "dial-up")
"""The basic scenarios of the draft (section 4.4)."""


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
            scatter(axes, content, scenario["name"], "", "queue_mean", "utilisation", 1e3, 100)
            axes.set_xlim(left=0)
            from_full(axes)
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        for axes in made.axes[-columns:]:
            axes.set_xlabel("queueing delay [ms]")
        for axes in made.axes[::columns]:
            axes.set_ylabel("link used [%]")
        legend(made, content)
        return svg(made, "effect", "utilisation over queueing delay in each basic scenario")


def trade_off(content: Json) -> str | None:
    """Throughput over delay as the queue grows: a line for each subject."""
    labels = cases(content, "trade-off")
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for mode in MODES:
        for subject in content["subjects"]:
            for label in labels:
                wait = value(content, "trade-off", label, subject, mode, "queue_mean")
                used = value(content, "trade-off", label, subject, mode, "utilisation")
                if wait and used:
                    point = (wait["mean"] * 1e3, used["mean"] * 100)
                    lines.setdefault((subject, mode), []).append(point)
    modes = [mode for mode in MODES if any(key[1] == mode for key in lines)]
    if len(labels) < 2 or not modes:
        return None
    with style():
        made = figure(3.0)
        panels = made.subplots(1, len(modes), squeeze=False, sharex=True, sharey=True)[0]
        for axes, mode in zip(panels, modes, strict=True):
            plain(axes)
            axes.set_title(MODES[mode])
            for subject, colour in colours(content):
                if (subject, mode) in lines:
                    across, up = zip(*lines[subject, mode], strict=True)
                    axes.plot(across, up, "o-", color=colour, markersize=4, label=unlisted(subject))
            axes.set_xlabel("queueing delay [ms]")
        waits = [wait for line in lines.values() for wait, _used in line]
        panels[0].set_xscale("log")
        panels[0].set_xlim(0.7 * max(min(waits), 0.1), 1.4 * max(waits))
        panels[0].xaxis.set_major_locator(FixedLocator((0.3, 1, 3, 10, 30, 100, 300)))
        panels[0].xaxis.set_minor_locator(NullLocator())
        panels[0].xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        from_full(panels[0])
        panels[0].set_ylabel("link used [%]")
        legend(made, content, modes=False)
        return svg(made, "trade-off", "utilisation over queueing delay for several queues")


def friendliness(content: Json) -> str | None:
    """Gain of the subject over the loss of the standard, beside Reno and beside CUBIC."""
    labels = cases(content, "impact")
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
            scatter(axes, content, "impact", label, "harm", "gain", 1, 1)
            axes.set_xlabel("L: what standard TCP keeps")
        panels[0].set(ylabel="G: what the control gains", xlim=(0, None), ylim=(0, None))
        legend(made, content)
        return svg(made, "friendliness", "gain over loss beside standard TCP")


_SHARING = (
    ("fairness", "ratio", "equal round trips"),
    ("rtt-fairness", "ratio", "unequal round trips"),
    ("bottlenecks", "long_share", "three bottlenecks"),
)


def sharing(content: Json) -> str | None:
    """What the weaker has of what the stronger has: equal and unequal paths."""
    shown = [each for each in _SHARING if cases(content, each[0])]
    if not shown:
        return None
    subjects = content["subjects"]
    with style():
        made = figure(0.9 + 0.3 * len(subjects))
        panels = made.subplots(1, len(shown), squeeze=False, sharey=True)[0]
        for axes, (scenario, measure, title) in zip(panels, shown, strict=True):
            plain(axes)
            label = cases(content, scenario)[0]
            axes.set_title(f"{title}{', ' + label if label else ''}")
            strip(axes, content, scenario, label, measure)
            axes.set_xlim(0, 1.15)
            axes.axvline(1, color=MUTED, linewidth=0.8, linestyle=":")
            axes.set_xlabel("weaker / stronger")
        panels[0].set_ylim(len(subjects) - 0.5, -0.5)
        legend(made, content, subjects=False)
        return svg(made, "sharing", "how evenly transfers share")


def first_over_time(content: Json, scenario: str) -> str | None:
    """Rates in the first case of a scenario."""
    names = [each["case"] for each in content["series"] if each["case"].split(" ")[0] == scenario]
    return over_time(content, names[0]) if names else None
