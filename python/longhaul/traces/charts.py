"""The chart of traces: each column over time, and its distribution."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.chart import Axis, Chart, Level, Panel, Series
from longhaul.report.colours import MUTED, SERIES
from longhaul.report.formats import FORMATS
from longhaul.report.scales import is_wide
from longhaul.scenario.traces import COLUMNS, DELAY, RATE, RTT, Trace
from longhaul.storage import writing

MOST_LINES = len(SERIES)
_LABELS = {RTT: "RTT [ms]", DELAY: "one-way delay [ms]", RATE: "rate [Mbit/s]"}


def trace_chart(traces: Sequence[Trace], *, title: str) -> Chart:
    """The chart of at most :data:`MOST_LINES` traces. Raises :class:`LonghaulError` if there are more."""
    if len(traces) > MOST_LINES:
        message = f"{len(traces)} links are too many for a figure"
        raise LonghaulError(
            Code.TRACE_LINK, message, remedy="choose one with --link SOURCE:DESTINATION", exit_code=2
        )
    names = [name for name in COLUMNS if any(name in trace.columns for trace in traces)]
    rows = [
        _row(name, [trace for trace in traces if name in trace.columns], title=title if not place else "")
        for place, name in enumerate(names)
    ]
    height_in = 0.5 + 2.1 * len(names)
    return Chart("trace", title, rows, height_in=height_in, widths=(3.0, 1.0), legend="inside")


def write_trace_chart(traces: Sequence[Trace], path: Path, *, title: str) -> None:
    """Write the chart to ``path``, as what its name ends in says. Raises :class:`LonghaulError`."""
    if path.suffix[1:] not in FORMATS:
        ends = ", ".join(f".{each}" for each in FORMATS)
        message = f'"{path.name}" ends in none of {ends}'
        raise LonghaulError(
            Code.ARGUMENT_INVALID, message, remedy="name a file with one of them", exit_code=2
        )
    from longhaul.report.files import write_chart

    chart = trace_chart(traces, title=title)
    with writing(path):
        write_chart(chart, path)


def _row(name: str, traces: Sequence[Trace], *, title: str) -> tuple[Panel, Panel]:
    over_time, shares, every = [], [], []
    for trace, colour in zip(traces, SERIES, strict=False):
        # A gap is drawn as none: the line ends with what was known, and begins again behind it.
        values = np.array([np.nan if value is None else value for value in trace.columns[name]], dtype=float)
        known = np.sort(values[~np.isnan(values)])
        times = np.array([*trace.times_s, trace.times_s[-1] + trace.durations_s()[-1]], dtype=float)
        label, is_listed = str(trace.way or name), len(traces) > 1
        look = {"listed": is_listed, "size": 1.0}
        held = np.append(values, values[-1])
        over_time.append(Series(label, colour, times, held, kind="steps-after", **look))  # type: ignore[arg-type]
        ranks = np.arange(len(known) + 1) / len(known)
        below = np.concatenate([known[:1], known])
        shares.append(Series(label, colour, ranks, below, kind="steps-before", **look))  # type: ignore[arg-type]
        every.append(known)
    together = np.sort(np.concatenate(every))
    mean = float(together.mean())
    is_logarithmic = bool(
        together[0] > 0 and is_wide(float(together[len(together) // 2]), float(together[-1]))
    )
    low = 0.0 if not is_logarithmic and together[0] < together[-1] / 2 else None
    values_axis = Axis(_LABELS[name], is_logarithmic=is_logarithmic, low=low)
    shares_axis = Axis("", is_logarithmic=is_logarithmic, low=low)
    return (
        Panel(title, Axis("time [s]"), values_axis, over_time),
        Panel(
            "",
            Axis("share below", low=0.0, high=1.0),
            shares_axis,
            shares,
            levels=[Level(mean, MUTED, f"mean {mean:.4g}")],
        ),
    )
