"""A sweep as a table on a terminal: every variant, with mean and confidence interval."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table

from longhaul.report.console import Console
from longhaul.sweeps.wording import (
    MOST_METRICS,
    NOT_MEASURED,
    axis_text,
    estimate_text,
    runs_of,
    verdicts_text,
)

MOST_ROWS = 60
"""Variants in the table; the file has all."""


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
    headings = [axis["name"] for axis in summary["axes"]] + [*shown, "runs"]
    widths = [_widest(each) for each in zip(headings, *lines, strict=True)]
    fits = sum(width + 2 for width in widths) <= console.width
    for number, metric in enumerate(shown, start=len(columns)):
        parts = metric.replace(".", ". ").split()
        width = _widest([*(line[number] for line in lines), *parts])
        name = metric if fits else "\n".join(parts)
        table.add_column(name, justify="right", min_width=width, overflow="fold")
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
    if summary["verdicts"]:
        console.print(f"fidelity: {verdicts_text(summary['verdicts'])}", highlight=False)
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
