"""The figures of a benchmark: one colour for each subject, filled for live, hollow for simulated."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.benchmark.rows import MODES, subjects_in
from longhaul.report.colours import GRID, INK, MUTED, SERIES
from longhaul.report.mpl import Axes, Figure, FixedLocator, FuncFormatter, Line2D, NullFormatter, NullLocator
from longhaul.report.plotting import figure, plain, style, svg, unlisted

Json = Mapping[str, Any]

BAND = 0.15
"""Live and simulated agree within this share."""
MOST_COLUMNS = 6


def over_time(content: Json, case: str) -> str | None:
    """Rates in the first run: a column for each subject, live above simulated."""
    found = {
        (each["subject"], each["mode"]): each["columns"] for each in content["series"] if each["case"] == case
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
    subjects = [each for each in content["subjects"] if any(key[0] == each for key in found)]
    subjects = subjects[:MOST_COLUMNS]
    with style():
        made = figure(0.7 + 1.45 * len(modes))
        grid = made.subplots(len(modes), len(subjects), squeeze=False, sharex=True, sharey=True)
        names: dict[str, str] = {}
        for row, mode in zip(grid, modes, strict=True):
            for axes, subject in zip(row, subjects, strict=True):
                plain(axes)
                series = found.get((subject, mode))
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
        for axes, subject in zip(grid[0], subjects, strict=True):
            axes.set_title(subject)
        for row, mode in zip(grid, modes, strict=True):
            row[0].set_ylabel(f"{MODES[mode]} [Mbit/s]")
        for axes in grid[-1]:
            axes.set_xlabel("time [s]")
        handles = [Line2D([], [], color=colour, label=name) for name, colour in names.items()]
        made.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return svg(made, f"time-{case}", f"rates over time, {case}")


def agreement(content: Json) -> str | None:
    """Simulated over live, for every measure that there is both ways."""
    compared = [each for each in content["compared"] if each["live"] > 0 and each["simulated"] > 0]
    if not compared:
        return None
    titles = {each["name"]: each["title"] for each in content["measures"]}
    names = [name for name in titles if any(each["measure"] == name for each in compared)]
    palette = dict(colours(content))
    subjects = subjects_in(content, "live")
    with style():
        made = figure(0.8 + 0.22 * len(names))
        axes = made.subplots()
        plain(axes)
        axes.axvspan(1 - BAND, 1 + BAND, color=GRID, alpha=0.6, linewidth=0)
        axes.axvline(1, color=MUTED, linewidth=0.8)
        for each in compared:
            shift = (subjects.index(each["subject"]) + 1) / (len(subjects) + 1) - 0.5
            ratio = min(max(each["simulated"] / each["live"], 0.1), 10)
            axes.plot(
                ratio,
                names.index(each["measure"]) + 0.7 * shift,
                marker="o",
                markersize=3.6,
                linestyle="",
                label=unlisted(each["subject"]),
                color=palette[each["subject"]],
                markerfacecolor=palette[each["subject"]] if each["disagrees"] else "none",
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
            Line2D([], [], marker="o", linestyle="", color=palette[each], label=each) for each in subjects
        ]
        made.legend(handles=handles, loc="outside upper center", ncols=len(handles))
        return svg(made, "agreement", "simulated over live for every measure")


def from_full(axes: Axes) -> None:
    """An axis of per cent that ends a little above 100, and shows at least ten of them."""
    low, _high = axes.get_ylim()
    low = max(0.0, min(low, 91.0))
    axes.set_ylim(low, 100 + 0.06 * (100 - low))


def scatter(
    axes: Axes, content: Json, scenario: str, label: str, across: str, up: str, wide: float, high: float
) -> None:
    """Mark one measure over another, for each subject and mode."""
    for subject, colour in colours(content):
        for mode in MODES:
            one = value(content, scenario, label, subject, mode, across)
            other = value(content, scenario, label, subject, mode, up)
            if one and other:
                x_half, y_half = (
                    each["half_width"] * factor if each["half_width"] else None
                    for each, factor in ((one, wide), (other, high))
                )
                point(axes, one["mean"] * wide, other["mean"] * high, x_half, y_half, colour, mode, subject)


def strip(axes: Axes, content: Json, scenario: str, label: str, measure: str, *, factor: float = 1) -> None:
    """Mark one measure of every subject, each in a row of its own; live above simulated."""
    for place, (subject, colour) in enumerate(colours(content)):
        for mode, shift in (("live", -0.14), ("sim", 0.14)):
            found = value(content, scenario, label, subject, mode, measure)
            if found:
                half = found["half_width"] * factor if found["half_width"] is not None else None
                point(axes, found["mean"] * factor, place + shift, half, None, colour, mode, subject)
    subjects = content["subjects"]
    axes.set_yticks(range(len(subjects)), subjects, color=INK)


def point(
    axes: Axes,
    x: float,
    y: float,
    x_half: float | None,
    y_half: float | None,
    colour: str,
    mode: str,
    subject: str,
) -> None:
    """Mark a point with its intervals: filled if live, hollow if simulated."""
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
        label=unlisted(f"{subject}, {MODES[mode]}"),
    )


def legend(made: Figure, content: Json, *, subjects: bool = True, modes: bool = True) -> None:
    """Put the names of subjects and modes above a figure."""
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=subject)
        for subject, colour in colours(content)
        if subjects
    ]
    if modes:
        handles += [
            Line2D([], [], marker="o" if mode == "live" else "s", linestyle="", color=INK, label=MODES[mode],
                   markerfacecolor=INK if mode == "live" else "none")
            for mode in MODES if subjects_in(content, mode)
        ]  # fmt: skip
    made.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 9), columnspacing=1.2)


def colours(content: Json) -> list[tuple[str, str]]:
    """Every subject and its colour."""
    return [(subject, SERIES[place % len(SERIES)]) for place, subject in enumerate(content["subjects"])]


def cases(content: Json, scenario: str) -> Sequence[str]:
    """Labels of the cases of a scenario."""
    return list(dict.fromkeys(each["case"] for each in content["results"] if each["scenario"] == scenario))


def value(content: Json, scenario: str, label: str, subject: str, mode: str, measure: str) -> Json | None:
    """One result, if there is it."""
    wanted = (scenario, label, subject, mode, measure)
    keys = ("scenario", "case", "subject", "mode", "measure")
    return next((each for each in content["results"] if tuple(each[key] for key in keys) == wanted), None)
