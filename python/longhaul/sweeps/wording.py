"""Axes, estimates and results of a sweep as text, and as HTML for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from longhaul.analysis.estimates import runs_text
from longhaul.report.notebook import MOST_ROWS, Json, html_table, judged, paragraph, strong
from longhaul.units.text import count_text, quantity_text

MOST_METRICS = 3
NOT_MEASURED = "no run has a value of it"


def runs_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """How many independent runs a variant has, from the rows of its metrics."""
    counts = [(row.get("repeats", row["runs"]), row["runs"]) for row in rows]
    repeats, runs = max(counts)
    return runs_text(runs, repeats)


def verdicts_text(verdicts: Mapping[str, int]) -> str:
    """``5 runs faithful, 1 degraded``; those that are invalid are not part of the means."""
    first, *others = verdicts.items()
    counts = [
        f"{count_text(first[1], 'run')} {first[0]}",
        *(f"{count} {verdict}" for verdict, count in others),
    ]
    excluded = " (not part of the means)" if "invalid" in verdicts else ""
    return ", ".join(counts) + excluded


def unit_of_axis(column: str) -> str | None:
    """The unit that the name of an axis' column ends in."""
    units = {"_ns": "ns", "_bits_per_s": "bit/s", "_bytes": "bytes", "_share": "share"}
    return next((unit for ending, unit in units.items() if column.endswith(ending)), None)


def axis_text(column: str, value: Any) -> str:
    """A value of an axis, with the unit that its column's name ends in."""
    unit = unit_of_axis(column)
    return str(value) if isinstance(value, str) or unit is None else quantity_text(value, unit)


def estimate_text(row: Mapping[str, Any]) -> str:
    """``94.1 Mbit/s ±0.3%``; no interval for a single run, and where no run differs."""
    text = quantity_text(float(f"{row['mean']:.4g}"), row["unit"])
    if row["half_width"] is None or not row["mean"]:
        return text
    percent = row["half_width"] / abs(row["mean"]) * 100
    digits = 0 if percent >= 10 else 1 if percent >= 1 else 2
    return f"{text} ±{percent:.{digits}f}%"


def sweep_html(summary: Json, rows: Sequence[Json]) -> str:
    """Of a sweep: the first variants with their first metrics, and how many there are."""
    failed = summary.get("failed", 0)
    told = f"{summary.get('points', 0)} runs of {summary.get('variants', 0)} variants, {failed} failed"
    metrics = list(dict.fromkeys(row["metric"] for row in rows))[:3]
    columns = {axis["column"]: axis["name"] for axis in summary.get("axes", ())}
    by_variant: dict[int, dict[str, Json]] = {}
    for row in rows:
        by_variant.setdefault(row["variant"], {})[row["metric"]] = row
    lines = []
    for cells in list(by_variant.values())[:MOST_ROWS]:
        some = next(iter(cells.values()))
        values = [axis_text(column, some[column]) for column in columns]
        lines.append((*values, *(estimate_text(cells[each]) if each in cells else "-" for each in metrics)))
    more = len(by_variant) - len(lines)
    head = f"{strong(str(summary.get('name', 'sweep')))}: {judged(told, good=not failed)}"
    table = html_table((*columns.values(), *metrics), lines, words=len(columns))
    errors = [each["error"] for each in summary.get("errors", ())][:2]
    notes = [f"{more} variants more in summary.parquet"] if more > 0 else []
    return paragraph(head) + table + "".join(paragraph(escape(each)) for each in (*notes, *errors))
