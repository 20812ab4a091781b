"""The figure of traces: each column over time, and its distribution."""

import math
from collections.abc import Sequence
from pathlib import Path

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.colours import LIGHT, MUTED
from longhaul.report.mpl import Axes
from longhaul.report.plotting import figure, paper
from longhaul.report.scales import is_wide
from longhaul.scenario.traces import COLUMNS, DELAY, RATE, RTT, Trace
from longhaul.storage import writing

MOST_LINES = 8
_LABELS = {RTT: "round trip [ms]", DELAY: "one-way delay [ms]", RATE: "rate [Mbit/s]"}


def draw_traces(traces: Sequence[Trace], path: Path, *, title: str) -> None:
    """Write the figure to ``path``, as PNG or SVG by its end. Raises :class:`LonghaulError`."""
    if path.suffix not in (".png", ".svg"):
        message = f'"{path.name}" is neither .png nor .svg'
        raise LonghaulError(
            Code.ARGUMENT_INVALID, message, remedy="name a figure with one of them", exit_code=2
        )
    if len(traces) > MOST_LINES:
        message = f"{len(traces)} links are too many for a figure"
        raise LonghaulError(
            Code.TRACE_LINK, message, remedy="choose one with --link SOURCE:DESTINATION", exit_code=2
        )
    names = [name for name in COLUMNS if any(name in trace.columns for trace in traces)]
    with paper():
        made = figure(0.4 + 2.1 * len(names))
        made.patch.set_alpha(1)
        axes = made.subplots(
            len(names), 2, squeeze=False, width_ratios=(3, 1), sharex="col" if len(names) == 1 else False
        )
        for row, name in zip(axes, names, strict=True):
            _draw(row[0], row[1], name, [trace for trace in traces if name in trace.columns])
        axes[-1][0].set_xlabel("time [s]")
        axes[-1][1].set_xlabel("share below")
        made.suptitle(title, x=0.01, ha="left", fontsize=10)
        if len(traces) > 1:
            axes[0][0].legend(loc="upper right", ncols=2)
        with writing(path):
            made.savefig(path, dpi=150)


def _draw(over_time: Axes, shares: Axes, name: str, traces: Sequence[Trace]) -> None:
    every: list[float] = []
    for trace in traces:
        # A gap is drawn as none: the line ends with what was known, and begins again behind it.
        values = [math.nan if value is None else value for value in trace.columns[name]]
        known = sorted(value for value in values if not math.isnan(value))
        times = [*trace.times_s, trace.times_s[-1] + trace.durations_s()[-1]]
        (line,) = over_time.step(
            times, [*values, values[-1]], where="post", label=str(trace.way or name), linewidth=1.0
        )
        if len(trace) == 1:
            over_time.axhline(values[0], color=line.get_color())
        ranks = [(number + 1) / len(known) for number in range(len(known))]
        shares.step(
            [0.0, *ranks], [known[0], *known], where="pre", color=line.get_color(), label=line.get_label()
        )
        every += known
    every.sort()
    mean = sum(every) / len(every)
    shares.axhline(mean, color=LIGHT[MUTED], linewidth=0.8, linestyle="--")
    shares.annotate(f"mean {mean:.4g}", (0.02, mean), va="bottom", fontsize=7.5, color=LIGHT[MUTED])
    over_time.set_ylabel(_LABELS[name])
    shares.set_xlim(0, 1)
    for axes in (over_time, shares):
        if every[0] > 0 and is_wide(every[len(every) // 2], every[-1]):
            axes.set_yscale("log")
        elif every[0] < every[-1] / 2:
            axes.set_ylim(bottom=0)
