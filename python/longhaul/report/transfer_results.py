"""The results of transfer plans as rows of a table, and as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.report.over_time import mark_changes
from longhaul.report.plotting import BAD, MUTED, SERIES, figure, plain, style, svg
from longhaul.report.points import unlisted
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


def gantt(found: Json, changes: Sequence[Json] = ()) -> str | None:
    """Each request's rates as planned, above, and from its begin to its end as achieved, below."""
    shown = [each for each in found["requests"] if each["planned"]][:MOST_BARS]
    if not shown:
        return None
    top = max(piece["bits_per_s"] for each in shown for piece in each["planned"]["pieces"])
    with style():
        made = figure(1.0 + 0.34 * len(shown))
        axes = made.add_subplot()
        plain(axes)
        for row, each in enumerate(shown):
            for piece in each["planned"]["pieces"]:
                alpha = 0.25 + 0.75 * min(1.0, piece["bits_per_s"] / top)
                span = piece["finish_s"] - piece["start_s"]
                axes.barh(
                    row - 0.2,
                    span,
                    left=piece["start_s"],
                    height=0.36,
                    color=SERIES[0],
                    alpha=alpha,
                    lw=0,
                    label=unlisted("planned"),
                )
            if each["achieved"]:
                span = each["achieved"]["finish_s"] - each["achieved"]["start_s"]
                colour = SERIES[2] if each["met"] else BAD
                begin = each["achieved"]["start_s"]
                axes.barh(
                    row + 0.2, span, left=begin, height=0.36, color=colour, lw=0, label=unlisted("achieved")
                )
            if each["deadline_s"] is not None:
                axes.plot(
                    [each["deadline_s"]] * 2,
                    [row - 0.42, row + 0.42],
                    color=MUTED,
                    lw=1,
                    label=unlisted("deadline"),
                )
        ends = [each[name]["finish_s"] for each in shown for name in ("planned", "achieved") if each[name]]
        ends += [each["deadline_s"] for each in shown if each["deadline_s"] is not None]
        axes.set_xlim(0, 1.05 * max(ends))
        axes.set_ylim(len(shown) - 0.5, -0.5)
        mark_changes([axes], changes, from_s=found["begins_s"])
        axes.set_yticks(range(len(shown)), [each["request"] for each in shown])
        axes.set_xlabel("time of the plan [s]")
        return svg(made, "carried", "transfers as planned and as achieved")


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
