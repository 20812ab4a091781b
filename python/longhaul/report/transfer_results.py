"""The results of transfer plans as rows of a table, and as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longhaul.report.chart import Axis, Chart, Panel, Series, column
from longhaul.report.colours import BAD, MUTED, SERIES
from longhaul.report.over_time import with_marks
from longhaul.units.configured import rate, share, size

Json = Mapping[str, Any]

MOST_ROWS, MOST_BARS = 40, 60


def measured(found: Json) -> list[tuple[str, str]]:
    """The measures of the plan, and of what was achieved, in words."""
    return [(name, _measures(found[name])) for name in ("planned", "achieved")]


def rows(found: Json) -> list[dict[str, str]]:
    """Requests as cells of a table."""
    return [
        {
            "name": each["request"],
            "way": f"{each['from']} > {each['to']}",
            "volume": size(each["volume_bytes"]),
            "deadline": "-" if each["deadline_s"] is None else f"{each['deadline_s']:.6g} s",
            **{f"{name}_{key}": _cell(each[name], key) for name in ("planned", "achieved") for key in _KEYS},
            "off": "-" if each["finish_off"] is None else f"{100 * each['finish_off']:+.1f} %",
            "met": "yes" if each["met"] else "no",
            "reason": each["reason"] or "",
        }
        for each in found["requests"]
    ]


def gantt(found: Json, changes: Sequence[Json] = ()) -> Chart | None:
    """Each request's rates as planned, above, and from its begin to its end as achieved, below."""
    shown = [each for each in found["requests"] if each["planned"]][:MOST_BARS]
    if not shown:
        return None
    top = max(piece["bits_per_s"] for each in shown for piece in each["planned"]["pieces"])
    planned = [
        (piece["start_s"], row - 0.2, piece["finish_s"], round(0.25 + 0.75 * piece["bits_per_s"] / top, 2))
        for row, each in enumerate(shown)
        for piece in each["planned"]["pieces"]
    ]
    # Bars of one shade are one series.
    series = [
        _bars("planned", SERIES[0], [bar[:3] for bar in planned if bar[3] == shade], shade)
        for shade in sorted({bar[3] for bar in planned})
    ]
    for is_met, colour in ((True, SERIES[2]), (False, BAD)):
        achieved = [
            (each["achieved"]["start_s"], row + 0.2, each["achieved"]["finish_s"])
            for row, each in enumerate(shown)
            if each["achieved"] and bool(each["met"]) is is_met
        ]
        if achieved:
            series.append(_bars("achieved", colour, achieved, 1.0))
    deadlines = [
        (each["deadline_s"], row) for row, each in enumerate(shown) if each["deadline_s"] is not None
    ]
    if deadlines:
        at, places = np.array(deadlines, dtype=float).T
        series.append(
            Series(
                "deadline",
                MUTED,
                at,
                places + 0.42,
                kind="strokes",
                listed=False,
                size=1,
                low=places - 0.42,
                to_x=at,
            )
        )
    ends = [each[name]["finish_s"] for each in shown for name in ("planned", "achieved") if each[name]]
    ends += [at_s for at_s, _row in deadlines]
    panel = Panel(
        "",
        Axis("time of the plan [s]", low=0, high=1.05 * max(ends)),
        Axis("", names=tuple(each["request"] for each in shown)),
        series=series,
    )
    return Chart(
        "carried",
        "transfers as planned and as achieved",
        column(with_marks([panel], changes, from_s=found["begins_s"])),
        height_in=1.0 + 0.34 * len(shown),
    )


def _bars(name: str, colour: str, bars: Sequence[tuple[float, float, float]], opacity: float) -> Series:
    """Bars from begin to end, in s, each in a row."""
    begin, row, end = np.array(bars, dtype=float).T
    return Series(name, colour, begin, row, kind="bars", listed=False, size=0.36, opacity=opacity, to_x=end)


_KEYS = ("start_s", "finish_s", "bits_per_s")


def _cell(times: Json | None, key: str) -> str:
    if times is None:
        return "-"
    return rate(round(times[key])) if key == "bits_per_s" else f"{times[key]:.3f} s"


def _measures(found: Json) -> str:
    parts = [f"{found['satisfied']} of {found['requests']} satisfied"]
    if found["f1_s"] is not None:
        parts.append(f"f1 {found['f1_s']:.4g} s")
    if found["f2_over_time"] is not None:
        parts.append(f"f2 {share(found['f2_over_time'])} (as printed {found['f2_as_printed']:.4g})")
    if found["flow_time_mean_s"] is not None:
        parts.append(f"mean flow time {found['flow_time_mean_s']:.4g} s")
    if found["jain"] is not None:
        parts.append(f"Jain {found['jain']:.4f}")
    return "; ".join(parts)
