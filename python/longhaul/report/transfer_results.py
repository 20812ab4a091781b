"""The results of transfer plans as rows of a table, and as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

from longhaul.report.chart import Chart
from longhaul.report.gantt import Bar, GanttRow, gantt_chart
from longhaul.units.configured import rate, share, size

Json = Mapping[str, Any]

MOST_ROWS = 40


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
    """Each request's rates as planned, above, and as achieved, below."""
    return gantt_chart(
        "carried",
        "Gantt chart: when each request was planned, and when it moved",
        [_gantt_row(each) for each in found["requests"]],
        time_label="time of the plan [s]",
        changes=changes,
        from_s=found.get("begins_s") or 0.0,
    )


def _gantt_row(request: Json) -> GanttRow:
    planned, achieved = (
        [Bar(piece["start_s"], piece["finish_s"], piece["bits_per_s"]) for piece in moved["pieces"]]
        if moved
        else []
        for moved in (request["planned"], request["achieved"])
    )
    return GanttRow(
        request["request"],
        request["release_s"],
        request["deadline_s"],
        planned,
        achieved,
        is_good=bool(request["met"]),
        is_refused=not planned and not achieved,
    )


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
