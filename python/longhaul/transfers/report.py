"""Transfer plans for notebooks, and as charts."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from longhaul.report import notebook
from longhaul.report.chart import Axis, Chart, Panel, Series, column, left_out_text
from longhaul.report.colours import SERIES
from longhaul.report.files import write_charts
from longhaul.report.gantt import Bar, GanttRow, gantt_chart, time_axis
from longhaul.transfers.plan.plan_data import plan_as_plain
from longhaul.transfers.plan.plans import Outcome, Plan, loads
from longhaul.units.configured import rate, size

MOST_LINKS = len(SERIES)


def gantt(plan: Plan) -> Chart | None:
    """Each request's window, and on it when it moves; ``None`` without requests."""
    return gantt_chart("gantt", f"Gantt chart: when each request moves by {plan.policy}", _rows(plan))


def _rows(plan: Plan) -> list[GanttRow]:
    return [_row(each) for each in sorted(plan.outcomes, key=lambda each: each.request.release_s)]


def _row(outcome: Outcome) -> GanttRow:
    request = outcome.request
    return GanttRow(
        request.name,
        request.release_s,
        request.deadline_s if math.isfinite(request.deadline_s) else None,
        [Bar(piece.start_s, piece.finish_s, piece.bits_per_s) for piece in outcome.pieces],
        is_good=outcome.satisfied,
        is_refused=not outcome.pieces,
    )


def link_loads(plan: Plan) -> Chart | None:
    """The load of the busiest links over time, as a share of their capacity; ``None`` if nothing moves.

    Its time axis is that of :func:`gantt`.
    """
    found = []
    for link, (times, load) in zip(plan.instance.links, loads(plan), strict=True):
        share = load / link.bits_per_s
        found.append((float(np.sum(np.diff(times) * share[:-1])), link.name, times, share))
    used = sorted((each for each in found if each[0] > 0), key=lambda each: -each[0])
    if not used:
        return None
    series = [
        Series(name, colour, times, 100 * share, kind="steps-after")
        for (_moved, name, times, share), colour in zip(used, SERIES, strict=False)
    ]
    note = left_out_text(len(used), len(series), "The {shown} of {every} links that carry most")
    load_axis = Axis("load [% of capacity]", low=0.0, high=105.0)
    panel = Panel("", time_axis(_rows(plan)), load_axis, series, note=note)
    title = f"load of the busiest links by {plan.policy}"
    return Chart("loads", title, column([panel]), height_in=3.4, legend="beside")


def charts(plan: Plan) -> dict[str, Callable[[], Chart | None]]:
    """How to make each chart of a plan, by name."""
    return {"gantt": lambda: gantt(plan), "loads": lambda: link_loads(plan)}


def write_plan(plan: Plan, folder: Path) -> None:
    """``plan.json``, ``gantt.svg`` and ``loads.svg`` in ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plan_as_plain(plan), indent=1, allow_nan=False)
    (folder / "plan.json").write_text(text + "\n", encoding="utf-8")
    write_charts((chart for make in charts(plan).values() if (chart := make())), folder, ["svg"])


def plan_html(plan: Plan) -> str:
    """Of a plan: who moves when, and who does not."""
    lines = [
        (
            each.request.name,
            f"{each.request.source} to {each.request.destination}",
            size(each.request.volume_bytes),
            *(
                (f"{each.start_s:.6g} s", f"{each.finish_s:.6g} s", rate(round(each.bits_per_s)))
                if each.pieces
                else ("-", "-", "-")
            ),
            "" if each.satisfied else str(each.reason),
        )
        for each in plan.outcomes[: notebook.MOST_ROWS]
    ]
    lost = sum(not each.satisfied for each in plan.outcomes)
    told = f"{len(plan.outcomes) - lost} of {len(plan.outcomes)} requests satisfied"
    heads = ("request", "way", "volume", "start", "finish", "rate", "why not")
    head = f"{notebook.strong(plan.policy)}: {notebook.judged(told, good=not lost)}"
    return notebook.paragraph(head) + notebook.html_table(heads, lines)
