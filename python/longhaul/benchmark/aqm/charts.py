"""The charts of queue disciplines: the trade-off of RFC 7928, section 2.7, and those of its scenarios."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.analysis.loss_patterns import contour
from longhaul.benchmark.aqm.measures import QUANTILES
from longhaul.benchmark.charts import (
    cases,
    colours,
    from_zero,
    in_rows,
    modes_key,
    sign,
    strip,
    subjects_key,
    value,
)
from longhaul.benchmark.rows import MODES, subjects_in
from longhaul.report.chart import Array, Axis, Chart, Key, Level, Panel, Series
from longhaul.report.colours import INK, MUTED

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
_DELAY = "queueing delay [ms]"
LEAST_MS = 0.01
"""The lower end of logarithmic axes of delay."""
_LEAST_OVER_TIME_MS = 0.1
_TURN = np.linspace(0, 2 * np.pi, 73)


def trade_off(content: Json) -> Chart | None:
    """Goodput over queueing delay: every run, the median, and the contour of the runs."""
    shown = [each for each in _TRADE_OFF if each[1] in cases(content, each[0])]
    if not shown:
        return None
    delay, goodput = Axis(_DELAY, is_logarithmic=True), Axis("goodput [Mbit/s]")
    panels = [
        Panel(
            title,
            delay,
            goodput,
            [
                series
                for subject, colour in colours(content)
                for mode in MODES
                for series in _runs(content, scenario, label, subject, mode, colour)
            ],
        )
        for scenario, label, title in shown
    ]
    title = "goodput over queueing delay, with contours over the runs"
    key = [*subjects_key(content), *modes_key(content)]
    return in_rows("trade-off", title, panels, columns=min(3, len(panels)), height_in=2.2, key=key)


def _runs(content: Json, scenario: str, label: str, subject: str, mode: str, colour: str) -> list[Series]:
    found = [value(content, scenario, label, subject, mode, name) for name in ("queue_mean", "goodput")]
    if found[0] is None or found[1] is None:
        return []
    points = np.column_stack([np.array(found[0]["values"]) * 1e3, np.array(found[1]["values"]) / 1e6])
    points[:, 0] = np.clip(points[:, 0], LEAST_MS, None)
    name = f"{subject}, {MODES[mode]}"
    middle = np.median(points, axis=0)
    x, y = points.T
    runs = Series(f"{name}, runs", colour, x, y, kind="dots", listed=False, size=2.5, opacity=0.5)
    median = sign(f"{subject}, median", colour, mode, middle[:1], middle[1:])
    ellipse = contour(points)
    if ellipse is None:
        return [runs, median]
    x, y = _outline(points.mean(axis=0), *ellipse)
    around = Series(
        f"{name}, contour", colour, np.clip(x, LEAST_MS, None), y, kind="curve", listed=False,
        dashed=_is_dashed(content, mode), size=0.8,
    )  # fmt: skip
    return [runs, median, around]


def _outline(centre: Array, major: float, minor: float, angle: float) -> tuple[Array, Array]:
    """An ellipse with these half axes, turned by an angle in degrees."""
    tilt = np.radians(angle)
    along, beside = major * np.cos(_TURN), minor * np.sin(_TURN)
    return (
        centre[0] + along * np.cos(tilt) - beside * np.sin(tilt),
        centre[1] + along * np.sin(tilt) + beside * np.cos(tilt),
    )


def distributions(content: Json) -> Chart | None:
    """Distribution functions of the queueing delays of packets in the first run."""
    found = {(each["case"], each["subject"], each["mode"]): each["columns"] for each in content["series"]}
    shown = [each for each in _DISTRIBUTIONS if any(key[0] == each[0] for key in found)]
    if not shown:
        return None
    packets = 100 * np.array(QUANTILES)
    panels = []
    for case, title in shown:
        series = []
        for subject, colour in colours(content):
            for mode in MODES:
                columns = found.get((case, subject, mode))
                if columns:
                    x = np.clip(columns["delay_ms"], LEAST_MS, None)
                    series.append(_curve(content, subject, colour, mode, x, packets))
        x_axis, y_axis = Axis(_DELAY, is_logarithmic=True), Axis("packets [%]", low=0.0, high=100.0)
        panels.append(Panel(title, x_axis, y_axis, series))
    title = "distribution of the queueing delay of packets"
    return in_rows(
        "distributions", title, panels, columns=len(panels), height_in=2.0, key=_lines_key(content)
    )


def course(content: Json, case: str, title: str) -> Chart | None:
    """Mean queueing delay over time in the first run, live beside simulated."""
    found = {
        (each["subject"], each["mode"]): each["columns"]
        for each in content["series"]
        if each["case"] == case and "t_s" in each["columns"]
    }
    modes = [mode for mode in MODES if any(key[1] == mode for key in found)]
    if not modes:
        return None
    panels = []
    for mode in modes:
        series = []
        for subject, colour in colours(content):
            columns = found.get((subject, mode))
            if columns:
                t_s, waits = np.array(columns["t_s"], dtype=float), np.array(columns["queue_ms"], dtype=float)
                waits = np.clip(waits, _LEAST_OVER_TIME_MS, None)
                series.append(Series(subject, colour, t_s, waits, size=1.1))
        delay = Axis(_DELAY, is_logarithmic=True)
        panels.append(Panel(f"{title}, {MODES[mode]}", Axis("time [s]"), delay, series))
    name = f"queueing delay over time, {title}"
    return in_rows(f"course-{case}", name, panels, columns=len(panels), height_in=2.0, legend="above")


def round_trips(content: Json) -> Chart | None:
    """What a flow has, against one of 100 ms, as its round-trip time grows."""
    labels = cases(content, "rtt-fairness")
    if not labels:
        return None
    trips = [float(label.split(" ")[0]) for label in labels]
    panel = Panel(
        "",
        Axis("round-trip time [ms]", is_logarithmic=True),
        Axis("goodput / that of 100 ms", is_logarithmic=True),
        _joined(content, "rtt-fairness", labels, "ratio", trips, factor=1),
        levels=[Level(1.0, MUTED, look="dotted")],
    )
    title = "goodput against that of a flow of 100 ms"
    key = [*subjects_key(content), *modes_key(content)]
    return in_rows("round-trips", title, [panel], columns=1, height_in=2.2, key=key)


def levels(content: Json) -> Chart | None:
    """Delay, loss and synchronisation as the load grows."""
    labels = cases(content, "congestion")
    if not labels:
        return None
    places = [float(place) for place in range(len(labels))]
    panels = [
        Panel(
            "",
            Axis("", names=tuple(labels)),
            Axis(title, low=0.0),
            _joined(content, "congestion", labels, measure, places, factor=factor),
        )
        for measure, factor, title in _LEVELS
    ]
    title = "delay, loss and synchronisation at three levels of congestion"
    key = [*subjects_key(content), *modes_key(content)]
    return in_rows("levels", title, panels, columns=len(panels), height_in=2.0, key=key)


def _joined(
    content: Json,
    scenario: str,
    labels: Sequence[str],
    measure: str,
    places: Sequence[float],
    *,
    factor: float,
) -> list[Series]:
    """A measure in each case of a scenario, for each subject and mode."""
    series = []
    for subject, colour in colours(content):
        for mode in MODES:
            found = [value(content, scenario, label, subject, mode, measure) for label in labels]
            drawn = [(at, each["mean"] * factor) for at, each in zip(places, found, strict=True) if each]
            if drawn:
                x, y = np.array(drawn).T
                dashed = _is_dashed(content, mode)
                series.append(sign(subject, colour, mode, x, y, joined=True, dashed=dashed))
    return series


def real_time(content: Json, scenario: str) -> Chart | None:
    """What users of short transfers, video and calls notice."""
    panels = []
    for name, label, measure, factor, title in _REAL_TIME:
        series, rows = strip(content, name, label, measure, factor=factor)
        if name == scenario and series:
            panels.append(Panel("", from_zero(title, series), rows, series))
    if not panels:
        return None
    height = 0.3 + 0.3 * len(content["subjects"])
    title = "what short transfers, video and calls notice"
    key = modes_key(content) if len(content["modes"]) > 1 else []
    return in_rows(f"real-time-{scenario}", title, panels, columns=len(panels), height_in=height, key=key)


def _curve(content: Json, subject: str, colour: str, mode: str, x: Array, y: Array) -> Series:
    name = f"{subject}, {MODES[mode]}"
    return Series(name, colour, x, y, kind="curve", listed=False, dashed=_is_dashed(content, mode))


def _is_dashed(content: Json, mode: str) -> bool:
    """Whether lines of a mode are dashed: those of simulations beside live ones."""
    return mode == "sim" and len(content["modes"]) > 1


def _lines_key(content: Json) -> list[Key]:
    modes = [mode for mode in MODES if subjects_in(content, mode)]
    looks = [Key(MODES[mode], INK, "line", _is_dashed(content, mode)) for mode in modes]
    return [*subjects_key(content, "line"), *(looks if len(modes) > 1 else ())]
