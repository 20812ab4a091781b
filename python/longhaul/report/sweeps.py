"""A sweep as a table: every variant, with mean and confidence interval."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from longhaul.analysis.estimates import runs_text
from longhaul.analysis.text import quantity_text
from longhaul.report.console import Console

MOST_ROWS = 60
"""Variants in the table; the file has all."""
MOST_METRICS = 3
NOT_MEASURED = "no run has a value of it"


def print_sweep(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """What the axes did to the first metrics, and what failed."""
    console = Console()
    failed = f", {summary['failed']} failed" if summary["failed"] else ""
    counted = f"{summary['variants']} variants, {summary['points']} runs{failed}"
    console.print(f"{summary['name']}: {counted}", highlight=False)
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    shown = metrics[:MOST_METRICS]
    columns = [axis["column"] for axis in summary["axes"]]
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for axis in summary["axes"]:
        table.add_column(axis["name"], no_wrap=True, max_width=24)
    by_variant: dict[int, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        by_variant.setdefault(row["variant"], {})[row["metric"]] = row
    lines = []
    for estimates in list(by_variant.values())[:MOST_ROWS]:
        any_row = next(iter(estimates.values()))
        values = [axis_text(column, any_row[column]) for column in columns]
        cells = [estimate_text(estimates[metric]) if metric in estimates else "-" for metric in shown]
        lines.append((*values, *cells, runs_of(estimates.values())))
    # Values are never cut; in a narrow terminal, names of metrics and numbers of runs take several lines.
    for number, metric in enumerate(shown, start=len(columns)):
        table.add_column(
            metric, justify="right", min_width=_widest(line[number] for line in lines), overflow="fold"
        )
    words = (word for line in lines for word in line[-1].split())
    table.add_column("runs", justify="right", min_width=_widest(words))
    for line in lines:
        table.add_row(*line)
    if rows:
        console.print(table)
    notes = []
    if rows and summary["variants"] > MOST_ROWS:
        notes.append(f"{summary['variants'] - MOST_ROWS} variants more")
    if len(metrics) > len(shown):
        notes.append(f"{len(metrics) - len(shown)} metrics more")
    if notes:
        console.print(f"{' and '.join(notes)} in summary.parquet; choose with --metric", highlight=False)
    for pattern in summary["not_measured"]:
        console.print(f"{pattern}: {NOT_MEASURED}", style="yellow", highlight=False, soft_wrap=True)
    for error in summary["errors"]:
        console.print(
            f"variant {error['variant']}, repetition {error['repeat']}: {error['error']}",
            style="red",
            highlight=False,
            soft_wrap=True,
        )


def _widest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=1)


def runs_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many independent runs a variant has, from the rows of its metrics."""
    counts = [(row.get("repeats", row["runs"]), row["runs"]) for row in rows]
    repeats, runs = max(counts)
    return runs_text(runs, repeats)


def axis_text(column: str, value: Any) -> str:
    """A value of an axis, with the unit that its column's name ends in."""
    units = {"_ns": "ns", "_bits_per_s": "bit/s", "_bytes": "bytes", "_share": "share"}
    unit = next((unit for ending, unit in units.items() if column.endswith(ending)), None)
    return str(value) if isinstance(value, str) or unit is None else quantity_text(value, unit)


def estimate_text(row: Mapping[str, Any]) -> str:
    """``94.1 Mbit/s ±0.3%``; no interval for a single run, and where no run differs."""
    text = quantity_text(float(f"{row['mean']:.4g}"), row["unit"])
    if row["half_width"] is None or not row["mean"]:
        return text
    percent = row["half_width"] / abs(row["mean"]) * 100
    digits = 0 if percent >= 10 else 1 if percent >= 1 else 2
    return f"{text} ±{percent:.{digits}f}%"
