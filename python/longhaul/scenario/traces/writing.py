"""Traces as the text of a CSV file."""

from collections.abc import Sequence
from itertools import chain

from longhaul.scenario.traces.spelling import ENDS, MARK, VERSION
from longhaul.scenario.traces.trace import COLUMNS, Trace, Way


def text_of_traces(traces: Sequence[Trace]) -> str:
    """One trace as a file of one link; several, each with its way, as one of several links.

    Every number comes back as it was.
    """
    several = len(traces) > 1
    columns = [name for name in COLUMNS if any(name in trace.columns for trace in traces)]
    lines = [f"{MARK} {VERSION}", *(_note(trace.way) for trace in traces if trace.way)]
    lines.append(",".join(["t_s", *(ENDS if several else ()), *columns]))
    for trace in traces:
        ends = trace.way.ends if several and trace.way else ()
        nothing = (None,) * len(trace)
        values = [trace.columns.get(name, nothing) for name in columns]
        lines += [
            ",".join(chain([number(at)], ends, ("" if each is None else number(each) for each in row)))
            for at, *row in zip(trace.times_s, *values, strict=True)
        ]
    return "\n".join([*lines, ""])


def number(value: float) -> str:
    """The shortest text that is read as exactly ``value``."""
    return repr(float(value)).removesuffix(".0")


def _note(way: Way) -> str:
    notes = [f"tool={way.tool}"] if way.tool else []
    notes += [f"period_s={number(way.period_s)}"] if way.period_s else []
    return " ".join(["# link", way.source, way.destination, *notes])
