"""Transfer plans for notebooks, and as figures."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from longhaul.report import notebook
from longhaul.report.colours import MUTED, SERIES
from longhaul.report.mpl import Figure
from longhaul.report.plotting import figure, paper, plain
from longhaul.transfers.plan.plan_data import plan_as_plain
from longhaul.transfers.plan.plans import Outcome, Plan, loads
from longhaul.units.configured import rate, size

MOST_BARS, MOST_LINKS = 60, 8


def draw_gantt(plan: Plan, path: Path) -> None:
    """:func:`gantt` as a file."""
    with paper():
        gantt(plan).savefig(path, facecolor="white")


def gantt(plan: Plan) -> Figure:
    """Each request's window as a pale bar, and on it when it moves, the darker the faster."""
    tops = plan.instance.tops_bits_per_s
    shown = sorted(zip(plan.outcomes, tops, strict=True), key=lambda each: each[0].request.release_s)[
        :MOST_BARS
    ]
    drawn = figure(1.2 + 0.2 * len(shown))
    axes = drawn.add_subplot()
    plain(axes)
    end_s = _end_s(plan)
    for row, (outcome, top) in enumerate(shown):
        _bar(drawn, row, outcome, top, end_s)
    axes.set_yticks(range(len(shown)), [each.request.name for each, _top in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel("time (s)")
    axes.set_title(f"{plan.policy}: windows (outlined), and when requests move; refused ones crossed")
    return drawn


def draw_loads(plan: Plan, path: Path) -> None:
    """The load of the busiest links over time, as a share of their capacity."""
    with paper():
        drawn = figure(3.4)
        axes = drawn.add_subplot()
        plain(axes)
        found = []
        for link, (times, load) in zip(plan.instance.links, loads(plan), strict=True):
            used = load / link.bits_per_s
            found.append((float(np.sum(np.diff(times) * used[:-1])), link.name, times, used))
        found.sort(key=lambda each: -each[0])
        for moved, name, times, used in found[:MOST_LINKS]:
            if moved > 0:
                axes.step(times, 100 * used, where="post", label=name)
        axes.set_ylim(0, 105)
        axes.set_xlabel("time (s)")
        axes.set_ylabel("load (% of capacity)")
        axes.set_title(f"{plan.policy}: the busiest links")
        if axes.lines:
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        drawn.savefig(path, facecolor="white")


def write_plan(plan: Plan, folder: Path) -> None:
    """``plan.json``, ``gantt.svg`` and ``loads.svg`` in ``folder``, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plan_as_plain(plan), indent=1, allow_nan=False)
    (folder / "plan.json").write_text(text + "\n", encoding="utf-8")
    draw_gantt(plan, folder / "gantt.svg")
    draw_loads(plan, folder / "loads.svg")


def _bar(drawn: Figure, row: int, outcome: Outcome, top: float, end_s: float) -> None:
    axes = drawn.axes[0]
    request = outcome.request
    last_s = min(request.deadline_s, end_s)
    width = last_s - request.release_s
    axes.barh(
        row,
        width,
        left=request.release_s,
        height=0.7,
        facecolor="none",
        edgecolor=MUTED,
        lw=0.5,
    )
    colour = SERIES[0] if outcome.satisfied else SERIES[1]
    for piece in outcome.pieces:
        alpha = 0.25 + 0.75 * min(1.0, piece.bits_per_s / top)
        span = piece.finish_s - piece.start_s
        axes.barh(row, span, left=piece.start_s, height=0.7, color=colour, alpha=alpha, lw=0)
    if not outcome.pieces:
        look: dict[str, Any] = {"color": SERIES[1], "lw": 1, "marker": "x", "markersize": 3}
        axes.plot([request.release_s, last_s], [row, row], **look)


def _end_s(plan: Plan) -> float:
    """Where the time of the picture ends, also for requests without a deadline."""
    known = [each.finish_s for each in plan.running]
    known += [each.request.deadline_s for each in plan.outcomes if each.request.deadline_s < float("inf")]
    return max(known, default=max((each.request.release_s for each in plan.outcomes), default=0.0) + 1.0)


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
