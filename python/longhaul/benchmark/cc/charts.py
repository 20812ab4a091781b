"""The charts of congestion-control algorithms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from longhaul.benchmark.charts import (
    cases,
    colours,
    from_zero,
    full_axis,
    in_rows,
    modes_key,
    over_time,
    scatter,
    strip,
    subjects_key,
    value,
)
from longhaul.benchmark.rows import MODES
from longhaul.report.chart import Axis, Chart, Level, Panel, Series
from longhaul.report.colours import MUTED

Json = Mapping[str, Any]

BASIC = ("access", "data-centre", "trans-oceanic", "satellite", "wireless", "dial-up")
"""The basic scenarios of the draft (section 4.4)."""
_DELAY, _USED = "queueing delay [ms]", "link used [%]"
_LEAST_MS = 0.1
"""The lower end of the logarithmic axis of delay."""


def effect(content: Json) -> Chart | None:
    """How full the link and how long the queue, in each basic scenario."""
    shown = [each for each in content["scenarios"] if each["name"] in BASIC]
    panels = []
    for scenario in shown:
        series = scatter(content, scenario["name"], "", "queue_mean", "utilisation", wide=1e3, high=100)
        used = full_axis(_USED, [float(y) for each in series for y in each.y])
        panels.append(Panel(scenario["title"], from_zero(_DELAY, series), used, series))
    if not panels:
        return None
    title = "utilisation over queueing delay in each basic scenario"
    key = [*subjects_key(content), *modes_key(content)]
    return in_rows("effect", title, panels, columns=min(3, len(panels)), height_in=2.1, key=key)


def trade_off(content: Json) -> Chart | None:
    """Throughput over delay as the queue grows: a line for each subject."""
    labels = cases(content, "trade-off")
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for mode in MODES:
        for subject in content["subjects"]:
            for label in labels:
                wait = value(content, "trade-off", label, subject, mode, "queue_mean")
                used = value(content, "trade-off", label, subject, mode, "utilisation")
                if wait and used:
                    point = (max(wait["mean"] * 1e3, _LEAST_MS), used["mean"] * 100)
                    lines.setdefault((subject, mode), []).append(point)
    modes = [mode for mode in MODES if any(key[1] == mode for key in lines)]
    if len(labels) < 2 or not modes:
        return None
    points = np.array([point for line in lines.values() for point in line])
    low, high = 0.7 * float(points[:, 0].min()), 1.4 * float(points[:, 0].max())
    delay = Axis(_DELAY, is_logarithmic=True, low=low, high=high)
    used_axis = full_axis(_USED, points[:, 1].tolist())
    panels = []
    for mode in modes:
        series = []
        for subject, colour in colours(content):
            if (subject, mode) in lines:
                x, y = np.array(lines[subject, mode]).T
                series.append(
                    Series(subject, colour, x, y, kind="discs", listed=False, size=4.0, joined=True)
                )
        panels.append(Panel(MODES[mode], delay, used_axis, series))
    title = "utilisation over queueing delay for several queues"
    key = subjects_key(content)
    return in_rows("trade-off", title, panels, columns=len(panels), height_in=2.4, key=key)


def friendliness(content: Json) -> Chart | None:
    """Gain of the subject over the loss of the standard, beside Reno and beside CUBIC."""
    found = {label: scatter(content, "impact", label, "harm", "gain") for label in cases(content, "impact")}
    if not found:
        return None
    kept = from_zero("L: what standard TCP keeps", [each for some in found.values() for each in some])
    levels = [Level(1.0, MUTED, along="x"), Level(1.0, MUTED)]
    gain = Axis("G: what the control gains", low=0.0)
    panels = [Panel(label, kept, gain, series, levels) for label, series in found.items()]
    key = [*subjects_key(content), *modes_key(content)]
    title = "gain over loss beside standard TCP"
    return in_rows("friendliness", title, panels, columns=len(panels), height_in=2.7, key=key)


_SHARING = (
    ("fairness", "ratio", "equal round trips"),
    ("rtt-fairness", "ratio", "unequal round trips"),
    ("bottlenecks", "long_share", "three bottlenecks"),
)


def sharing(content: Json) -> Chart | None:
    """What the weaker has of what the stronger has: equal and unequal paths."""
    panels = []
    for scenario, measure, title in _SHARING:
        label = next(iter(cases(content, scenario)), None)
        if label is None:
            continue
        series, rows = strip(content, scenario, label, measure)
        level = Level(1.0, MUTED, look="dotted", along="x")
        share = Axis("weaker / stronger", low=0.0, high=1.15)
        panels.append(Panel(f"{title}, {label}" if label else title, share, rows, series, [level]))
    if not panels:
        return None
    height = 0.3 + 0.3 * len(content["subjects"])
    title = "how evenly transfers share"
    return in_rows("sharing", title, panels, columns=len(panels), height_in=height, key=modes_key(content))


def first_over_time(content: Json, scenario: str) -> Chart | None:
    """Rates in the first case of a scenario."""
    names = [each["case"] for each in content["series"] if each["case"].split(" ")[0] == scenario]
    return over_time(content, names[0]) if names else None
