"""Traces and built-in sets, for a terminal and for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.table import Table

from longhaul.errors import LonghaulError
from longhaul.report.console import Console
from longhaul.scenario.traces import Trace
from longhaul.scenario.traces.builtin import is_builtin, sets_as_plain
from longhaul.scenario.traces.files import read_sidecar, read_traces, sidecar_of
from longhaul.scenario.traces.statistics import PERCENTILES, pauses, summaries

MOST_LINKS = 60


def as_plain(trace: Trace) -> Mapping[str, Any]:
    """What a trace comes to, for JSON."""
    way = trace.way
    return {
        "from": way.source if way else None,
        "to": way.destination if way else None,
        "tool": way.tool if way else None,
        "rows": len(trace),
        "span_s": round(trace.span_s(), 9),
        "period_s": round(trace.period_s(), 9),
        "pauses": pauses(trace),
        "columns": [
            {
                **{key: value for key, value in asdict(each).items() if key != "percentiles"},
                **{f"p{share}": at for share, at in zip(PERCENTILES, each.percentiles, strict=True)},
            }
            for each in summaries(trace)
        ],
    }


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


def validation(names: Sequence[str], *, as_json: bool) -> tuple[str, int]:
    """What is wrong with the traces called ``names``, and the exit code: 0 if nothing is, else 2."""
    told: list[dict[str, Any]] = []
    for name in names:
        problem, warnings, rows = None, [], 0
        try:
            reading = read_traces(name)
            warnings = list(reading.warnings)
            rows = sum(len(trace) for trace in reading.traces)
            _check_sidecar(name)
        except LonghaulError as error:
            problem = str(error)
        told.append(
            {"trace": name, "good": problem is None, "problem": problem, "warnings": warnings, "rows": rows}
        )
    exit_code = 0 if all(each["good"] for each in told) else 2
    if as_json:
        return json.dumps(told, indent=1), exit_code
    lines = []
    for each in told:
        lines += [f"warning: {warning}" for warning in each["warnings"]]
        lines.append(each["problem"] or f"{each['trace']}: good ({each['rows']} rows)")
    return "\n".join(lines), exit_code


def _check_sidecar(name: str) -> None:
    """Refuse a trace whose bytes are not those of its sidecar."""
    if is_builtin(name):
        return
    path = Path(name)
    facts = read_sidecar(path)
    wanted = facts.get("sha256") if facts else None
    if wanted is not None and sha256(path.read_bytes()).hexdigest() != wanted:
        message = f"{path} is not what {sidecar_of(path)} is about: the SHA-256 differs"
        raise LonghaulError(message, remedy="restore it, or remove the sidecar", exit_code=2)
