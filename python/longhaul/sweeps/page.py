"""The report of a sweep: one self-contained HTML file."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from longhaul.report.page import page, write_page
from longhaul.report.pictures import Drawings
from longhaul.sweeps import figures as sweep_figures
from longhaul.sweeps import heat_maps
from longhaul.sweeps.wording import axis_text, estimate_text, runs_of

MOST_FIGURES = 8
MOST_DRAWN = 5000
"""Rows of the summary that are drawn or shown; the file has all."""
MOST_ROWS = 400
"""Variants in the table; the file has all."""


def write_sweep_report(directory: Path) -> Path:
    """Write ``report.html`` into the directory of a sweep that has a summary; returns its path."""
    path = directory / "report.html"
    write_page(path, page("sweep.html.j2", context=draw(directory)))
    return path


def draw(directory: Path, *, figures: bool = True) -> dict[str, Any]:
    """What the report of a sweep shows, with its figures unless they are not wanted."""
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    sweep = json.loads((directory / "sweep.json").read_text(encoding="utf-8"))
    table = directory / "summary.parquet"
    found = pq.read_table(table) if table.is_file() else None
    rows = found.slice(0, MOST_DRAWN).to_pylist() if found is not None else []
    measured = len(found["variant"].unique()) if found is not None else 0
    if found is not None and len(found) > len(rows):
        # The last of them may have rows that are not shown.
        rows = [row for row in rows if row["variant"] != rows[-1]["variant"]]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    columns = [axis["column"] for axis in summary["axes"]]
    names = [axis["name"] for axis in summary["axes"]]
    by_variant: dict[int, dict[str, str]] = {}
    values: dict[int, list[str]] = {}
    counted: dict[int, list[sweep_figures.Row]] = {}
    for row in rows:
        if len(by_variant) == MOST_ROWS and row["variant"] not in by_variant:
            continue
        by_variant.setdefault(row["variant"], {})[row["metric"]] = estimate_text(row)
        counted.setdefault(row["variant"], []).append(row)
        values[row["variant"]] = [axis_text(column, row[column]) for column in columns]
    return {
        "summary": summary,
        "sweep": sweep,
        "names": names,
        "metrics": metrics,
        "figures": [
            _figures(rows, metric, columns, names)
            for metric in metrics[:MOST_FIGURES]
            if figures and found is not None and len(found) <= MOST_DRAWN
        ],
        "rows": [
            (values[variant], cells, runs_of(counted[variant])) for variant, cells in by_variant.items()
        ],
        "left_out": measured - len(by_variant),
    }


def drawings(directory: Path) -> Drawings:
    """How to draw the figures of a sweep: each metric as lines, and, after its name, ``map``."""
    summary = json.loads((directory / "summary.json").read_text(encoding="utf-8"))
    table = directory / "summary.parquet"
    rows = pq.read_table(table).slice(0, MOST_DRAWN).to_pylist() if table.is_file() else []
    columns = [axis["column"] for axis in summary["axes"]]
    names = [axis["name"] for axis in summary["axes"]]
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    lines = {metric: partial(sweep_figures.metric_figure, rows, metric, columns, names) for metric in metrics}
    maps = {f"{metric} map": partial(heat_maps.heat_map, rows, metric, columns, names) for metric in metrics}
    return {**lines, **maps}


def _figures(
    rows: Sequence[sweep_figures.Row], metric: str, columns: Sequence[str], names: Sequence[str]
) -> tuple[str, str | None, str | None]:
    """The metric, its lines, and its map; a cloud of points is left to the map, if there is one."""
    drawn = heat_maps.heat_map(rows, metric, columns, names)
    lines = None
    if drawn is None or sweep_figures.has_lines(rows, metric, columns):
        lines = sweep_figures.metric_figure(rows, metric, columns, names)
    return metric, lines, drawn
