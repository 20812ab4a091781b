"""The charts of a benchmark: a colour for each subject, filled signs for live, hollow ones for simulated."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.benchmark.rows import MODES, subjects_in
from longhaul.report.chart import Array, Axis, Chart, Key, Kind, Level, Mark, Panel, Series
from longhaul.report.colours import INK, MUTED, SERIES

Json = Mapping[str, Any]

BAND = 0.15
"""Live and simulated agree within this share."""
MOST_SUBJECTS = 6
"""In charts over time."""
SIGNS: Mapping[str, Kind] = {"live": "discs", "sim": "circles"}
_SIZE = 5.0
"""Of signs, in points."""
_ASIDE = {"live": -0.14, "sim": 0.14}
"""Of a row, from its middle to the signs of a mode."""
_RATIOS = (0.1, 10.0)
"""The ends of the axis of simulated over live; ratios beyond them are drawn there."""


def over_time(content: Json, case: str) -> Chart | None:
    """Rates in the first run of a case: a panel for each subject, live above simulated."""
    found = {
        (each["subject"], each["mode"]): each["columns"] for each in content["series"] if each["case"] == case
    }
    if not found:
        return None
    limits = next(
        each for scenario in content["scenarios"] for each in scenario["cases"] if each["name"] == case
    )
    modes = [mode for mode in MODES if any(key[1] == mode for key in found)]
    subjects = [each for each in content["subjects"] if any(key[0] == each for key in found)][:MOST_SUBJECTS]
    time = Axis("time [s]", low=0.0, high=limits["to_s"])
    rate = Axis("rate [Mbit/s]", low=0.0, high=limits["bits_per_s"] / 1e6 * 1.05)
    levels = [Level(limits["event_s"], MUTED, look="dotted", along="x")]
    panels = []
    for mode in modes:
        for subject in subjects:
            columns = found.get((subject, mode))
            title = f"{subject}, {MODES[mode]}" if columns else f"{subject}: not {MODES[mode]}"
            panels.append(Panel(title, time, rate, _rates(columns) if columns else (), levels))
    return in_rows(
        f"time-{case}", f"rates over time, {case}", panels, columns=_columns(len(subjects)), height_in=1.45,
        legend="above",
    )  # fmt: skip


def _rates(columns: Mapping[str, Sequence[float]]) -> list[Series]:
    t_s = np.array(columns["t_s"], dtype=float)
    names = [each for each in columns if each != "t_s"]
    return [
        Series(name, colour, t_s, np.array(columns[name], dtype=float), size=1.1)
        for name, colour in zip(names, SERIES, strict=False)
    ]


def _columns(panels: int) -> int:
    """So many side by side that rows are full, if possible; three at most."""
    return next((each for each in (3, 2) if panels % each == 0), min(panels, 3))


def in_rows(
    name: str, title: str, panels: Sequence[Panel], *, columns: int, height_in: float, **more: Any
) -> Chart:
    """A chart of panels from left to right, and then below, each so high."""
    rows = [tuple(panels[place : place + columns]) for place in range(0, len(panels), columns)]
    height = 0.6 + height_in * len(rows)
    return Chart(name, title, rows, height, widths=(1.0,) * len(rows[0]), **more)


def agreement(content: Json) -> Chart | None:
    """Simulated over live, for every measure that there is both ways."""
    compared = [each for each in content["compared"] if each["live"] > 0 and each["simulated"] > 0]
    if not compared:
        return None
    titles = {each["name"]: each["title"] for each in content["measures"]}
    names = [name for name in titles if any(each["measure"] == name for each in compared)]
    subjects = subjects_in(content, "live")
    series = []
    for subject, colour in colours(content):
        for disagrees, kind, words in ((False, "circles", "agree"), (True, "discs", "disagree")):
            mine = [each for each in compared if (each["subject"], each["disagrees"]) == (subject, disagrees)]
            if mine:
                # Subjects side by side, in the row of their measure.
                aside = 0.7 * ((subjects.index(subject) + 1) / (len(subjects) + 1) - 0.5)
                y = np.array([names.index(each["measure"]) + aside for each in mine])
                x = np.clip([each["simulated"] / each["live"] for each in mine], *_RATIOS)
                name = f"{subject}, {words}"
                series.append(Series(name, colour, x, y, kind=kind, listed=False, size=_SIZE))  # type: ignore[arg-type]
    panel = Panel(
        "",
        Axis("simulated / live; beyond 0.1 or 10 at the edge", is_logarithmic=True, low=0.09, high=11.0),
        Axis("", names=tuple(titles[name] for name in names)),
        series,
        levels=[Level(1.0, MUTED, along="x")],
        marks=[Mark(1 - BAND, 1 + BAND, "", MUTED, solid=False)],
    )
    key = [
        *(Key(subject, colour) for subject, colour in colours(content) if subject in subjects),
        Key("disagree", INK),
        Key("agree", INK, "circles"),
    ]
    title = "simulated over live for every measure"
    return Chart("agreement", title, [(panel,)], 0.8 + 0.22 * len(names), key=key)


def full_axis(label: str, shares: Sequence[float]) -> Axis:
    """An axis of per cent that ends a little above 100, and shows at least ten of them."""
    least = min(shares, default=100.0)
    low = max(0.0, min(least - 0.05 * (100 - least), 91.0))
    return Axis(label, low=low, high=100 + 0.06 * (100 - low))


def from_zero(label: str, series: Sequence[Series]) -> Axis:
    """An x axis from 0 to a little after the last of the signs, with its interval."""
    ends = [each.x if each.x_interval is None else np.fmax(each.x, each.x_interval[1]) for each in series]
    most = float(np.max(np.concatenate([np.zeros(1), *ends])))
    return Axis(label, low=0.0, high=1.08 * most or 1.0)


def scatter(
    content: Json, scenario: str, label: str, across: str, up: str, *, wide: float = 1, high: float = 1
) -> list[Series]:
    """One measure over another, for each subject and mode; ``wide`` and ``high`` are their factors."""
    found = []
    for subject, colour in colours(content):
        for mode in MODES:
            one = value(content, scenario, label, subject, mode, across)
            other = value(content, scenario, label, subject, mode, up)
            if one and other:
                x, y = _estimate(one, wide), _estimate(other, high)
                found.append(sign(subject, colour, mode, x[0], y[0], x_interval=x[1], y_interval=y[1]))
    return found


def strip(
    content: Json, scenario: str, label: str, measure: str, *, factor: float = 1
) -> tuple[list[Series], Axis]:
    """One measure of every subject, each in a row of its own, and the axis of rows; live above simulated."""
    found = []
    for place, (subject, colour) in enumerate(colours(content)):
        for mode, aside in _ASIDE.items():
            one = value(content, scenario, label, subject, mode, measure)
            if one:
                x, interval = _estimate(one, factor)
                found.append(sign(subject, colour, mode, x, np.array([place + aside]), x_interval=interval))
    return found, Axis("", names=tuple(content["subjects"]))


def _estimate(found: Json, factor: float) -> tuple[Array, tuple[Array, Array] | None]:
    """A mean and its interval, if it has one."""
    mean = np.array([found["mean"] * factor])
    half = found["half_width"]
    return mean, None if half is None else (mean - half * factor, mean + half * factor)


def sign(subject: str, colour: str, mode: str, x: Array, y: Array, **more: Any) -> Series:
    """Signs of a subject: filled if live, hollow if simulated."""
    name = f"{subject}, {MODES[mode]}"
    return Series(name, colour, x, y, kind=SIGNS[mode], listed=False, size=_SIZE, **more)


def subjects_key(content: Json, kind: Kind = "discs") -> list[Key]:
    """The colour of each subject."""
    return [Key(subject, colour, kind) for subject, colour in colours(content)]


def modes_key(content: Json) -> list[Key]:
    """The sign of each mode."""
    return [Key(MODES[mode], INK, SIGNS[mode]) for mode in MODES if subjects_in(content, mode)]


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
