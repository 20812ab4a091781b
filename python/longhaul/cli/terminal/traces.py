"""Traces and built-in traces on a terminal."""

from collections.abc import Sequence

from rich.table import Table

from longhaul.report.console import Console
from longhaul.scenario.traces import Trace
from longhaul.scenario.traces.builtin import sets_as_plain
from longhaul.scenario.traces.statistics import PERCENTILES, pauses, summaries

MOST_LINKS = 60


def print_traces(traces: Sequence[Trace]) -> None:
    """A table with a row for each column of each trace."""
    several = len(traces) > 1
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1 if several else 2, 0, 0))
    for name in (*(["link"] if several else []), "column"):
        table.add_column(name, no_wrap=True)
    # Of several links what is most telling, so that a row keeps to its line.
    shares = [f"p{share}" for share in PERCENTILES]
    chosen = ["mean", "sd", "p50", "p99", "max"] if several else ["mean", "sd", "min", *shares, "max"]
    for name in ("rows", "gaps", *chosen):
        table.add_column(name, justify="right", no_wrap=True)
    for trace in traces[:MOST_LINKS]:
        for each in summaries(trace):
            numbers = {"mean": each.mean, "sd": each.sd, "min": each.least, "max": each.most}
            numbers |= dict(zip(shares, each.percentiles, strict=True))
            cells = [each.column, str(each.count + each.gaps), str(each.gaps)]
            cells += [f"{numbers[name]:.4g}" for name in chosen]
            table.add_row(*([str(trace.way or "-")] if several else []), *cells)
    console = Console(highlight=False)
    console.print(_head(traces))
    console.print(table)
    if len(traces) > MOST_LINKS:
        console.print(f"... and {len(traces) - MOST_LINKS} more links (--json prints all)")


def _head(traces: Sequence[Trace]) -> str:
    first = traces[0]
    spans = sorted({round(trace.span_s(), 6) for trace in traces})
    periods = sorted({round(trace.period_s(), 6) for trace in traces})
    stops = sum(pauses(trace) for trace in traces)
    parts = [
        str(first.way)
        if len(traces) == 1 and first.way
        else f"{len(traces)} links"
        if len(traces) > 1
        else "",
        *({f"tool {trace.way.tool}" for trace in traces if trace.way and trace.way.tool}),
        f"span {_range(spans)} s" if spans != [0.0] else "one row: constant",
        f"period {_range(periods)} s" if any(periods) else "",
        f"{stops} pauses" if stops else "",
    ]
    return ", ".join(filter(None, parts))


def _range(values: Sequence[float]) -> str:
    least, most = f"{values[0]:.6g}", f"{values[-1]:.6g}"
    return least if least == most else f"{least} to {most}"


def print_sets() -> None:
    """The built-in sets: kinds, links, and how to use them."""
    console = Console(highlight=False)
    for each in sets_as_plain():
        console.print(f"{each['set']}: {', '.join(each['hosts'])}")
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        for kind in each["kinds"]:
            table.add_row(f"{each['set']}:{kind['kind']}", f"{len(kind['links'])} links", kind["what"])
        console.print(table)
    console.print("\nOne link: longcut:eventspace/benedict-vvgw. A link of a scenario follows it by")
    console.print("  measured: {set: longcut, kind: eventspace, from: benedict, to: vvgw}")
